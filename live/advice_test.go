package live

import (
	"strings"
	"testing"
)

// The remaining time of a task is given in understandable words, not as 0 s within 0 to 274 s.
func TestLeft(t *testing.T) {
	for _, x := range []struct {
		left, low, high float64
		want            string
	}{
		{5, 0.4, 120, "5.00 s left [400 ms, 120 s]"},
		{5, -1, 120, "5.00 s left [0 s, 120 s]"},
		{0, 0, 274, "due now, may take up to 274 s more"},
		{0.2, 0, 0.3, "due now"},
	} {
		got := (&SlowTask{LeftS: x.left, LeftLow: x.low, LeftHigh: x.high}).Left()
		if got = strings.ReplaceAll(got, "\u00a0", " "); got != x.want {
			t.Errorf("%v: %q, want %q", x, got, x.want)
		}
	}
}
