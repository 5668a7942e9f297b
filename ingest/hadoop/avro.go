package hadoop

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// An Avro-Binary history is a sequence of datums, encoded with the schema in its second line. Each is converted to the JSON of
// an Avro-JSON history.

var (
	errAvroSchema = errors.New("unusable avro schema")
	errAvroDatum  = errors.New("datum does not fit the schema")
	errAvroDepth  = fmt.Errorf("%w: deeper than %d levels", errAvroDatum, maxAvroDepth)
)

const (
	maxAvroDepth = 64
	maxAvroNodes = 10_000
	maxAvroFixed = 16 << 20
)

// avroType is a node of a writer schema.
type avroType struct {
	kind    string // null, boolean, int, long, float, double, bytes, string, record, enum, fixed, array, map or union
	name    string // full name of a record, enum or fixed
	symbols []string
	fields  []avroField
	items   *avroType // of an array or map
	union   []*avroType
	size    int // of a fixed
}

type avroField struct {
	name string
	typ  *avroType
}

// avroDecoder converts datums to JSON. It must not be used concurrently.
type avroDecoder struct {
	schema *avroType

	b    []byte // the datum and the bytes after it
	i    int
	text []byte
}

// json returns the datum at the start of b as JSON, valid until the next call, and its length. io.ErrUnexpectedEOF means that b
// ends within it.
func (d *avroDecoder) json(b []byte) (text []byte, n int, err error) {
	if d.schema.kind != "record" {
		return nil, 0, fmt.Errorf("%w: the schema is not that of a record", errAvroSchema)
	}
	d.b, d.i, d.text = b, 0, d.text[:0]
	if len(b) == 0 {
		return nil, 0, io.ErrUnexpectedEOF
	}
	if err := d.value(d.schema, 0); err != nil {
		return nil, 0, err
	}
	if d.i == 0 {
		return nil, 0, fmt.Errorf("%w: it has no bytes", errAvroDatum)
	}
	return d.text, d.i, nil
}

// value appends a value to the text. Every value adds some text, so the bound on the text also bounds the work for values of no
// bytes, since a schema may nest empty records.
func (d *avroDecoder) value(t *avroType, depth int) error {
	if depth > maxAvroDepth {
		return errAvroDepth
	}
	if len(d.text) > maxRecord {
		return fmt.Errorf("%w: more than %d bytes as JSON", errAvroDatum, maxRecord)
	}
	switch t.kind {
	case "int", "long":
		n, err := d.long()
		d.text = strconv.AppendInt(d.text, n, 10)
		return err
	case "string":
		s, err := d.bytes()
		d.quote(string(s))
		return err
	case "enum":
		n, err := d.index("symbol", len(t.symbols))
		if err == nil {
			d.quote(t.symbols[n])
		}
		return err
	case "record":
		return d.record(t, depth)
	case "union":
		n, err := d.index("branch", len(t.union))
		if err != nil {
			return err
		}
		return d.branch(t.union[n], depth+1)
	case "array", "map":
		return d.list(t, depth)
	}
	d.text = append(d.text, "null"...) // no event uses what follows
	switch t.kind {
	case "boolean":
		return d.skip(1)
	case "float":
		return d.skip(4)
	case "double":
		return d.skip(8)
	case "fixed":
		return d.skip(t.size)
	case "bytes":
		_, err := d.bytes()
		return err
	}
	return nil
}

func (d *avroDecoder) record(t *avroType, depth int) error {
	d.text = append(d.text, '{')
	for i, f := range t.fields {
		if i > 0 {
			d.text = append(d.text, ',')
		}
		d.key(f.name)
		if err := d.value(f.typ, depth+1); err != nil {
			return err
		}
	}
	d.text = append(d.text, '}')
	return nil
}

// branch appends the value of a union. Avro-JSON names records.
func (d *avroDecoder) branch(t *avroType, depth int) error {
	if t.kind != "record" {
		return d.value(t, depth)
	}
	d.text = append(d.text, '{')
	d.key(t.name)
	err := d.value(t, depth)
	d.text = append(d.text, '}')
	return err
}

// list appends an array or a map, whose entries come in counted blocks; a negative count is followed by the block's size
// in bytes. The entries of a map are read without their keys.
func (d *avroDecoder) list(t *avroType, depth int) error {
	d.text = append(d.text, '[')
	for {
		n, err := d.long()
		if n < 0 && err == nil {
			n = -n
			_, err = d.long()
		}
		switch {
		case err != nil:
			return err
		case n < 0:
			return fmt.Errorf("%w: a block of a negative count", errAvroDatum)
		case n == 0:
			d.text = append(d.text, ']')
			return nil
		}
		for range n {
			if d.text[len(d.text)-1] != '[' {
				d.text = append(d.text, ',')
			}
			if t.kind == "map" {
				if _, err := d.bytes(); err != nil {
					return err
				}
			}
			if err := d.value(t.items, depth+1); err != nil {
				return err
			}
		}
	}
}

func (d *avroDecoder) key(name string) {
	d.quote(name)
	d.text = append(d.text, ':')
}

