package report

import (
	"regexp"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/report/reporttest"
	"straggler/store"
)

// What is written for a text is that text for the engine, and nothing between quotes is read in two ways.
func FuzzQuoteSQL(f *testing.F) {
	for _, s := range []string{"m01", "o'brien", `back\slash`, `\'`, reporttest.Hostile, "", "'", "{}", "?"} {
		f.Add(s)
	}
	st, err := store.Temp(f.Context())
	reporttest.Check(f, err)
	f.Cleanup(func() { st.Close() })
	eng, err := engines.Open(f.Context(), st, engine.Options{Threads: 1})
	reporttest.Check(f, err)
	f.Cleanup(func() { eng.Close() })
	f.Fuzz(func(t *testing.T, s string) {
		sql, ok := quoteSQL(s)
		if !ok {
			return
		}
		if !plainLiterals.MatchString(sql) {
			t.Fatalf("%s is not read alike everywhere", sql)
		}
		for r, err := range engine.Read[struct {
			Text string `col:"t"`
		}](t.Context(), eng, "SELECT "+sql+" AS t") {
			reporttest.Check(t, err)
			if r.Text != s {
				t.Fatalf("%s is %q for the engine, not %q", sql, r.Text, s)
			}
		}
	})
}

// plainLiterals are texts between quotes with neither quotes nor backslashes in them, and numbered signs.
var plainLiterals = regexp.MustCompile(`^('[^'\\]*'|concat\('[^'\\]*'(, chr\(\d+\)|, '[^'\\]*')*\))$`)
