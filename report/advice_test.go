package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/report/reporttest"
	"straggler/schema"
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

// Collections on one machine are looked for there; on all of them, memory is short.
func TestAdviseGCByPlace(t *testing.T) {
	for _, everywhere := range []bool{false, true} {
		m := reporttest.NewTrace()
		job := m.Job(0, 60)
		for phase := range 5 {
			d := make([]float64, 40)
			for i := range d {
				d[i] = 2 + float64(i%5)/20
			}
			p := m.Phase(job, 12*float64(phase), d...)
			n := 0
			for i := range m.Attempts {
				a := &m.Attempts[i]
				if a.PhaseID != p {
					continue
				}
				a.GCS = schema.Some(0.0)
				if n%8 == 2 && n < 24 || everywhere && n < 8 {
					a.GCS = schema.Some(8.0)
					a.DurationS.V += 8
					a.FinishTime.V = a.FinishTime.V.Add(8)
				}
				n++
			}
		}
		d := built(t, reporttest.Stored(t, &m.Trace))
		i := slices.IndexFunc(d.Advice, func(a Advice) bool { return a.Rule == "give_memory" })
		if i < 0 {
			t.Fatalf("no advice about collections: %+v", d.Advice)
		}
		if a := d.Advice[i]; strings.Contains(a.Title, "m3") == everywhere {
			t.Errorf("everywhere %v: %s", everywhere, a.Title)
		}
	}
}

// What every run has comes after what a fault has cost, however much more it is.
func TestStartupComesAfterFaults(t *testing.T) {
	var d Document
	d.Trust.Counts.Attempts = 100
	d.Cost.Loss.CompletionS, d.Cost.Loss.LostS = schema.Some(100.0), schema.Some(20.0)
	for _, c := range []struct {
		cause schema.Cause
		lost  float64
	}{{schema.Startup, 15}, {schema.GC, 5}} {
		d.Cost.Causes = append(d.Cost.Causes, CauseCost{Cause: c.cause, LostS: schema.Some(c.lost)})
	}
	got := advise(&d, &facts{})
	if len(got) < 2 || got[0].Rule != "give_memory" || got[1].Rule != "keep_executors" {
		t.Errorf("%+v", got)
	}
	d.Cost.Causes = d.Cost.Causes[:1]
	if got := advise(&d, &facts{}); len(got) < 1 || got[0].Rule != "keep_executors" {
		t.Errorf("alone: %+v", got)
	}
}
