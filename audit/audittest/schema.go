package audittest

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// CheckJSON validates a JSON text against a JSON schema.
func CheckJSON(schema, text string) error {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("file:///s.json", doc); err != nil {
		return err
	}
	s, err := c.Compile("file:///s.json")
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(v)
}
