package audit

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"

	"straggler/audit/audittest"
)

// The schema for editors and the reader of straggler.yaml agree on names and on what is valid.
func TestConfigSchemaAgrees(t *testing.T) {
	var s struct {
		Properties map[string]struct {
			Items struct{ Properties map[string]any }
		}
		Defs map[string]struct{ Enum []string } `json:"$defs"`
	}
	if err := json.Unmarshal(ConfigSchema(), &s); err != nil {
		t.Fatal(err)
	}
	rules := []string{"*"}
	for _, r := range Rules() {
		rules = append(rules, r.Name)
	}
	if !slices.Equal(s.Defs["rule"].Enum, rules) {
		t.Errorf("straggler.schema.json lists the rules %v, rules.go has %v", s.Defs["rule"].Enum, rules)
	}
	keys := map[string][]string{"": {}, "rules": {}, "suppress": {}}
	for name, p := range s.Properties {
		keys[""] = append(keys[""], name)
		for sub := range p.Items.Properties {
			keys[name] = append(keys[name], sub)
		}
	}
	for name, want := range map[string][]string{"": configNames[Config](), "rules": configNames[RuleChange](), "suppress": configNames[Suppression]()} {
		slices.Sort(want)
		slices.Sort(keys[name])
		if !slices.Equal(keys[name], want) {
			t.Errorf("%q: schema has %v, the reader %v", name, keys[name], want)
		}
	}
	for _, c := range configCases {
		var v any
		if err := yaml.Unmarshal([]byte(c.text), &v); err != nil {
			continue
		}
		if v == nil {
			v = map[string]any{}
		}
		data, err := json.Marshal(v)
		if err != nil {
			continue // not expressible in JSON
		}
		_, readErr := parseConfig("f", []byte(c.text))
		schemaErr := audittest.CheckJSON(string(ConfigSchema()), string(data))
		if (readErr == nil) != (schemaErr == nil) && !c.readerOnly {
			t.Errorf("%q: the reader says %v, the schema %v", c.text, readErr, schemaErr)
		}
	}
}

func FuzzConfig(f *testing.F) {
	for _, c := range configCases {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig("f", []byte(text))
		if err == nil && (c.MinRuns < 2 || c.FDR > 0.5 || c.FDR < 0) {
			t.Errorf("%q: %+v", text, c)
		}
	})
}