func (d *avroDecoder) quote(s string) {
	d.text = append(d.text, '"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			d.text = append(d.text, '\\')
		}
		d.text = append(d.text, s[i])
	}
	d.text = append(d.text, '"')
}

// index reads the position of a symbol or branch, below n.
func (d *avroDecoder) index(what string, n int) (int64, error) {
	i, err := d.long()
	if err == nil && (i < 0 || i >= int64(n)) {
		err = fmt.Errorf("%w: %s %d of %d", errAvroDatum, what, i, n)
	}
	return i, err
}

// long reads a zig-zag variable-length integer.
func (d *avroDecoder) long() (int64, error) {
	v, n := binary.Varint(d.b[d.i:])
	switch {
	case n == 0:
		return 0, io.ErrUnexpectedEOF
	case n < 0:
		return 0, fmt.Errorf("%w: an integer of more than 64 bits", errAvroDatum)
	}
	d.i += n
	return v, nil
}

// bytes reads bytes or a string.
func (d *avroDecoder) bytes() ([]byte, error) {
	n, err := d.long()
	if err != nil {
		return nil, err
	}
	if n < 0 || n > maxRecord {
		return nil, fmt.Errorf("%w: a string of %d bytes; a datum may have %d", errAvroDatum, n, maxRecord)
	}
	at := d.i
	err = d.skip(int(n))
	return d.b[at:d.i], err
}

func (d *avroDecoder) skip(n int) error {
	if n > len(d.b)-d.i {
		d.i = len(d.b)
		return io.ErrUnexpectedEOF
	}
	d.i += n
	return nil
}

// parseAvro reads a writer schema.
func parseAvro(text []byte) (*avroType, error) {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, fmt.Errorf("%w: %w", errAvroSchema, err)
	}
	p := avroParser{named: map[string]*avroType{}}
	return p.parse(v, "", 0)
}

type avroParser struct {
	named map[string]*avroType
	nodes int
}

func (p *avroParser) parse(v any, space string, depth int) (*avroType, error) {
	if p.nodes++; depth > maxAvroDepth || p.nodes > maxAvroNodes {
		return nil, fmt.Errorf("%w: deeper than %d levels or larger than %d types", errAvroSchema, maxAvroDepth, maxAvroNodes)
	}
	switch v := v.(type) {
	case string:
		return p.reference(v, space)
	case []any:
		u := &avroType{kind: "union"}
		for _, b := range v {
			t, err := p.parse(b, space, depth+1)
			if err != nil {
				return nil, err
			}
			u.union = append(u.union, t)
		}
		return u, nil
	case map[string]any:
		if word, ok := v["type"].(string); ok {
			return p.complex(word, v, space, depth)
		}
		return p.parse(v["type"], space, depth+1)
	}
	return nil, fmt.Errorf("%w: a type is a string, a list or an object", errAvroSchema)
}

func (p *avroParser) reference(name, space string) (*avroType, error) {
	switch name {
	case "null", "boolean", "int", "long", "float", "double", "bytes", "string":
		return &avroType{kind: name}, nil
	}
	if t := p.named[fullName(name, space)]; t != nil {
		return t, nil
	}
	if t := p.named[name]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%w: type %.100q is not declared", errAvroSchema, name)
}

func (p *avroParser) complex(kind string, m map[string]any, space string, depth int) (t *avroType, err error) {
	switch kind {
	case "array":
		t = &avroType{kind: kind}
		t.items, err = p.parse(m["items"], space, depth+1)
		return t, err
	case "map":
		t = &avroType{kind: kind}
		t.items, err = p.parse(m["values"], space, depth+1)
		return t, err
	case "record", "error", "enum", "fixed":
	default:
		return p.reference(kind, space)
	}
	name, _ := m["name"].(string)
	if s, ok := m["namespace"].(string); ok {
		space = s
	}
	t = &avroType{kind: kind, name: fullName(name, space)}
	p.named[t.name] = t
	switch kind {
	case "enum":
		list, _ := m["symbols"].([]any)
		for _, s := range list {
			word, _ := s.(string)
			t.symbols = append(t.symbols, word)
		}
	case "fixed":
		size, _ := m["size"].(float64)
		if size < 0 || size > maxAvroFixed {
			return nil, fmt.Errorf("%w: fixed %s of %v bytes", errAvroSchema, t.name, size)
		}
		t.size = int(size)
	default:
		t.kind = "record"
		err = p.fields(t, m, space, depth)
	}
	return t, err
}

func (p *avroParser) fields(t *avroType, m map[string]any, space string, depth int) error {
	list, _ := m["fields"].([]any)
	for _, f := range list {
		fm, _ := f.(map[string]any)
		name, _ := fm["name"].(string)
		ft, err := p.parse(fm["type"], space, depth+1)
		if err != nil {
			return fmt.Errorf("field %s.%s: %w", t.name, name, err)
		}
		t.fields = append(t.fields, avroField{name, ft})
	}
	return nil
}

// fullName returns a name with its namespace.
func fullName(name, space string) string {
	if space == "" || strings.Contains(name, ".") {
		return name
	}
	return space + "." + name
}
