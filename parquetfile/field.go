package parquetfile

import (
	"errors"
	"fmt"
	"time"
)

// maxFieldDepth bounds the nesting of fields.
const maxFieldDepth = 64

// maxScale bounds the decimal places of a decimal: more than any writer uses.
const maxScale = 1000

// Field is a field of the schema: a column, or a structure of fields.
type Field struct {
	Name       string
	Repetition Repetition
	Logical    Logical
	Children   []*Field // nil: a column

	Type          Type // of a column, as the rest
	Length        int  // of FIXED_LEN_BYTE_ARRAY
	Column        int  // its position among the columns
	MaxDefinition int16
	MaxRepetition int16
}

// Meaning is what values represent.
type Meaning uint8

const (
	Itself Meaning = iota
	Text
	List
	Timestamp
	TimeOfDay
	Date
	Unsigned
	Decimal
	UUID
	Float16
)

// Logical is a logical type.
type Logical struct {
	Meaning Meaning
	Unit    time.Duration // of times
	Scale   int           // of decimals
}

// Root returns the schema as a tree.
func (m *Metadata) Root() (*Field, error) {
	t := &tree{rest: m.Schema}
	if len(m.Schema) == 0 {
		return nil, errors.New("it has no schema")
	}
	m.Schema[0].Repetition.Reset() // the root's has no meaning, and some writers set it
	root, err := t.field(0, 0, 0)
	if err == nil && (len(t.rest) > 0 || root.Children == nil) {
		err = errors.New("its schema is not a tree")
	}
	return root, err
}

type tree struct {
	rest    []*SchemaElement
	columns int
}

func (t *tree) field(definition, repetition int16, depth int) (*Field, error) {
	if depth > maxFieldDepth {
		return nil, fmt.Errorf("its fields lie more than %d deep", maxFieldDepth)
	}
	if len(t.rest) == 0 {
		return nil, errors.New("its schema lacks fields")
	}
	e := t.rest[0]
	t.rest = t.rest[1:]
	f := &Field{Name: e.Name, Repetition: e.Repetition.V, Logical: e.logical(), MaxDefinition: definition, MaxRepetition: repetition}
	switch f.Repetition {
	case Optional:
		f.MaxDefinition++
	case Repeated:
		f.MaxDefinition++
		f.MaxRepetition++
	}
	if e.Type.Valid {
		f.Type, f.Column = e.Type.V, t.columns
		t.columns++
		if s := f.Logical.Scale; s < 0 || s > maxScale {
			return nil, fmt.Errorf("column %s: decimals of scale %d", f.Name, s)
		}
		if f.Type == FixedLenByteArray {
			if f.Length = int(e.Length); f.Length <= 0 {
				return nil, fmt.Errorf("column %s: its values have no length", f.Name)
			}
		}
		return f, nil
	}
	f.Children = []*Field{}
	for range e.Children {
		child, err := t.field(f.MaxDefinition, f.MaxRepetition, depth+1)
		if err != nil {
			return nil, err
		}
		f.Children = append(f.Children, child)
	}
	return f, nil
}

// The logical types of old writers (parquet.thrift, ConvertedType).
const (
	convertedUTF8            int32 = 0
	convertedList            int32 = 3
	convertedEnum            int32 = 4
	convertedDecimal         int32 = 5
	convertedDate            int32 = 6
	convertedTimeMillis      int32 = 7
	convertedTimeMicros      int32 = 8
	convertedTimestampMillis int32 = 9
	convertedTimestampMicros int32 = 10
	convertedUint8           int32 = 11
	convertedUint64          int32 = 14
	convertedJSON            int32 = 19
)

func (e *SchemaElement) logical() Logical {
	if l := e.LogicalType; l != nil {
		switch {
		case l.String != nil:
			return Logical{Meaning: Text}
		case l.List != nil:
			return Logical{Meaning: List}
		case l.Decimal != nil:
			return Logical{Meaning: Decimal, Scale: int(l.Decimal.Scale)}
		case l.Date != nil:
			return Logical{Meaning: Date}
		case l.Time != nil:
			return Logical{Meaning: TimeOfDay, Unit: l.Time.Unit.duration()}
		case l.Timestamp != nil:
			return Logical{Meaning: Timestamp, Unit: l.Timestamp.Unit.duration()}
		case l.Integer != nil && !l.Integer.Signed:
			return Logical{Meaning: Unsigned}
		case l.UUID != nil:
			return Logical{Meaning: UUID}
		case l.Float16 != nil:
			return Logical{Meaning: Float16}
		case l.Map != nil, l.Integer != nil:
			return Logical{}
		}
	}
	if !e.Converted.Valid {
		return Logical{}
	}
	switch c := e.Converted.V; c {
	case convertedUTF8, convertedEnum, convertedJSON:
		return Logical{Meaning: Text}
	case convertedList:
		return Logical{Meaning: List}
	case convertedDecimal:
		return Logical{Meaning: Decimal, Scale: int(e.Scale)}
	case convertedDate:
		return Logical{Meaning: Date}
	case convertedTimeMillis:
		return Logical{Meaning: TimeOfDay, Unit: time.Millisecond}
	case convertedTimeMicros:
		return Logical{Meaning: TimeOfDay, Unit: time.Microsecond}
	case convertedTimestampMillis:
		return Logical{Meaning: Timestamp, Unit: time.Millisecond}
	case convertedTimestampMicros:
		return Logical{Meaning: Timestamp, Unit: time.Microsecond}
	default:
		if convertedUint8 <= c && c <= convertedUint64 {
			return Logical{Meaning: Unsigned}
		}
	}
	return Logical{}
}

func (u timeUnit) duration() time.Duration {
	switch {
	case u.Millis != nil:
		return time.Millisecond
	case u.Nanos != nil:
		return time.Nanosecond
	}
	return time.Microsecond
}
