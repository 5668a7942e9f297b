package measure

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"straggler/engine"
	"straggler/report/reporttest"
	"straggler/schema"
	"straggler/selection"
)

// sums returns what the queries sum up, to the last digit.
func sums(t *testing.T, eng engine.Engine) []string {
	t.Helper()
	var all []string
	m := &measuring{ctx: t.Context(), eng: eng, seen: []engine.Seen{selection.Rejects()}}
	reporttest.Check(t, each(m, "applications.sql", func(r *struct {
		SlotS float64 `col:"slot_s"`
	}) {
		all = append(all, fmt.Sprint(*r))
	}))
	reporttest.Check(t, each(m, "stages.sql", func(r *struct {
		SlotS      float64 `col:"slot_s"`
		ExcessS    float64 `col:"excess_s"`
		ExcessSq   float64 `col:"excess_sq"`
		InputBytes float64 `col:"input_bytes"`
	}) {
		all = append(all, fmt.Sprint(*r))
	}))
	reporttest.Check(t, each(m, "causes.sql", func(r *struct {
		Seconds float64 `col:"seconds"`
		Squares float64 `col:"squares"`
	}) {
		all = append(all, fmt.Sprint(*r))
	}))
	return all
}

// Sums do not depend on the order in which a store has the attempts of a stage. Each is that of its terms, to a microsecond a
// term.
func TestLawOfSums(t *testing.T) {
	var want []string
	for _, back := range []bool{false, true} {
		m := reporttest.NewTrace()
		var seconds []float64
		total := 0.0
		for i := range 2000 {
			seconds = append(seconds, 10+math.Exp(3*math.Sin(float64(i))))
			total += seconds[i]
		}
		m.Phase(m.Job(0, 40), 0, seconds...)
		for i := range m.Attempts {
			m.Attempts[i].InputBytes = schema.Some(int64(1)<<53 + int64(i)%7)
		}
		if back {
			slices.Reverse(m.Attempts)
		}
		got := sums(t, reporttest.Stored(t, &m.Trace))
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, and in another order of rows %v", want, got)
		}
		var slot float64
		if _, err := fmt.Sscanf(got[0], "{%g}", &slot); err != nil || math.Abs(slot-total) > 2000e-6 {
			t.Errorf("slot_s is %s, want about %v", got[0], total)
		}
	}
}
