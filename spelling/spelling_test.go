package spelling

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"late", "late-early", "mantri", "mantri-protect", "fair", "wta", "no-bad-machine"}
	for name, want := range map[string]string{
		"lat": "late", "Late": "late", "mantir": "mantri", "man": "mantri", "fari": "", "fai": "fair", "late-erly": "late-early",
		"no-bad": "no-bad-machine", "x": "", "": "", "l": "", "quincy": "", "swf": "", "wt": "wta", "mxxtri": "mantri", "mxxxri": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestChoices(t *testing.T) {
	for _, c := range []struct {
		name  string
		known []string
		want  string
	}{
		{"lat", []string{"none", "late"}, "did you mean late? There are none, late"},
		{"x", []string{"none", "late"}, "there are none, late"},
		{"x", []string{"late"}, "there is late"},
	} {
		if got := Choices(c.name, c.known); got != c.want {
			t.Errorf("%q: %q, want %q", c.name, got, c.want)
		}
	}
}

// Distances by hand.
func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"ab", "ba", 2}, {"late", "lat", 1}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
