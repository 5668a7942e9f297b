// Package json takes a document, or any struct whose fields have `col` tags, and writes it as a JSON object.
//
// Start with Write.
package json

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"straggler/report/prose"
	"straggler/schema"
)

// Write writes a document, which is a pointer to a struct, as one object. Fields are named as the columns they come from
// (their `col` tags); NULL is null, instants are RFC 3339 in UTC. Keys, whose names end in _id, are decimal numbers in strings:
// they have up to 63 bits, and readers that take numbers for doubles, such as JavaScript and jq, would round them.
func Write(w io.Writer, document any) error {
	b := bufio.NewWriter(w)
	e := writer{Writer: b}
	e.value(reflect.ValueOf(document).Elem(), "\n")
	b.WriteByte('\n')
	return b.Flush()
}

// Line writes the fields of structs, to which the parts point, as one object on one line.
func Line(w io.Writer, parts ...any) error {
	b := bufio.NewWriter(w)
	e := writer{Writer: b, line: true}
	b.WriteByte('{')
	sep := ""
	for _, p := range parts {
		sep = e.fields(reflect.ValueOf(p).Elem(), "", sep)
	}
	b.WriteString("}\n")
	return b.Flush()
}

// writer writes values; errors stick to the buffer.
type writer struct {
	*bufio.Writer
	line   bool // all on one line
	quoted bool // integers are strings
}

// next begins a line.
func (e writer) next(indent string) {
	if !e.line {
		e.WriteString(indent)
	}
}

func (e writer) value(v reflect.Value, indent string) {
	switch v.Kind() {
	case reflect.Struct:
		if inner, known, isNull := nullOf(v); isNull {
			if !known {
				e.WriteString("null")
				return
			}
			v = inner
			e.value(v, indent)
			return
		}
		e.object(v, indent)
	case reflect.Slice:
		e.array(v, indent)
	case reflect.Pointer:
		if v.IsNil() {
			e.WriteString("null")
			return
		}
		e.value(v.Elem(), indent)
	case reflect.String:
		e.text(v.String())
	case reflect.Bool:
		e.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Float64:
		e.float(v.Float())
	case reflect.Int, reflect.Int32, reflect.Int64:
		if t, ok := v.Interface().(schema.Time); ok {
			e.text(time.UnixMicro(int64(t)).UTC().Format("2006-01-02T15:04:05.999999Z07:00"))
			return
		}
		digits := strconv.FormatInt(v.Int(), 10)
		if e.quoted {
			digits = `"` + digits + `"`
		}
		e.WriteString(digits)
	}
}

func (e writer) object(v reflect.Value, indent string) {
	e.WriteByte('{')
	e.fields(v, indent, "")
	e.next(indent)
	e.WriteByte('}')
}

// fields writes the fields of a struct, those of embedded structs inline.
func (e writer) fields(v reflect.Value, indent, sep string) string {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		col := f.Tag.Get("col")
		switch {
		case f.Anonymous:
			sep = e.fields(v.Field(i), indent, sep)
			continue
		case col == "":
			continue
		}
		e.WriteString(sep)
		e.next(indent + "  ")
		e.text(col)
		e.WriteString(": ")
		value := e
		value.quoted = strings.HasSuffix(col, "_id")
		value.value(v.Field(i), indent+"  ")
		sep = ","
	}
	return sep
}

func (e writer) array(v reflect.Value, indent string) {
	if v.Len() == 0 {
		e.WriteString("[]")
		return
	}
	e.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			e.WriteByte(',')
		}
		e.next(indent + "  ")
		e.value(v.Index(i), indent+"  ")
	}
	e.next(indent)
	e.WriteByte(']')
}

func (e writer) float(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		e.WriteString("null")
		return
	}
	b, _ := json.Marshal(f)
	e.Write(b)
}

// text writes a string; runes that a terminal would not show, or would obey, are written as \u escapes.
func (e writer) text(s string) {
	b, _ := json.Marshal(s) // also escapes <, > and &, and mends invalid UTF-8
	e.WriteString(prose.VisibleJSON(string(b)))
}

// nullOf opens a schema.Null.
func nullOf(v reflect.Value) (inner reflect.Value, known, isNull bool) {
	if v.NumField() != 2 || v.Type().Field(0).Name != "V" || v.Type().Field(1).Name != "OK" {
		return v, false, false
	}
	return v.Field(0), v.Field(1).Bool(), true
}
