package schema

import (
	"strings"
	"testing"
)

func TestGlossaryIsComplete(t *testing.T) {
	for _, g := range []struct {
		entries []Entry
		words   []string
	}{{Causes(), Cause("").Values()}, {Rules(), Rule("").Values()}, {HistoryCauses(), HistoryCause("").Values()}} {
		has := map[string]string{}
		for _, e := range g.entries {
			has[e.Word] = e.Meaning
		}
		for _, w := range g.words {
			if len(has[w]) < 20 {
				t.Errorf("%s has no meaning", w)
			}
		}
		if len(has) != len(g.words) {
			t.Errorf("%d entries for %d words", len(has), len(g.words))
		}
	}
}

// A term stands once, and what it means is not a word alone.
func TestTermsAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Glossary() {
		if seen[e.Word] || len(e.Meaning) < 20 || strings.Contains(e.Meaning, "|") {
			t.Errorf("%q: %q", e.Word, e.Meaning)
		}
		seen[e.Word] = true
	}
}
