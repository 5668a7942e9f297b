package hadoop

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// An Avro-Binary history holds bare datums, one after the other, written with the schema of its second line. A datum
// is turned into the Avro-JSON that the same event would have been written as, so that one reader serves both.

var (
	errAvroSchema = errors.New("unusable avro schema")
	errAvroDatum  = errors.New("datum does not fit the schema")
)

const (
	maxAvroDepth  = 64
	maxAvroString = 16 << 20
	maxAvroItems  = 16 << 20
	maxAvroNodes  = 10_000
)

// avroType is a node of a writer schema.
type avroType struct {
	kind    string // null, boolean, int, long, float, double, bytes, string, record, enum, array, map, union, fixed
	name    string // full name of a record, enum or fixed; the kind otherwise
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
		u := &avroType{kind: "union", name: "union"}
		for _, b := range v {
			t, err := p.parse(b, space, depth+1)
			if err != nil {
				return nil, err
			}
			u.union = append(u.union, t)
		}
		return u, nil
	case map[string]any:
		return p.complex(v, space, depth)
	}
	return nil, fmt.Errorf("%w: a type is a string, a list or an object", errAvroSchema)
}

func (p *avroParser) reference(name, space string) (*avroType, error) {
	switch name {
	case "null", "boolean", "int", "long", "float", "double", "bytes", "string":
		return &avroType{kind: name, name: name}, nil
	}
	if t := p.named[fullName(name, space)]; t != nil {
		return t, nil
	}
	if t := p.named[name]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%w: type %.100q is not declared", errAvroSchema, name)
}

func (p *avroParser) complex(m map[string]any, space string, depth int) (*avroType, error) {
	kind, ok := m["type"].(string)
	if !ok {
		return p.parse(m["type"], space, depth+1)
	}
	t := &avroType{kind: kind, name: kind}
	switch kind {
	case "record", "enum", "fixed":
		name, _ := m["name"].(string)
		if s, ok := m["namespace"].(string); ok {
			space = s
		}
		t.name = fullName(name, space)
		p.named[t.name] = t
	}
	var err error
	switch kind {
	case "record":
		err = p.record(t, m, space, depth)
	case "enum":
		list, _ := m["symbols"].([]any)
		for _, s := range list {
			word, _ := s.(string)
			t.symbols = append(t.symbols, word)
		}
	case "fixed":
		size, _ := m["size"].(float64)
		if size < 0 || size > maxAvroString {
			return nil, fmt.Errorf("%w: fixed %s of %v bytes", errAvroSchema, t.name, size)
		}
		t.size = int(size)
	case "array":
		t.items, err = p.parse(m["items"], space, depth+1)
	case "map":
		t.items, err = p.parse(m["values"], space, depth+1)
	default:
		return p.reference(kind, space)
	}
	return t, err
}

func (p *avroParser) record(t *avroType, m map[string]any, space string, depth int) error {
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

func fullName(name, space string) string {
	for i := range len(name) {
		if name[i] == '.' {
			return name
		}
	}
	if space == "" {
		return name
	}
	return space + "." + name
}

// avroSource is what datums are read from.
type avroSource interface {
	io.Reader
	io.ByteReader
}

// appendJSON reads one datum of type t and appends it as Avro-JSON. io.EOF means that there was no further datum,
// io.ErrUnexpectedEOF that the file ends inside one.
func (t *avroType) appendJSON(dst []byte, r avroSource) ([]byte, error) {
	d := avroDecoder{r: r}
	dst, err := d.value(dst, t, 0)
	if err == io.EOF && d.read > 0 {
		err = io.ErrUnexpectedEOF
	}
	return dst, err
}

type avroDecoder struct {
	r     avroSource
	read  int64 // bytes of this datum
	items int   // array and map entries of this datum
}

func (d *avroDecoder) value(dst []byte, t *avroType, depth int) ([]byte, error) {
	if depth > maxAvroDepth {
		return dst, fmt.Errorf("%w: deeper than %d levels", errAvroDatum, maxAvroDepth)
	}
	switch t.kind {
	case "null":
		return append(dst, "null"...), nil
	case "boolean":
		b, err := d.byte()
		return strconv.AppendBool(dst, b != 0), err
	case "int", "long":
		n, err := d.long()
		return strconv.AppendInt(dst, n, 10), err
	case "float":
		b, err := d.bytes(4)
		if err != nil {
			return dst, err
		}
		return appendFloat(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))), nil
	case "double":
		b, err := d.bytes(8)
		if err != nil {
			return dst, err
		}
		return appendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(b))), nil
	case "bytes", "string":
		n, err := d.long()
		if err != nil {
			return dst, err
		}
		b, err := d.bytes(n)
		return appendString(dst, b), err
	case "fixed":
		b, err := d.bytes(int64(t.size))
		return appendString(dst, b), err
	case "enum":
		return d.enum(dst, t)
	case "record":
		return d.record(dst, t, depth)
	case "array":
		return d.blocks(dst, t, depth, '[', ']')
	case "map":
		return d.blocks(dst, t, depth, '{', '}')
	case "union":
		return d.union(dst, t, depth)
	}
	return dst, fmt.Errorf("%w: unknown kind %q", errAvroDatum, t.kind)
}

