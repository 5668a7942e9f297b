package fit

import (
	"testing"

	"straggler/schema"
)

// The first executor of the application begins at 0, the second at 20 s, the third at 300 s: they are cold until they have
// ended an attempt of 10 s, less the overlap; the second for 20 s, and the third for 60 s. Another application has its own
// first one.
func TestExecutorsAreCold(t *testing.T) {
	var e Executors[string]
	second := func(s float64) schema.Time { return schema.Time(s * 1e6) }
	for _, x := range []struct {
		application schema.Key
		name        string
		began       float64
		attempts    int
	}{{1, "first", 0, 3}, {1, "second", 20, 3}, {1, "third", 300, 3}, {2, "other", 400, 3}, {1, "container", -50, 2}} {
		for range x.attempts {
			e.Add(x.application, x.name, second(x.began), second(x.began+10))
		}
	}
	for _, c := range []struct {
		application schema.Key
		name        string
		until       float64
	}{{1, "first", 9}, {1, "second", 40}, {1, "third", 360}, {2, "other", 409}} {
		if !e.Cold(c.application, c.name, second(c.until-0.1)) || e.Cold(c.application, c.name, second(c.until)) {
			t.Errorf("%s is not cold until %g s", c.name, c.until)
		}
	}
	if e.Cold(1, "container", second(-50)) || e.Cold(1, "unknown", 0) {
		t.Error("a container of two attempts, or an unknown executor, is cold")
	}
}
