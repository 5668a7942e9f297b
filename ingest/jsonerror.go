package ingest

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// JSONError says what is wrong with a value in the words of the log, and not by the types of the program.
func JSONError(err error) error {
	var wrong *json.SemanticError
	if IsCut(err) || !errors.As(err, &wrong) {
		return err
	}
	if what := jsonKinds[wrong.JSONKind]; what != "" {
		return fmt.Errorf("%s can not stand at %s", what, Sample(string(wrong.JSONPointer)))
	}
	return fmt.Errorf("the value at %s can not be used", Sample(string(wrong.JSONPointer)))
}

var jsonKinds = map[jsontext.Kind]string{
	'{': "an object", '[': "a list", '"': "a text", '0': "a number", 't': "true", 'f': "false", 'n': "null",
}
