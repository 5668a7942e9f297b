// Package option takes structs whose fields carry `option` tags and returns their options by name: to list them, to set one from
// text, and to write them down as JSON. Policies and schedulers have such options. Start with option.go.
package option

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"straggler/spelling"
)

// Find finds the entry of a table by its name. What says what its entries are, for the error.
func Find[E any](what string, table []E, name string, of func(E) string) (E, error) {
	var names []string
	for _, e := range table {
		if of(e) == name {
			return e, nil
		}
		names = append(names, of(e))
	}
	var none E
	return none, fmt.Errorf("there is no %s %q; %s", what, name, spelling.Choices(name, names))
}

// Option describes one option. Options are the fields of a struct that carry an `option` tag. More tags give their unit, doc and
// domain: least and most, with the reason why; words, the only values; and log, what the value log, a NaN, takes from the log.
type Option struct {
	Name    string
	Unit    string
	Doc     string
	Words   []string // allowed values, where it takes words
	Default string
}

// Of lists the options of a struct, with its values as defaults; none of nil.
func Of(defaults any) []Option {
	v := reflect.ValueOf(defaults)
	if !v.IsValid() {
		return nil
	}
	var out []Option
	for _, f := range fields(v.Type()) {
		o := Option{Name: f.Tag.Get("option"), Unit: f.Tag.Get("unit"), Doc: f.Tag.Get("doc"), Default: text(v.FieldByIndex(f.Index))}
		if w := f.Tag.Get("words"); w != "" {
			o.Words = strings.Split(w, ",")
		}
		out = append(out, o)
	}
	return out
}

// fields returns the fields of a struct that are options, those of embedded structs among them.
func fields(t reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return f.Tag.Get("option") == "" })
}

// text formats a value as options are written.
func text(v reflect.Value) string {
	if v.Kind() == reflect.Float64 && math.IsNaN(v.Float()) {
		return "log"
	}
	return fmt.Sprint(v.Interface())
}

// With is a copy of a struct with one option changed, or the struct as it was where there is an error. Errors begin with what
// has the options: policy late.
func With(what string, options any, name, value string) (any, error) {
	if options == nil {
		return nil, fmt.Errorf("%s has no options", what)
	}
	changed := reflect.New(reflect.TypeOf(options))
	changed.Elem().Set(reflect.ValueOf(options))
	if err := set(what, changed.Elem(), name, value); err != nil {
		return options, err
	}
	return changed.Elem().Interface(), nil
}

func set(what string, v reflect.Value, name, value string) error {
	var names []string
	for _, f := range fields(v.Type()) {
		if f.Tag.Get("option") != name {
			names = append(names, f.Tag.Get("option"))
			continue
		}
		if err := parse(v.FieldByIndex(f.Index), value, f.Tag); err != nil {
			return fmt.Errorf("%s: option %s: %w", what, name, err)
		}
		return nil
	}
	if len(names) == 0 {
		return fmt.Errorf("%s has no option %q: it has none", what, name)
	}
	return fmt.Errorf("%s has no option %q; %s", what, name, spelling.Choices(name, names))
}

func parse(f reflect.Value, value string, tag reflect.StructTag) error {
	switch f.Kind() {
	case reflect.Float64:
		x, err := strconv.ParseFloat(value, 64)
		if value == "log" && tag.Get("log") != "" {
			x, err = math.NaN(), nil
		} else if err != nil || !within(x, tag) {
			return fmt.Errorf("%q is not %s", value, domain("a number", tag))
		}
		f.SetFloat(x)
	case reflect.Int:
		n, err := strconv.Atoi(value)
		if err != nil || !within(float64(n), tag) {
			return fmt.Errorf("%q is not %s", value, domain("a whole number", tag))
		}
		f.SetInt(int64(n))
	case reflect.Bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", value)
		}
		f.SetBool(b)
	case reflect.String:
		words := strings.Split(tag.Get("words"), ",")
		if !slices.Contains(words, value) {
			return fmt.Errorf("there is no %q; %s", value, spelling.Choices(value, words))
		}
		f.SetString(value)
	}
	return nil
}

// within reports whether a number is one of the tag words of its option or, without these, lies in its domain: from the tag least,
// such as the microsecond that instants resolve, or 0, up to the tag most, such as the 1 of a probability, or any finite number.
func within(x float64, tag reflect.StructTag) bool {
	if words := tag.Get("words"); words != "" {
		return slices.Contains(strings.Split(words, ","), strconv.FormatFloat(x, 'g', -1, 64))
	}
	least, most := 0.0, math.MaxFloat64
	if v, err := strconv.ParseFloat(tag.Get("least"), 64); err == nil {
		least = v
	}
	if v, err := strconv.ParseFloat(tag.Get("most"), 64); err == nil {
		most = v
	}
	return x >= least && x <= most
}

// domain describes the values that a numeric option takes, with its unit and the reason for its limits, where it has these.
func domain(number string, tag reflect.StructTag) string {
	text := number + " from " + cmp.Or(tag.Get("least"), "0")
	if most := tag.Get("most"); most != "" {
		text += " to " + most
	} else {
		text += " up"
	}
	if unit := tag.Get("unit"); unit != "" {
		text += ", in " + unit
	}
	if words := tag.Get("words"); words != "" {
		text = strings.ReplaceAll(words, ",", " or ")
	}
	if log := tag.Get("log"); log != "" {
		text += ", or log (" + log + ")"
	}
	if why := tag.Get("why"); why != "" {
		text += ": " + why
	}
	return text
}

// Lacks is what a log lacks for options to be honoured; nil where it lacks nothing, or they ask for nothing.
func Lacks[Log any](options any, log Log) error {
	if o, ok := options.(interface{ Lacks(Log) error }); ok {
		return o.Lacks(log)
	}
	return nil
}

// JSON writes options as a JSON object in the order of the struct.
func JSON(options any) string {
	v := reflect.ValueOf(options)
	if !v.IsValid() {
		return "{}"
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, f := range fields(v.Type()) {
		if i > 0 {
			b.WriteByte(',')
		}
		value := any(v.FieldByIndex(f.Index).Interface())
		if x, ok := value.(float64); ok && math.IsNaN(x) {
			value = "log"
		}
		data, err := json.Marshal(value)
		if err != nil { // numbers, words and truth values only
			panic(err)
		}
		fmt.Fprintf(&b, "%q:%s", f.Tag.Get("option"), data)
	}
	b.WriteByte('}')
	return b.String()
}
