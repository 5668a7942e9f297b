package strictyaml

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"straggler/spelling"
)

// Checker is a string type that checks its own values.
type Checker interface{ Check() error }

// Decoder is a type that decodes itself.
type Decoder interface{ DecodeNode(*Node) error }

// Decode decodes a file into a struct; values that the file does not have stay unchanged. Fields are tagged `yaml:"name"`;
// numbers may have bounds, `min:"…" max:"…"`, and strings that must not be empty are `required:"true"`. A field may be a
// struct, a list, an array, a pointer, a string, a bool, an int or a float, or a Decoder; any other kind is an error whatever
// the file contains. Errors begin with name:line:column.
func Decode(name string, data []byte, into any) error {
	v := reflect.ValueOf(into).Elem()
	if err := supported(v.Type(), nil); err != nil {
		return err
	}
	n, err := parse(data)
	if n != nil && err == nil {
		err = decode(n, v, "")
	}
	var at *positionError
	switch {
	case errors.As(err, &at):
		return fmt.Errorf("%s:%w", name, at)
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// supported reports a field of an unsupported kind anywhere in the type.
func supported(t reflect.Type, above []reflect.Type) error {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[Decoder]()) || slices.Contains(above, t) {
		return nil
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Float32, reflect.Float64:
		return nil
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return supported(t.Elem(), append(above, t))
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Tag.Get("yaml") == "" || !f.IsExported() {
				return fmt.Errorf("strictyaml: field %s of %v has no name or is not exported", f.Name, t)
			}
			if err := supported(f.Type, append(above, t)); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("strictyaml: values of type %v are not read", t)
}

// Decode decodes the node into what the pointer points to, as the function does.
func (n *Node) Decode(into any) error { return decode(n, reflect.ValueOf(into).Elem(), "") }

// decode decodes a node into a value. The tag of its field has the bounds of numbers.
func decode(n *Node, v reflect.Value, tag reflect.StructTag) error {
	if d, ok := v.Addr().Interface().(Decoder); ok {
		return d.DecodeNode(n)
	}
	switch v.Kind() {
	case reflect.Struct:
		return decodeStruct(n, v)
	case reflect.Slice, reflect.Array:
		return decodeList(n, v, tag)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decode(n, v.Elem(), tag)
	}
	if n.Kind != Scalar {
		return n.Errorf("here is one value and not a %s", n.Kind)
	}
	return decodeScalar(n, v, tag)
}

func decodeStruct(n *Node, v reflect.Value) error {
	if n.Kind != Mapping {
		return n.Errorf("expected names with values, such as 'name: value'")
	}
	seen := map[string]bool{}
	for _, f := range n.Fields {
		name := f.Name.Text
		field, ok := fieldOf(v.Type(), name)
		switch {
		case !ok:
			return f.Name.Errorf("there is no %q here; %s", name, spelling.Choices(name, Names(v.Type())))
		case seen[name]:
			return f.Name.Errorf("%q is given twice", name)
		}
		seen[name] = true
		if err := decode(f.Value, v.FieldByIndex(field.Index), field.Tag); err != nil {
			return err
		}
	}
	for f := range v.Type().Fields() {
		if f.Tag.Get("required") != "" && strings.TrimSpace(v.FieldByIndex(f.Index).String()) == "" {
			return n.Errorf("%s is missing", f.Tag.Get("yaml"))
		}
	}
	return nil
}

func decodeList(n *Node, v reflect.Value, tag reflect.StructTag) error {
	if n.Kind != List {
		return n.Errorf("here is a list, each entry after a dash")
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
	} else if len(n.Items) != v.Len() {
		return n.Errorf("here are %d values, not %d", v.Len(), len(n.Items))
	}
	for i, item := range n.Items {
		if err := decode(item, v.Index(i), tag); err != nil {
			return err
		}
	}
	return nil
}

func decodeScalar(n *Node, v reflect.Value, tag reflect.StructTag) error {
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Text)
		if c, ok := v.Interface().(Checker); ok {
			if err := c.Check(); err != nil {
				return n.Errorf("%s", err)
			}
		}
	case reflect.Bool:
		b, err := strconv.ParseBool(n.Text)
		if err != nil {
			return n.Errorf("%q is not true or false", n.Text)
		}
		v.SetBool(b)
	default:
		x, err := n.number(v.Kind() == reflect.Int)
		if err != nil {
			return err
		}
		low, high := bound(tag, "min", math.Inf(-1)), bound(tag, "max", math.Inf(1))
		if x < low || x > high {
			return n.Errorf("%s is not between %g and %g", n.Text, low, high)
		}
		if v.Kind() == reflect.Int {
			v.SetInt(int64(x))
		} else {
			v.SetFloat(x)
		}
	}
	return nil
}

func bound(tag reflect.StructTag, name string, none float64) float64 {
	if x, err := parseFloat(tag.Get(name)); err == nil {
		return x
	}
	return none
}

func parseFloat(text string) (float64, error) { return strconv.ParseFloat(text, 64) }

func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for f := range t.Fields() {
		if f.Tag.Get("yaml") == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// Names returns the names that a struct type accepts, in order.
func Names(t reflect.Type) []string {
	var out []string
	for f := range t.Fields() {
		out = append(out, f.Tag.Get("yaml"))
	}
	return out
}
