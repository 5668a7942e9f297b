// Package strictyaml takes a YAML file that a person wrote and gives a struct, or says what is wrong with it and where:
// names that do not exist or stand twice, numbers out of bounds, words that are none of the allowed.
//
// Fields carry `yaml:"name"`, numbers `min:"…" max:"…"`, strings that must be there `required:"true"`. A type with a
// method Check decides about its own values. Aliases are not read, so that a small file stays a small value.
//
// Start with Decode.
package strictyaml

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Checker is a value that says itself whether it makes sense.
type Checker interface{ Check() error }

// Decode puts a file into a struct that holds what is true without it. Errors begin with name:line:column.
func Decode(name string, data []byte, into any) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(doc.Content) == 0 { // empty, or nothing but comments
		return nil
	}
	if err := decode(doc.Content[0], reflect.ValueOf(into).Elem(), nil); err != nil {
		var at *placed
		if errors.As(err, &at) {
			return fmt.Errorf("%s:%d:%d: %s", name, at.line, at.column, at.what)
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// placed is what is wrong at a place of a file.
type placed struct {
	line, column int
	what         string
}

func (p *placed) Error() string { return p.what }

func at(n *yaml.Node, format string, args ...any) error {
	return &placed{n.Line, n.Column, fmt.Sprintf(format, args...)}
}

// decode puts a node into a value. The field has the bounds of a number.
func decode(n *yaml.Node, v reflect.Value, field *reflect.StructField) error {
	if n.Kind == yaml.AliasNode {
		return at(n, "aliases are not read here; write it out")
	}
	switch v.Kind() {
	case reflect.Struct:
		return decodeStruct(n, v)
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			return at(n, "here is a list, each entry after a dash")
		}
		for _, e := range n.Content {
			x := reflect.New(v.Type().Elem()).Elem()
			if err := decode(e, x, field); err != nil {
				return err
			}
			v.Set(reflect.Append(v, x))
		}
		return nil
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decode(n, v.Elem(), field)
	}
	if n.Kind != yaml.ScalarNode {
		return at(n, "here is one value and not a %s", map[yaml.Kind]string{yaml.MappingNode: "mapping", yaml.SequenceNode: "list"}[n.Kind])
	}
	return decodeScalar(n, v, field)
}

func decodeScalar(n *yaml.Node, v reflect.Value, field *reflect.StructField) error {
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Value)
		if c, ok := v.Interface().(Checker); ok {
			if err := c.Check(); err != nil {
				return at(n, "%s", err)
			}
		}
	case reflect.Bool:
		b, err := strconv.ParseBool(n.Value)
		if err != nil {
			return at(n, "%q is not true or false", n.Value)
		}
		v.SetBool(b)
	case reflect.Int, reflect.Float64:
		x, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || v.Kind() == reflect.Int && x != float64(int64(x)) {
			return at(n, "%q is no number that fits here", n.Value)
		}
		low, _ := strconv.ParseFloat(field.Tag.Get("min"), 64)
		high, _ := strconv.ParseFloat(field.Tag.Get("max"), 64)
		if !(x >= low && x <= high) {
			return at(n, "%s is not between %g and %g", n.Value, low, high)
		}
		if v.Kind() == reflect.Int {
			v.SetInt(int64(x))
		} else {
			v.SetFloat(x)
		}
	}
	return nil
}

func decodeStruct(n *yaml.Node, v reflect.Value) error {
	if n.Kind != yaml.MappingNode {
		return at(n, "here are names with values, as in 'name: value'")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		field, ok := fieldOf(v.Type(), key.Value)
		switch {
		case !ok:
			return at(key, "there is no %q here; there is %s", key.Value, strings.Join(Names(v.Type()), ", "))
		case seen[key.Value]:
			return at(key, "%q stands here twice", key.Value)
		}
		seen[key.Value] = true
		if err := decode(n.Content[i+1], v.FieldByIndex(field.Index), &field); err != nil {
			return err
		}
	}
	for f := range v.Type().Fields() {
		if f.Tag.Get("required") != "" && strings.TrimSpace(v.FieldByIndex(f.Index).String()) == "" {
			return at(n, "%s is missing", f.Tag.Get("yaml"))
		}
	}
	return nil
}

func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for f := range t.Fields() {
		if f.Tag.Get("yaml") == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// Names are the names that a struct type takes, in order.
func Names(t reflect.Type) []string {
	var out []string
	for f := range t.Fields() {
		out = append(out, f.Tag.Get("yaml"))
	}
	return out
}
