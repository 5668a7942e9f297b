package store

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"straggler/schema"
)

// How DuckDB's vectors become the portable types: integers of up to 32 bits INTEGER, wider ones BIGINT (an error where
// a value does not fit), FLOAT and DECIMAL DOUBLE, all kinds of instants TIMESTAMP, and everything else the text that
// DuckDB itself would write.

// shape is a DuckDB type with its parts.
type shape struct {
	id       mapping.Type
	physical mapping.Type // of DECIMAL and ENUM: what it is stored as
	scale    int          // DECIMAL
	width    int          // DECIMAL
	length   int          // ARRAY
	words    []string     // ENUM
	names    []string     // STRUCT, UNION
	parts    []shape      // LIST, ARRAY, MAP: the child; STRUCT, UNION: the members
}

func shapeOf(t mapping.LogicalType) shape {
	s := shape{id: mapping.GetTypeId(t)}
	part := func(child mapping.LogicalType) {
		s.parts = append(s.parts, shapeOf(child))
		mapping.DestroyLogicalType(&child)
	}
	switch s.id {
	case mapping.TypeDecimal:
		s.physical, s.scale, s.width = mapping.DecimalInternalType(t), int(mapping.DecimalScale(t)), int(mapping.DecimalWidth(t))
	case mapping.TypeEnum:
		s.physical = mapping.EnumInternalType(t)
		for i := range mapping.IdxT(mapping.EnumDictionarySize(t)) {
			s.words = append(s.words, mapping.EnumDictionaryValue(t, i))
		}
	case mapping.TypeList:
		part(mapping.ListTypeChildType(t))
	case mapping.TypeArray:
		s.length = int(mapping.ArrayTypeArraySize(t))
		part(mapping.ArrayTypeChildType(t))
	case mapping.TypeMap:
		part(mapping.MapTypeKeyType(t))
		part(mapping.MapTypeValueType(t))
	case mapping.TypeStruct:
		for i := range mapping.StructTypeChildCount(t) {
			s.names = append(s.names, mapping.StructTypeChildName(t, i))
			part(mapping.StructTypeChildType(t, i))
		}
	case mapping.TypeUnion:
		for i := range mapping.UnionTypeMemberCount(t) {
			s.names = append(s.names, mapping.UnionTypeMemberName(t, i))
			part(mapping.UnionTypeMemberType(t, i))
		}
	}
	return s
}

var typeNames = map[mapping.Type]string{
	mapping.TypeBoolean: "BOOLEAN", mapping.TypeTinyInt: "TINYINT", mapping.TypeSmallInt: "SMALLINT", mapping.TypeInteger: "INTEGER",
	mapping.TypeBigInt: "BIGINT", mapping.TypeUTinyInt: "UTINYINT", mapping.TypeUSmallInt: "USMALLINT", mapping.TypeUInteger: "UINTEGER",
	mapping.TypeUBigInt: "UBIGINT", mapping.TypeHugeInt: "HUGEINT", mapping.TypeUHugeInt: "UHUGEINT", mapping.TypeFloat: "FLOAT",
	mapping.TypeDouble: "DOUBLE", mapping.TypeVarchar: "VARCHAR", mapping.TypeBlob: "BLOB", mapping.TypeDate: "DATE",
	mapping.TypeTime: "TIME", mapping.TypeTimeTZ: "TIME WITH TIME ZONE", mapping.TypeTimestamp: "TIMESTAMP",
	mapping.TypeTimestampS: "TIMESTAMP_S", mapping.TypeTimestampMS: "TIMESTAMP_MS", mapping.TypeTimestampNS: "TIMESTAMP_NS",
	mapping.TypeTimestampTZ: "TIMESTAMP WITH TIME ZONE", mapping.TypeInterval: "INTERVAL", mapping.TypeUUID: "UUID",
	mapping.TypeBit: "BIT", mapping.TypeEnum: "ENUM", mapping.TypeSQLNull: "NULL", mapping.TypeBigNum: "BIGNUM",
}

