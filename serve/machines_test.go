package serve

import (
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/report/reporttest"
)

// Any text written as a printable SQL expression evaluates to that text.
func TestPrintableText(t *testing.T) {
	eng, err := engines.Open(t.Context(), enginetest.Store(t), engine.Options{})
	reporttest.Check(t, err)
	defer eng.Close()
	for _, s := range []string{"", "m1", "it's", reporttest.Hostile, "a\nb\x00c\u202e", "'\\''"} {
		got := "?"
		for r, err := range engine.Read[struct {
			T string `col:"t"`
		}](t.Context(), eng, "SELECT "+printableText(s)+" AS t") {
			reporttest.Check(t, err)
			got = r.T
		}
		if want := []rune(s); string(want) != got {
			t.Errorf("%q became %q", s, got)
		}
	}
}
