package store

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// text is a value as DuckDB would write it when asked to cast it to VARCHAR.
func (s shape) text(vec mapping.Vector, i int, nested bool) string {
	if p := mapping.VectorGetValidity(vec); p != nil && unsafe.Slice((*uint64)(p), i/64+1)[i/64]>>(i%64)&1 == 0 {
		return "NULL"
	}
	p := mapping.VectorGetData(vec)
	switch s.id {
	case mapping.TypeList, mapping.TypeArray, mapping.TypeMap, mapping.TypeStruct, mapping.TypeUnion:
		return s.nested(vec, p, i)
	case mapping.TypeVarchar:
		str := at[duckString](p, i)
		if nested && strings.ContainsAny(string(str.bytes()), "'(),:=[]{}\"\\ ") {
			return "'" + strings.ReplaceAll(string(str.bytes()), "'", `\'`) + "'"
		}
		return string(str.bytes())
	case mapping.TypeBlob, mapping.TypeBit, mapping.TypeBigNum:
		str := at[duckString](p, i)
		return escaped(str.bytes())
	case mapping.TypeEnum:
		return s.words[s.enum(p, i)]
	case mapping.TypeUUID:
		h := at[huge](p, i)
		x := fmt.Sprintf("%016x%016x", uint64(h.upper)^1<<63, h.lower)
		return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
	case mapping.TypeInterval:
		return at[interval](p, i).String()
	}
	return s.scalar(p, i)
}

// scalar is the text of what is no string and has no parts.
func (s shape) scalar(p unsafe.Pointer, i int) string {
	switch s.id {
	case mapping.TypeBoolean:
		return strconv.FormatBool(at[bool](p, i))
	case mapping.TypeTinyInt:
		return strconv.Itoa(int(at[int8](p, i)))
	case mapping.TypeUTinyInt:
		return strconv.Itoa(int(at[uint8](p, i)))
	case mapping.TypeUSmallInt:
		return strconv.Itoa(int(at[uint16](p, i)))
	case mapping.TypeUInteger:
		return strconv.FormatUint(uint64(at[uint32](p, i)), 10)
	case mapping.TypeSmallInt, mapping.TypeInteger, mapping.TypeBigInt, mapping.TypeUBigInt, mapping.TypeHugeInt, mapping.TypeUHugeInt:
		return s.integer(p, i).String()
	case mapping.TypeDecimal:
		return new(big.Rat).SetFrac(s.integer(p, i), pow10(s.scale)).FloatString(s.scale)
	case mapping.TypeFloat:
		return floatText(float64(at[float32](p, i)), 32)
	case mapping.TypeDouble:
		return floatText(at[float64](p, i), 64)
	case mapping.TypeDate:
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(at[int32](p, i))).Format("2006-01-02")
	case mapping.TypeTime:
		return time.UnixMicro(at[int64](p, i)).UTC().Format("15:04:05.999999")
	case mapping.TypeTimestamp, mapping.TypeTimestampS, mapping.TypeTimestampMS, mapping.TypeTimestampNS:
		return time.UnixMicro(s.micros(p, i)).UTC().Format("2006-01-02 15:04:05.999999")
	case mapping.TypeTimestampTZ:
		return time.UnixMicro(s.micros(p, i)).UTC().Format("2006-01-02 15:04:05.999999") + "+00"
	}
	return "(" + s.String() + ")"
}

func floatText(f float64, bits int) string {
	t := strconv.FormatFloat(f, 'g', -1, bits)
	if strings.IndexAny(t, ".eIN") < 0 {
		t += ".0"
	}
	return t
}

func (s shape) enum(p unsafe.Pointer, i int) int {
	switch s.physical {
	case mapping.TypeUTinyInt:
		return int(at[uint8](p, i))
	case mapping.TypeUSmallInt:
		return int(at[uint16](p, i))
	}
	return int(at[uint32](p, i))
}

// escaped is bytes as text, those that are not printable ASCII as \xNN.
func escaped(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		if c < ' ' || c > '~' || c == '\\' || c == '\'' || c == '"' {
			fmt.Fprintf(&out, `\x%02X`, c)
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}

// nested is the text of a value with parts.
func (s shape) nested(vec mapping.Vector, p unsafe.Pointer, i int) string {
	var parts []string
	switch s.id {
	case mapping.TypeStruct:
		for j, part := range s.parts {
			parts = append(parts, "'"+s.names[j]+"': "+part.text(mapping.StructVectorGetChild(vec, mapping.IdxT(j)), i, true))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case mapping.TypeUnion:
		tag := int(at[uint8](mapping.VectorGetData(mapping.StructVectorGetChild(vec, 0)), i))
		return s.parts[tag].text(mapping.StructVectorGetChild(vec, mapping.IdxT(tag+1)), i, false)
	case mapping.TypeArray:
		for j := range s.length {
			parts = append(parts, s.parts[0].text(mapping.ArrayVectorGetChild(vec), i*s.length+j, true))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	entry := at[struct{ offset, length uint64 }](p, i)
	child := mapping.ListVectorGetChild(vec)
	for j := range int(entry.length) {
		k := int(entry.offset) + j
		if s.id == mapping.TypeList {
			parts = append(parts, s.parts[0].text(child, k, true))
			continue
		}
		parts = append(parts, s.parts[0].text(mapping.StructVectorGetChild(child, 0), k, true)+"="+
			s.parts[1].text(mapping.StructVectorGetChild(child, 1), k, true))
	}
	if s.id == mapping.TypeMap {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// interval is DuckDB's INTERVAL.
type interval struct {
	months, days int32
	micros       int64
}

func (v interval) String() string {
	var parts []string
	count := func(n int32, unit string) {
		switch {
		case n == 1 || n == -1:
			parts = append(parts, fmt.Sprintf("%d %s", n, unit))
		case n != 0:
			parts = append(parts, fmt.Sprintf("%d %ss", n, unit))
		}
	}
	count(v.months/12, "year")
	count(v.months%12, "month")
	count(v.days, "day")
	if v.micros != 0 || len(parts) == 0 {
		sign, n := "", v.micros
		if n < 0 {
			sign, n = "-", -n
		}
		t := fmt.Sprintf("%s%02d:%02d:%02d", sign, n/3600e6, n/60e6%60, n/1e6%60)
		if frac := n % 1e6; frac != 0 {
			t += strings.TrimRight(fmt.Sprintf(".%06d", frac), "0")
		}
		parts = append(parts, t)
	}
	return strings.Join(parts, " ")
}
