package html

import (
	"slices"
	"strings"
	"testing"

	"straggler/report/prose"
)

func TestNiceScale(t *testing.T) {
	for v := 1e-3; v < 1e8; v *= 1.37 {
		top, step := niceScale(v)
		if top < v*(1-1e-9) || top > 2*v || top/step > 6.0001 || top/step < 1 {
			t.Errorf("an axis to %v for %v in steps of %v", top, v, step)
		}
	}
}

func TestTick(t *testing.T) {
	for v, want := range map[float64]string{10: "10 s", 2.5: "2.5 s", 0.5: "500 ms"} {
		if got := tick(v); got != strings.Replace(want, " ", prose.NBSP, 1) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A logarithmic axis has round durations at both ends, which enclose the values and no step more.
func TestLogTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      []string
	}{
		{0.2, 3, []string{"100 ms", "1 s", "10 s"}},
		{75, 9000, []string{"60 s", "10 min", "60 min", "10 h"}},
		{60, 60, []string{"60 s", "10 min"}},
		{5, 600, []string{"1 s", "10 s", "60 s", "10 min"}},
		{40000, 9e6, []string{"10 h", "10 d", "100 d", "1000 d"}},
	} {
		var got []string
		for _, v := range logTicks(c.low, c.high) {
			got = append(got, strings.ReplaceAll(tick(v), prose.NBSP, " "))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%g to %g s: %v, want %v", c.low, c.high, got, c.want)
		}
	}
}
