package parquet

import (
	"cmp"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/encoding/thrift"

	"straggler/parquetfile"
)

// Readers skip row groups by the statistics of a column chunk, so a wrong one loses rows. The rules are those of parquet-format
// 2.11, parquet.thrift, Statistics and ColumnOrder.

// statistics are the number of NULLs of a column chunk, and bounds of its values, encoded as PLAIN without lengths; nil if
// there are none. A bound may be inexact: not a value of the chunk, but beyond all of them.
type statistics struct {
	nulls                  int64
	min, max               []byte
	minInexact, maxInexact bool
	signed                 bool // the bounds are also valid for old readers, which compared bytes as signed
}

// bounds are the least and the greatest of the values seen so far.
type bounds[T cmp.Ordered] struct {
	min, max T
	any      bool
}

// extend includes more values. A NaN makes both bounds NaN permanently. Most values do not change a bound, and the branch that
// they take costs a third of min and max of doubles.
func (b *bounds[T]) extend(values ...T) {
	if len(values) == 0 {
		return
	}
	lo, hi := values[0], values[0]
	if b.any {
		lo, hi = b.min, b.max
	}
	for _, v := range values {
		if lo <= v && v <= hi {
			continue
		}
		lo, hi = min(lo, v), max(hi, v)
	}
	b.min, b.max, b.any = lo, hi, true
}

func setIntegers[T int32 | int64](s *statistics, b bounds[T]) {
	if b.any {
		s.min, s.max, s.signed = plain(b.min), plain(b.max), true
	}
}

// setBools: false is less than true.
func (s *statistics) setBools(hasFalse, hasTrue bool) {
	if hasFalse || hasTrue {
		s.min, s.max, s.signed = plain(!hasFalse), plain(hasTrue), true
	}
}

// setDoubles omits the bounds if there is a NaN, which readers order differently. A bound of zero covers zeros of both signs,
// which some readers consider equal.
func (s *statistics) setDoubles(b bounds[float64]) {
	if !b.any || math.IsNaN(b.min) {
		return
	}
	if b.min == 0 {
		b.min = math.Copysign(0, -1)
	}
	if b.max == 0 {
		b.max = 0 // rather than -0
	}
	s.min, s.max, s.signed = plain(b.min), plain(b.max), true
}

func plain[T bool | int32 | int64 | float64](v T) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, v) // fails only for types without a fixed size
	return b
}

// maxBound is the largest size of a string's bound in bytes: the default of arrow-rs, and of parquet-java for its page indexes.
const maxBound = 64

// setStrings shortens long bounds: a prefix is not greater than the string, and a prefix whose last character is replaced by
// the next one is greater than all strings that begin with the prefix. Both remain UTF-8, in which the order of bytes is the
// order of characters.
func (s *statistics) setStrings(b bounds[string]) {
	if !b.any {
		return
	}
	lo, hi := prefix(b.min), prefix(b.max)
	s.min, s.minInexact = []byte(lo), len(lo) < len(b.min)
	if len(hi) == len(b.max) {
		s.max = []byte(hi)
	} else {
		s.max, s.maxInexact = successor(hi), true
	}
}

// prefix returns the longest one of whole characters that fits into a bound.
func prefix(s string) string {
	if len(s) <= maxBound {
		return s
	}
	n := maxBound
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// successor returns a string greater than all that begin with s, nil if there is none.
func successor(s string) []byte {
	for s != "" {
		last, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
		if last == 0xD7FF {
			last = 0xDFFF // surrogates are not characters
		}
		if last < utf8.MaxRune {
			return utf8.AppendRune([]byte(s), last+1)
		}
	}
	return nil
}

// encoded returns the statistics in the form of the footer. Whether bounds are exact is recorded only for chunks with an
// inexact one.
func (s *statistics) encoded() *parquetfile.Statistics {
	e := &parquetfile.Statistics{Nulls: thrift.New(s.nulls), Min: s.min, Max: s.max}
	if s.signed {
		e.OldMin, e.OldMax = s.min, s.max
	}
	if s.minInexact || s.maxInexact {
		e.MinExact = thrift.New(!s.minInexact)
		if s.max != nil {
			e.MaxExact = thrift.New(!s.maxInexact)
		}
	}
	return e
}
