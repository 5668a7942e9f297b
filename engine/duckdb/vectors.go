package duckdb

import (
	"fmt"
	"math"
	"math/big"
	"time"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"straggler/engine"
	"straggler/schema"
)

// The conversion of DuckDB's vectors to portable types: integers of up to 32 bits become INTEGER, wider ones BIGINT (an error
// if a value does not fit), FLOAT and DECIMAL become DOUBLE, all kinds of instants TIMESTAMP, and everything else STRING, cast
// by DuckDB.

// duckType is a DuckDB type.
type duckType struct {
	id       mapping.Type
	physical mapping.Type // what a DECIMAL is stored as
	scale    int          // of a DECIMAL
	width    int          // of a DECIMAL
}

func typeOf(t mapping.LogicalType) duckType {
	d := duckType{id: mapping.GetTypeId(t)}
	if d.id == mapping.TypeDecimal {
		d.physical, d.scale, d.width = mapping.DecimalInternalType(t), int(mapping.DecimalScale(t)), int(mapping.DecimalWidth(t))
	}
	return d
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

func (d duckType) String() string {
	if d.id == mapping.TypeDecimal {
		return fmt.Sprintf("DECIMAL(%d,%d)", d.width, d.scale)
	}
	if n, ok := typeNames[d.id]; ok {
		return n
	}
	return fmt.Sprintf("type %d", d.id)
}

// portable returns the portable type of values, and whether DuckDB has to cast them to it.
func (d duckType) portable() (t schema.Type, cast bool) {
	switch d.id {
	case mapping.TypeBoolean:
		return schema.Bool, false
	case mapping.TypeTinyInt, mapping.TypeSmallInt, mapping.TypeInteger, mapping.TypeUTinyInt, mapping.TypeUSmallInt:
		return schema.Int, false
	case mapping.TypeBigInt, mapping.TypeUInteger, mapping.TypeUBigInt, mapping.TypeHugeInt, mapping.TypeUHugeInt:
		return schema.BigInt, false
	case mapping.TypeFloat, mapping.TypeDouble, mapping.TypeDecimal:
		return schema.Double, false
	case mapping.TypeTimestamp, mapping.TypeTimestampS, mapping.TypeTimestampMS, mapping.TypeTimestampNS, mapping.TypeTimestampTZ:
		return schema.Timestamp, false
	case mapping.TypeVarchar:
		return schema.String, false
	}
	return schema.String, true
}

// vectorConverter converts the vectors of one column to the portable type.
type vectorConverter struct {
	from  duckType
	to    schema.Type
	arena []byte
}

// read fills out with the n values of a vector.
func (r *vectorConverter) read(vec mapping.Vector, n int, out *engine.Vector) error {
	out.Valid = nil
	if p := mapping.VectorGetValidity(vec); p != nil {
		out.Valid = unsafe.Slice((*uint64)(p), (n+63)/64)
	}
	p := mapping.VectorGetData(vec)
	switch r.from.id {
	case mapping.TypeBoolean:
		out.Bools = unsafe.Slice((*bool)(p), n)
	case mapping.TypeInteger:
		out.Int32s = unsafe.Slice((*int32)(p), n)
	case mapping.TypeTinyInt:
		out.Int32s = widen[int8](out.Int32s, p, n)
	case mapping.TypeSmallInt:
		out.Int32s = widen[int16](out.Int32s, p, n)
	case mapping.TypeUTinyInt:
		out.Int32s = widen[uint8](out.Int32s, p, n)
	case mapping.TypeUSmallInt:
		out.Int32s = widen[uint16](out.Int32s, p, n)
	case mapping.TypeBigInt, mapping.TypeTimestamp, mapping.TypeTimestampTZ:
		out.Int64s = unsafe.Slice((*int64)(p), n)
	case mapping.TypeUInteger:
		out.Int64s = widen[uint32](out.Int64s, p, n)
	case mapping.TypeDouble:
		out.Float64s = unsafe.Slice((*float64)(p), n)
	case mapping.TypeFloat:
		out.Float64s = widen[float32](out.Float64s, p, n)
	case mapping.TypeVarchar:
		r.readStrings(p, n, out)
	default:
		return r.convert(p, n, out)
	}
	return nil
}

func widen[From int8 | int16 | uint8 | uint16 | uint32 | float32, To int32 | int64 | float64](dst []To, p unsafe.Pointer, n int) []To {
	dst = engine.Resized(dst, n)
	for i, v := range unsafe.Slice((*From)(p), n) {
		dst[i] = To(v)
	}
	return dst
}

// duckString is DuckDB's string: up to 12 bytes are inline, longer ones at ptr.
type duckString struct {
	length uint32
	prefix [4]byte
	ptr    unsafe.Pointer
}

const inlineLength = 12

// bytes returns a string in DuckDB's memory.
func (s *duckString) bytes() []byte {
	if s.length <= inlineLength {
		return unsafe.Slice((*byte)(unsafe.Pointer(&s.prefix)), s.length)
	}
	return unsafe.Slice((*byte)(s.ptr), s.length)
}

// readStrings copies all strings of a vector into one piece of memory: one allocation for 2048 of them. A string that
// equals the one before shares it.
func (r *vectorConverter) readStrings(p unsafe.Pointer, n int, out *engine.Vector) {
	out.Strings = engine.Resized(out.Strings, n)
	in := unsafe.Slice((*duckString)(p), n)
	r.arena = r.arena[:0]
	last := -1
	for i := range in {
		if out.Null(i) {
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
		case out.Null(i):
			out.Strings[i] = ""
		case last >= 0 && string(in[i].bytes()) == string(in[last].bytes()):
			out.Strings[i] = out.Strings[last]
		default:
			m := int(in[i].length)
			out.Strings[i] = all[at : at+m]
			at += m
			last = i
		}
	}
}

// convert is for types that are converted value by value.
func (r *vectorConverter) convert(p unsafe.Pointer, n int, out *engine.Vector) error {
	switch r.to {
	case schema.BigInt, schema.Timestamp:
		out.Int64s = engine.Resized(out.Int64s, n)
	case schema.Double:
		out.Float64s = engine.Resized(out.Float64s, n)
	default:
		return fmt.Errorf("%v is a type that cannot be read; cast it to STRING in the query", r.from)
	}
	for i := range n {
		if out.Null(i) {
			continue
		}
		switch r.to {
		case schema.BigInt:
			v := r.from.integer(p, i)
			if !v.IsInt64() {
				return fmt.Errorf("%v does not fit into BIGINT; cast it to DOUBLE or STRING in the query", v)
			}
			out.Int64s[i] = v.Int64()
		case schema.Timestamp:
			out.Int64s[i] = r.from.micros(p, i)
		case schema.Double:
			f, _ := new(big.Rat).SetFrac(r.from.integer(p, i), pow10(r.from.scale)).Float64()
			out.Float64s[i] = f
		}
	}
	return nil
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// huge is DuckDB's 128-bit integer.
type huge struct {
	lower uint64
	upper int64
}

// integer returns the value of an integer or the unscaled value of a DECIMAL.
func (d duckType) integer(p unsafe.Pointer, i int) *big.Int {
	id := d.id
	if id == mapping.TypeDecimal {
		id = d.physical
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

// micros returns an instant of any precision in microseconds. Infinite instants stay so.
func (d duckType) micros(p unsafe.Pointer, i int) int64 {
	v := at[int64](p, i)
	if v == math.MaxInt64 || v == -math.MaxInt64 {
		return v
	}
	switch d.id {
	case mapping.TypeTimestampS:
		return v * 1e6
	case mapping.TypeTimestampMS:
		return v * 1e3
	case mapping.TypeTimestampNS:
		return time.Unix(0, v).UnixMicro()
	}
	return v
}

func at[T any](p unsafe.Pointer, i int) T {
	return *(*T)(unsafe.Add(p, uintptr(i)*unsafe.Sizeof(*new(T))))
}
