package replay

import "math"

// Errors of progress are drawn for most attempts under some policies, and are kept as 32-bit numbers. normalNear is normal to
// twelve digits, without the logarithm and the cosine of package math. Only where these leave open what the 32-bit number is,
// one time in a hundred thousand, or where it is truncated, is normal itself computed.

// normalError bounds by how much normalNear differs from normal before both are truncated.
const normalError = 2e-13

// errorOf returns float32(max(-0.9, sigma · normal(bits))).
func errorOf(sigma float64, bits uint64) float32 {
	near, off := sigma*normalNear(bits), sigma*normalError
	low, high := float32(near-off), float32(near+off)
	if low == high && low > -0.9 && math.Abs(near) < 2.9*sigma {
		return low
	}
	return float32(max(-0.9, sigma*normal(bits)))
}

// normalNear returns normal before it is truncated, to within normalError.
func normalNear(bits uint64) float64 {
	return math.Sqrt(-2*logNear(bits>>40)) * cosNear(bits&(1<<24-1))
}

// logNear returns ln((k + ½) / 2²⁴). With k + ½ = 2ᵉ · m, 1 ≤ m < 2, and c the middle of the 128th of that range in which m is,
// it is (e − 24) · ln 2 + ln c + ln(1 + r), r = m/c − 1, the last being the series r − r²/2 + r³/3 − …
func logNear(k uint64) float64 {
	x := math.Float64bits(float64(k) + 0.5)
	c := &logs[x>>45&127]
	r := math.Float64frombits(x&(1<<52-1)|1023<<52)*c.inverse - 1
	return float64(int(x>>52)-1023-24)*math.Ln2 + (c.log + r*(1+r*(-1./2+r*(1./3+r*(-1./4+r*(1./5))))))
}

// cosNear returns cos(2π · k / 2²⁴). With a the middle of the 128th of the circle in which the angle is, and d its distance from
// there, it is cos a cos d − sin a sin d, the functions of d being their series.
func cosNear(k uint64) float64 {
	a := &circle[k>>17]
	d := float64(int(k&(1<<17-1))-1<<16) * (2 * math.Pi / (1 << 24))
	s := d * d
	return a.cos*(1+s*(-1./2+s*(1./24-s*(1./720)))) - a.sin*d*(1+s*(-1./6+s*(1./120)))
}

var (
	logs = func() (t [128]struct{ inverse, log float64 }) {
		for n := range t {
			c := 1 + (float64(n)+0.5)/128
			t[n].inverse, t[n].log = 1/c, math.Log(c)
		}
		return t
	}()
	circle = func() (t [128]struct{ cos, sin float64 }) {
		for n := range t {
			t[n].sin, t[n].cos = math.Sincos(2 * math.Pi * (float64(n) + 0.5) / 128)
		}
		return t
	}()
)