func (s shape) String() string {
	members := func() string {
		parts := make([]string, len(s.parts))
		for i, p := range s.parts {
			parts[i] = quoteName(s.names[i]) + " " + p.String()
		}
		return strings.Join(parts, ", ")
	}
	switch s.id {
	case mapping.TypeDecimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", s.width, s.scale)
	case mapping.TypeList:
		return s.parts[0].String() + "[]"
	case mapping.TypeArray:
		return fmt.Sprintf("%v[%d]", s.parts[0], s.length)
	case mapping.TypeMap:
		return fmt.Sprintf("MAP(%v, %v)", s.parts[0], s.parts[1])
	case mapping.TypeStruct:
		return "STRUCT(" + members() + ")"
	case mapping.TypeUnion:
		return "UNION(" + members() + ")"
	}
	if n, ok := typeNames[s.id]; ok {
		return n
	}
	return fmt.Sprintf("type %d", s.id)
}

// reader turns the vectors of one column into the portable type.
type reader struct {
	shape shape
	typ   schema.Type
	arena []byte
}

func newReader(t mapping.LogicalType) reader {
	r := reader{shape: shapeOf(t), typ: schema.String}
	switch r.shape.id {
	case mapping.TypeBoolean:
		r.typ = schema.Bool
	case mapping.TypeTinyInt, mapping.TypeSmallInt, mapping.TypeInteger, mapping.TypeUTinyInt, mapping.TypeUSmallInt:
		r.typ = schema.Int
	case mapping.TypeBigInt, mapping.TypeUInteger, mapping.TypeUBigInt, mapping.TypeHugeInt, mapping.TypeUHugeInt:
		r.typ = schema.BigInt
	case mapping.TypeFloat, mapping.TypeDouble, mapping.TypeDecimal:
		r.typ = schema.Double
	case mapping.TypeTimestamp, mapping.TypeTimestampS, mapping.TypeTimestampMS, mapping.TypeTimestampNS, mapping.TypeTimestampTZ:
		r.typ = schema.Timestamp
	}
	return r
}

// read fills out with the n values of a vector.
func (r *reader) read(vec mapping.Vector, n int, out *vector) error {
	out.valid = nil
	if p := mapping.VectorGetValidity(vec); p != nil {
		out.valid = unsafe.Slice((*uint64)(p), (n+63)/64)
	}
	p := mapping.VectorGetData(vec)
	switch r.shape.id {
	case mapping.TypeBoolean:
		out.bools = unsafe.Slice((*bool)(p), n)
	case mapping.TypeInteger:
		out.int32s = unsafe.Slice((*int32)(p), n)
	case mapping.TypeTinyInt:
		out.int32s = widen[int8](out.int32s, p, n)
	case mapping.TypeSmallInt:
		out.int32s = widen[int16](out.int32s, p, n)
	case mapping.TypeUTinyInt:
		out.int32s = widen[uint8](out.int32s, p, n)
	case mapping.TypeUSmallInt:
		out.int32s = widen[uint16](out.int32s, p, n)
	case mapping.TypeBigInt, mapping.TypeTimestamp, mapping.TypeTimestampTZ:
		out.ints = unsafe.Slice((*int64)(p), n)
	case mapping.TypeUInteger:
		out.ints = widen[uint32](out.ints, p, n)
	case mapping.TypeDouble:
		out.floats = unsafe.Slice((*float64)(p), n)
	case mapping.TypeFloat:
		out.floats = widen[float32](out.floats, p, n)
	case mapping.TypeVarchar:
		r.readStrings(p, n, out)
	default:
		return r.convert(vec, p, n, out)
	}
	return nil
}

func widen[From int8 | int16 | uint8 | uint16 | uint32 | float32, To int32 | int64 | float64](dst []To, p unsafe.Pointer, n int) []To {
	dst = grown(dst, n)
	for i, v := range unsafe.Slice((*From)(p), n) {
		dst[i] = To(v)
	}
	return dst
}

// duckString is DuckDB's string: up to 12 bytes lie in it, longer ones where ptr says.
type duckString struct {
	length uint32
	prefix [4]byte
	ptr    unsafe.Pointer
}

const inlineLength = 12

