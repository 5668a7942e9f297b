package prose

import (
	"math"
	"strings"
	"testing"
)

func TestFigures(t *testing.T) {
	s := func(x string) string { return strings.ReplaceAll(x, " ", NBSP) }
	for _, tc := range []struct{ got, want string }{
		{Seconds(0), s("0 s")}, {Seconds(0.0001), s("< 1 ms")[0:1] + s("< 1 ms")[1:]}, {Seconds(0.41), s("410 ms")}, {Seconds(0.9996), s("1.00 s")},
		{Seconds(1), s("1.00 s")}, {Seconds(9.999), s("10.0 s")}, {Seconds(41.23), s("41.2 s")}, {Seconds(99.96), s("100 s")}, {Seconds(599), s("599 s")},
		{Seconds(600), s("10.0 min")}, {Seconds(7200), s("2.00 h")}, {Seconds(86400 * 3), s("3.00 d")}, {Seconds(-2.5), s("−2.50 s")},
		{Seconds(math.NaN()), Dash}, {Seconds(math.Inf(1)), Dash},
		{Bytes(0), s("0 B")}, {Bytes(1023), s("1023 B")}, {Bytes(1 << 20), s("1.00 MiB")}, {Bytes(583 << 20), s("583 MiB")}, {Bytes(1 << 62), s("4.00 EiB")},
		{Times(9.1), "9.10×"}, {Times(1), "1.00×"}, {Times(12345678), "> 9999×"}, {Times(math.NaN()), Dash},
		{Percent(0.43), s("43 %")}, {Percent(0.0312), s("3.1 %")}, {Percent(0), s("0 %")}, {Percent(0.0001), s("< 0.1 %")},
		{Percent(-0.5), s("−50 %")}, {Percent(-0.0001), s("≈ 0 %")}, {Seconds(-0.0001), s("≈ 0 s")},
		{Count(1234), "1234"}, {Count(1234567), "1\u202f234\u202f567"}, {Count(-20000), "−20\u202f000"},
		{Instant(0, "epoch"), "1970-01-01 00:00:00" + NBSP + "UTC"}, {Instant(5e6, "trace"), "start + " + s("5.00 s")}, {Instant(math.MaxInt64, "epoch"), Dash},
	} {
		if tc.got != tc.want {
			t.Errorf("%q, want %q", tc.got, tc.want)
		}
	}
}

// Rounding never changes a figure by more than half of its third digit, and larger values never read as smaller ones.
func TestRound3(t *testing.T) {
	for v := 1e-3; v < 1e6; v *= 1.0137 {
		s := round3(v)
		var back float64
		for _, r := range strings.ReplaceAll(s, ".", "") {
			back = back*10 + float64(r-'0')
		}
		if i := strings.IndexByte(s, '.'); i >= 0 {
			back /= math.Pow(10, float64(len(s)-i-1))
		}
		if math.Abs(back-v) > 0.00501*v {
			t.Errorf("%v is written %s", v, s)
		}
	}
}

// Values have three digits and their unit, however large: no exponent, and percent for shares.
func TestMeasured(t *testing.T) {
	for _, c := range []struct {
		value      float64
		unit, want string
	}{
		{673.8, "s", "11.2 min"}, {20110, "slot s", "5.59 slot h"}, {309.6, "slot s", "310 slot s"}, {0, "slot s", "0 slot s"}, {0.0001, "slot s", "< 1 slot ms"},
		{0.333, "share", "33 %"}, {536.21, "ratio", "536×"}, {3, "runs", "3 runs"}, {12, "", "12"},
	} {
		if got := strings.ReplaceAll(Measured(c.value, c.unit), NBSP, " "); got != c.want {
			t.Errorf("%g %s is %q, want %q", c.value, c.unit, got, c.want)
		}
	}
}
