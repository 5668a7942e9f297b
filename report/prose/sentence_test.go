package prose

import "testing"

func TestLower(t *testing.T) {
	for s, want := range map[string]string{"": "", "A": "a", "Read 2 MiB": "read 2 MiB", "GC took 2 s": "GC took 2 s", "ülk": "ülk", "2 tasks": "2 tasks"} {
		if got := Lower(s); got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}
