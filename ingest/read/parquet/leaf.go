package parquet

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"

	"straggler/parquetfile"
)

// leafValues is the number of values of a column decoded at a time.
const leafValues = 256

// levels are the definition and the repetition level of a value.
type levels struct{ definition, repetition int16 }

// leaf reads one column of a row group, value by value.
type leaf struct {
	decode        func() (n int, err error) // decodes the next values; 0: no more
	maxDefinition int16
	definition    []int16         // nil if all are present
	repetition    []int16         // nil if none repeats
	get           func(int) Value // the present ones: a text is copied when taken, since a dictionary's may be long

	at, end int // in the levels
	value   int // the next of the present ones
	next    levels
}

func newLeaf(from *parquetfile.Chunk) (l *leaf, err error) {
	f := from.Field
	l = &leaf{maxDefinition: f.MaxDefinition}
	if f.MaxDefinition > 0 {
		l.definition = make([]int16, leafValues)
	}
	if f.MaxRepetition > 0 {
		l.repetition = make([]int16, leafValues)
	}
	switch f.Type {
	case parquetfile.Boolean:
		l.decode, err = decoder(l, from, func(v bool) Value {
			if v {
				return Value{Kind: Bool, bits: 1}
			}
			return Value{Kind: Bool}
		})
	case parquetfile.Int32:
		as := wholeAs(f.Logical)
		l.decode, err = decoder(l, from, func(v int32) Value { return as(int64(v), uint64(uint32(v))) })
	case parquetfile.Int64:
		as := wholeAs(f.Logical)
		l.decode, err = decoder(l, from, func(v int64) Value { return as(v, uint64(v)) })
	case parquetfile.Int96Type:
		l.decode, err = decoder(l, from, func(v parquetfile.Int96) Value { return timeOf(v.Time()) })
	case parquetfile.Float:
		l.decode, err = decoder(l, from, func(v float32) Value { return Value{Kind: Float32, bits: math.Float64bits(float64(v))} })
	case parquetfile.Double:
		l.decode, err = decoder(l, from, func(v float64) Value { return Value{Kind: Float, bits: math.Float64bits(v)} })
	case parquetfile.ByteArray, parquetfile.FixedLenByteArray:
		l.decode, err = decoder(l, from, bytesAs(f.Logical, f.Type == parquetfile.ByteArray))
	default:
		err = fmt.Errorf("column %s: its type %v is not known", f.Name, f.Type)
	}
	return l, err
}

// decoder reads the present values from the pages.
func decoder[T parquetfile.Value](l *leaf, chunk *parquetfile.Chunk, as func(T) Value) (func() (int, error), error) {
	from, err := parquetfile.ColumnOf[T](chunk)
	raw := make([]T, leafValues)
	l.get = func(i int) Value { return as(raw[i]) }
	return func() (int, error) {
		if more, err := from.Next(); !more {
			return 0, err
		}
		n, _, err := from.Read(raw, l.definition, l.repetition)
		return n, err
	}, err
}

var errEnds = errors.New("it has fewer values than the rows need")

// more reads the levels of the next value, and reports whether there is one.
func (l *leaf) more() (bool, error) {
	for l.at == l.end {
		n, err := l.decode()
		if n == 0 {
			return false, err
		}
		l.at, l.end, l.value = 0, n, 0
	}
	l.next = levels{definition: l.maxDefinition}
	if l.definition != nil {
		l.next.definition = l.definition[l.at]
	}
	if l.repetition != nil {
		l.next.repetition = l.repetition[l.at]
	}
	return true, nil
}

// peek returns the levels of the next value, which must exist.
func (l *leaf) peek() (levels, error) {
	more, err := l.more()
	if err == nil && !more {
		err = errEnds
	}
	return l.next, err
}

// take returns the next value, NULL if it is not present.
func (l *leaf) take() (Value, error) {
	at, err := l.peek()
	if err != nil {
		return Value{}, err
	}
	l.at++
	if at.definition < l.maxDefinition {
		return Value{}, nil
	}
	l.value++
	return l.get(l.value - 1), nil
}

// wholeAs returns what a column of integers contains, signed or unsigned.
func wholeAs(logical parquetfile.Logical) func(int64, uint64) Value {
	switch logical.Meaning {
	case parquetfile.Unsigned:
		return func(_ int64, v uint64) Value { return Value{Kind: Uint, bits: v} }
	case parquetfile.Timestamp:
		switch logical.Unit {
		case time.Millisecond:
			return func(v int64, _ uint64) Value { return timeOf(time.UnixMilli(v)) }
		case time.Nanosecond:
			return func(v int64, _ uint64) Value { return timeOf(time.Unix(0, v)) }
		}
		return func(v int64, _ uint64) Value { return Value{Kind: Time, bits: uint64(v)} }
	case parquetfile.Date:
		return func(v int64, _ uint64) Value { return textOf(time.Unix(v*86400, 0).UTC().Format(time.DateOnly)) }
	case parquetfile.TimeOfDay:
		return func(v int64, _ uint64) Value {
			return textOf(time.Unix(0, v*int64(logical.Unit)).UTC().Format("15:04:05.999999999"))
		}
	case parquetfile.Decimal:
		return func(v int64, _ uint64) Value { return textOf(decimal(big.NewInt(v), logical.Scale)) }
	}
	return func(v int64, _ uint64) Value { return Value{Kind: Int, bits: uint64(v)} }
}

// bytesAs returns what a column of bytes contains. Old writers do not mark text.
func bytesAs(logical parquetfile.Logical, text bool) func([]byte) Value {
	switch logical.Meaning {
	case parquetfile.Decimal:
		return func(v []byte) Value {
			n := new(big.Int).SetBytes(v)
			if len(v) > 0 && v[0] >= 0x80 { // two's complement, big-endian
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(v))))
			}
			return textOf(decimal(n, logical.Scale))
		}
	case parquetfile.UUID:
		return func(v []byte) Value {
			h := hex.EncodeToString(v)
			if len(h) != 32 {
				return textOf(h)
			}
			return textOf(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
		}
	case parquetfile.Float16:
		return func(v []byte) Value {
			if len(v) != 2 {
				return Value{}
			}
			return Value{Kind: Float32, bits: math.Float64bits(half(binary.LittleEndian.Uint16(v)))}
		}
	}
	if text {
		return func(v []byte) Value { return textOf(string(v)) }
	}
	return func(v []byte) Value { return textOf(base64.StdEncoding.EncodeToString(v)) }
}

func timeOf(t time.Time) Value { return Value{Kind: Time, bits: uint64(t.UnixMicro())} }
func textOf(s string) Value    { return Value{Kind: Text, text: s} }

// decimal returns n / 10^scale, exactly.
func decimal(n *big.Int, scale int) string {
	digits := new(big.Int).Abs(n).String()
	if scale > 0 {
		if len(digits) <= scale {
			digits = strings.Repeat("0", scale-len(digits)+1) + digits
		}
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if n.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

// half returns a number of 16 bits (IEEE 754 binary16).
func half(b uint16) float64 {
	sign, exponent, fraction := 1-2*float64(b>>15), int(b>>10&31), float64(b&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}
