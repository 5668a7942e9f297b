package html

import (
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