// bytes lie in DuckDB's memory.
func (s *duckString) bytes() []byte {
	if s.length <= inlineLength {
		return unsafe.Slice((*byte)(unsafe.Pointer(&s.prefix)), s.length)
	}
	return unsafe.Slice((*byte)(s.ptr), s.length)
}

// readStrings copies all strings of a vector into one piece of memory: one allocation for 2048 of them. A string that
// equals the one before shares it.
func (r *reader) readStrings(p unsafe.Pointer, n int, out *vector) {
	out.strings = grown(out.strings, n)
	in := unsafe.Slice((*duckString)(p), n)
	r.arena = r.arena[:0]
	last := -1
	for i := range in {
		if out.null(i) {
			continue
		}
		if b := in[i].bytes(); last < 0 || string(b) != string(in[last].bytes()) {
			r.arena = append(r.arena, b...)
			last = i
		}
	}
	all := string(r.arena)
	last = -1
	at := 0
	for i := range in {
		switch {
		case out.null(i):
			out.strings[i] = ""
		case last >= 0 && string(in[i].bytes()) == string(in[last].bytes()):
			out.strings[i] = out.strings[last]
		default:
			m := int(in[i].length)
			out.strings[i] = all[at : at+m]
			at += m
			last = i
		}
	}
}

// convert is for the types that need work value by value.
func (r *reader) convert(vec mapping.Vector, p unsafe.Pointer, n int, out *vector) error {
	switch r.typ {
	case schema.BigInt, schema.Timestamp:
		out.ints = grown(out.ints, n)
	case schema.Double:
		out.floats = grown(out.floats, n)
	case schema.String:
		out.strings = grown(out.strings, n)
	}
	for i := range n {
		if out.null(i) {
			continue
		}
		switch r.typ {
		case schema.BigInt:
			v := r.shape.integer(p, i)
			if !v.IsInt64() {
				return fmt.Errorf("%v does not fit into BIGINT; cast it to DOUBLE or STRING in the query", v)
			}
			out.ints[i] = v.Int64()
		case schema.Timestamp:
			out.ints[i] = r.shape.micros(p, i)
		case schema.Double:
			f, _ := new(big.Rat).SetFrac(r.shape.integer(p, i), pow10(r.shape.scale)).Float64()
			out.floats[i] = f
		case schema.String:
			out.strings[i] = r.shape.text(vec, i, false)
		}
	}
	return nil
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func at[T any](p unsafe.Pointer, i int) T {
	return *(*T)(unsafe.Add(p, uintptr(i)*unsafe.Sizeof(*new(T))))
}

// huge is DuckDB's 128-bit integer.
type huge struct {
	lower uint64
	upper int64
}

// integer is the value of an integer or the unscaled value of a DECIMAL.
func (s shape) integer(p unsafe.Pointer, i int) *big.Int {
	id := s.id
	if id == mapping.TypeDecimal {
		id = s.physical
	}
	switch id {
	case mapping.TypeSmallInt:
		return big.NewInt(int64(at[int16](p, i)))
	case mapping.TypeInteger:
		return big.NewInt(int64(at[int32](p, i)))
	case mapping.TypeBigInt:
		return big.NewInt(at[int64](p, i))
	case mapping.TypeUBigInt:
		return new(big.Int).SetUint64(at[uint64](p, i))
	}
	h := at[huge](p, i)
	upper := big.NewInt(h.upper)
	if id == mapping.TypeUHugeInt {
		upper.SetUint64(uint64(h.upper))
	}
	return upper.Add(upper.Lsh(upper, 64), new(big.Int).SetUint64(h.lower))
}

// micros is an instant of any precision in microseconds. Infinite instants stay so.
func (s shape) micros(p unsafe.Pointer, i int) int64 {
	v := at[int64](p, i)
	if v == math.MaxInt64 || v == -math.MaxInt64 {
		return v
	}
	switch s.id {
	case mapping.TypeTimestampS:
		return v * 1e6
	case mapping.TypeTimestampMS:
		return v * 1e3
	case mapping.TypeTimestampNS:
		return time.Unix(0, v).UnixMicro()
	}
	return v
}
