package alibaba

import (
	"math"
	"strconv"

	"straggler/schema"
)

func instant(b []byte) schema.Null[schema.Time] {
	s, ok := number(b)
	if !ok || s <= 0 || s > 1e10 {
		return schema.Null[schema.Time]{}
	}
	return schema.Some(schema.Time(math.Round(s * 1e6)))
}

func orNaN(b []byte) float64 {
	if v, ok := number(b); ok && v >= 0 {
		return v
	}
	return math.NaN()
}

// number parses a decimal number. Up to 15 digits are parsed here: they and the powers of ten that divide them are exact in
// floating point, so the quotient is the one that strconv returns.
func number(b []byte) (float64, bool) {
	var v int64
	point := len(b)
	for i, c := range b {
		if c -= '0'; c <= 9 {
			v = v*10 + int64(c)
			continue
		}
		if b[i] != '.' || point < len(b) {
			point = 0 // a sign, an exponent or a word
			break
		}
		point = i
	}
	switch n := len(b); {
	case n == 0:
		return 0, false
	case point == n && n <= 15:
		return float64(v), true
	case point > 0 && point < n-1 && n <= 16:
		return float64(v) / powers[n-1-point], true
	}
	f, err := strconv.ParseFloat(string(b), 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

var powers = [16]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