func (d *avroDecoder) enum(dst []byte, t *avroType) ([]byte, error) {
	n, err := d.long()
	if err != nil {
		return dst, err
	}
	if n < 0 || n >= int64(len(t.symbols)) {
		return dst, fmt.Errorf("%w: %s has no symbol %d", errAvroDatum, t.name, n)
	}
	return appendString(dst, []byte(t.symbols[n])), nil
}

func (d *avroDecoder) record(dst []byte, t *avroType, depth int) ([]byte, error) {
	dst = append(dst, '{')
	for i, f := range t.fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, []byte(f.name)), ':')
		var err error
		if dst, err = d.value(dst, f.typ, depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// union writes a branch as Avro-JSON does: null bare, all else wrapped by the name of its type.
func (d *avroDecoder) union(dst []byte, t *avroType, depth int) ([]byte, error) {
	n, err := d.long()
	if err != nil {
		return dst, err
	}
	if n < 0 || n >= int64(len(t.union)) {
		return dst, fmt.Errorf("%w: a union of %d has no branch %d", errAvroDatum, len(t.union), n)
	}
	b := t.union[n]
	if b.kind == "null" {
		return append(dst, "null"...), nil
	}
	dst = append(append(append(dst, '{'), strconv.Quote(b.name)...), ':')
	if dst, err = d.value(dst, b, depth+1); err != nil {
		return dst, err
	}
	return append(dst, '}'), nil
}

// blocks reads the counted blocks of an array or map; a negative count is followed by the block's size in bytes.
func (d *avroDecoder) blocks(dst []byte, t *avroType, depth int, open, end byte) ([]byte, error) {
	dst = append(dst, open)
	for first := true; ; {
		n, err := d.long()
		if err != nil {
			return dst, err
		}
		if n == 0 {
			return append(dst, end), nil
		}
		if n < 0 {
			n = -n
			if _, err := d.long(); err != nil {
				return dst, err
			}
		}
		if n < 0 || n > maxAvroItems || d.items+int(n) > maxAvroItems {
			return dst, fmt.Errorf("%w: more than %d entries", errAvroDatum, maxAvroItems)
		}
		d.items += int(n)
		for range n {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			if open == '{' {
				size, err := d.long()
				if err != nil {
					return dst, err
				}
				key, err := d.bytes(size)
				if err != nil {
					return dst, err
				}
				dst = append(appendString(dst, key), ':')
			}
			if dst, err = d.value(dst, t.items, depth+1); err != nil {
				return dst, err
			}
		}
	}
}

func (d *avroDecoder) byte() (byte, error) {
	b, err := d.r.ReadByte()
	if err == nil {
		d.read++
	}
	return b, err
}

// long reads a zig-zag variable-length integer.
func (d *avroDecoder) long() (int64, error) {
	var u uint64
	for shift := uint(0); shift < 64; shift += 7 {
		b, err := d.byte()
		if err != nil {
			return 0, err
		}
		u |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return int64(u>>1) ^ -int64(u&1), nil
		}
	}
	return 0, fmt.Errorf("%w: an integer of more than ten bytes", errAvroDatum)
}

func (d *avroDecoder) bytes(n int64) ([]byte, error) {
	if n < 0 || d.read+n > maxAvroString {
		return nil, fmt.Errorf("%w: a string of %d bytes; a datum may have %d", errAvroDatum, n, maxAvroString)
	}
	b := make([]byte, n)
	m, err := io.ReadFull(d.r, b)
	d.read += int64(m)
	return b, err
}

func appendString(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}
