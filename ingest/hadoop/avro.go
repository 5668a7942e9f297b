package hadoop

import (
	"encoding/json"
	"errors"
	"fmt"
)

// An Avro-Binary history holds bare datums, one after the other, written with the schema of its second line. This reads
// the schema; avroevents.go reads the datums with it.

var (
	errAvroSchema = errors.New("unusable avro schema")
	errAvroDatum  = errors.New("datum does not fit the schema")
)

const (
	maxAvroDepth  = 64
	maxAvroString = 16 << 20
	maxAvroItems  = 4096 // values of no bytes in a datum
	maxAvroNodes  = 10_000
)

// avroKind is the kind of a type.
type avroKind uint8

const (
	avroNull avroKind = iota + 1
	avroBoolean
	avroInt
	avroLong
	avroFloat
	avroDouble
	avroBytes
	avroString
	avroRecord
	avroEnum
	avroFixed
	avroArray
	avroMap
	avroUnion
)

// kindOfAvro reads the name of a kind that is not a reference to a type; 0 for others.
func kindOfAvro(name string) avroKind {
	switch name {
	case "null":
		return avroNull
	case "boolean":
		return avroBoolean
	case "int":
		return avroInt
	case "long":
		return avroLong
	case "float":
		return avroFloat
	case "double":
		return avroDouble
	case "bytes":
		return avroBytes
	case "string":
		return avroString
	case "record", "error":
		return avroRecord
	case "enum":
		return avroEnum
	case "fixed":
		return avroFixed
	case "array":
		return avroArray
	case "map":
		return avroMap
	}
	return 0
}

// avroType is a node of a writer schema.
type avroType struct {
	kind    avroKind
	name    string // full name of a record, enum or fixed
	symbols [][]byte
	fields  []avroField
	items   *avroType // of an array or map
	union   []*avroType
	size    int // of a fixed
}

type avroField struct {
	name []byte
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
		u := &avroType{kind: avroUnion}
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
	if k := kindOfAvro(name); k != 0 && k <= avroString {
		return &avroType{kind: k}, nil
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
	word, ok := m["type"].(string)
	if !ok {
		return p.parse(m["type"], space, depth+1)
	}
	t := &avroType{kind: kindOfAvro(word)}
	switch t.kind {
	case avroRecord, avroEnum, avroFixed:
		name, _ := m["name"].(string)
		if s, ok := m["namespace"].(string); ok {
			space = s
		}
		t.name = fullName(name, space)
		p.named[t.name] = t
	}
	var err error
	switch t.kind {
	case avroRecord:
		err = p.record(t, m, space, depth)
	case avroEnum:
		list, _ := m["symbols"].([]any)
		for _, s := range list {
			word, _ := s.(string)
			t.symbols = append(t.symbols, []byte(word))
		}
	case avroFixed:
		size, _ := m["size"].(float64)
		if size < 0 || size > maxAvroString {
			return nil, fmt.Errorf("%w: fixed %s of %v bytes", errAvroSchema, t.name, size)
		}
		t.size = int(size)
	case avroArray:
		t.items, err = p.parse(m["items"], space, depth+1)
	case avroMap:
		t.items, err = p.parse(m["values"], space, depth+1)
	default:
		return p.reference(word, space)
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
		t.fields = append(t.fields, avroField{[]byte(name), ft})
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
