package parquet

import (
	"encoding/json"
	"math"
	"strconv"
)

// Kind is the kind of a value.
type Kind uint8

const (
	Null Kind = iota
	Bool
	Int
	Uint
	Float32
	Float
	Text
	Time // microseconds since 1970, UTC
	List
	Struct
)

// Value is the content of a cell.
type Value struct {
	Kind   Kind
	bits   uint64
	text   string
	nested *nested // of a list or a structure
}

// nested are the values of a list, or of a structure's fields.
type nested struct {
	items []Value
	names []string // of a structure's fields
}

// Int returns an integer, or the microseconds of a time.
func (v Value) Int() int64 { return int64(v.bits) }

// Items returns the values of a list, or of a structure's fields.
func (v Value) Items() []Value {
	if v.nested == nil {
		return nil
	}
	return v.nested.items
}

// Fields returns the names of a structure's fields.
func (v Value) Fields() []string {
	if v.nested == nil {
		return nil
	}
	return v.nested.names
}

// Number returns the value of a number, or of a text that is one, else NaN.
func (v Value) Number() float64 {
	switch v.Kind {
	case Int:
		return float64(int64(v.bits))
	case Uint:
		return float64(v.bits)
	case Float32, Float:
		return math.Float64frombits(v.bits)
	case Text:
		if f, err := strconv.ParseFloat(v.text, 64); err == nil {
			return f
		}
	}
	return math.NaN()
}

// String returns the value as text, "" for NULL; a list or a structure is JSON.
func (v Value) String() string {
	switch v.Kind {
	case Bool:
		return strconv.FormatBool(v.bits != 0)
	case Int, Time:
		return strconv.FormatInt(int64(v.bits), 10)
	case Uint:
		return strconv.FormatUint(v.bits, 10)
	case Float32:
		return strconv.FormatFloat(math.Float64frombits(v.bits), 'g', -1, 32)
	case Float:
		return strconv.FormatFloat(math.Float64frombits(v.bits), 'g', -1, 64)
	case Text:
		return v.text
	case List, Struct:
		return string(v.appendJSON(nil))
	}
	return ""
}

func (v Value) appendJSON(b []byte) []byte {
	switch v.Kind {
	case Null:
		return append(b, "null"...)
	case Text:
		return append(b, quoted(v.text)...)
	case Float32, Float:
		if f := math.Float64frombits(v.bits); math.IsNaN(f) || math.IsInf(f, 0) {
			return append(b, quoted(v.String())...)
		}
	case List:
		b = append(b, '[')
		for i, item := range v.Items() {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendJSON(b)
		}
		return append(b, ']')
	case Struct:
		b = append(b, '{')
		for i, item := range v.Items() {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, quoted(v.nested.names[i])...), ':')
			b = item.appendJSON(b)
		}
		return append(b, '}')
	}
	return append(b, v.String()...)
}

func quoted(text string) []byte {
	b, _ := json.Marshal(text) // a string never fails
	return b
}
