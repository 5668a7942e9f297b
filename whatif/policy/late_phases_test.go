package policy_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"straggler/whatif/policy"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// LATE §4.2: at 20 s T1 (60 %) has 40 s left and T2 (50 %) 50 s, at 5 %/s up to a half and 1 %/s from there. With one rate
// the estimates are 13.3 s and 10 s, the wrong order; with a rate for each half they are right.
func TestPhasedTimeLeft(t *testing.T) {
	const first, second = 0.1, 0.02 // parts a second
	for _, x := range []struct {
		what        string
		done        float64
		rates       []float64
		plain, want float64
	}{
		{"T1", 0.2, []float64{second}, 13.3, 40},
		{"T2", 0, []float64{second}, 10, 50},
		{"at 5 s", 0.5, []float64{first, second}, 15, 55},
		{"a part that nobody has finished", 0.5, []float64{first, 0}, 15, 15},
	} {
		if got := policy.PhasedTimeLeft(x.done, x.rates, x.plain); math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%s: %g s left, want %g", x.what, got, x.want)
		}
	}
}

// Ten reduces spent 50 s in their first half and 10 s in the second. At 70 s a task that was slow to get there is about to
// leave its first half (45 %) and has some 18 s left; another is slow in its second (60 %) and has 80 s left. One rate makes
// it 86 s and 47 s. There is room for one copy.
func TestLatePhases(t *testing.T) {
	c := scenario.Cluster{Machines: scenario.Uniform(13, 1), Jobs: []scenario.Job{{Phases: []scenario.Phase{{Kind: "reduce"}}}}}
	add := func(first, second float64) {
		at := float32(first / (first + second))
		c.Jobs[0].Phases[0].Tasks = append(c.Jobs[0].Phases[0].Tasks, scenario.Task{Seconds: first + second, Reports: []workload.Point{{At: at, Score: 0.5}, {At: 1, Score: 1}}})
	}
	for range 10 {
		add(50, 10)
	}
	add(77.8, 10)
	add(50, 100)
	first := func(name string, options ...string) string {
		p := byName(t, name)
		for n := 0; n < len(options); n += 2 {
			p = set(t, p, options[n], options[n+1])
		}
		got, _ := events(t, c.Rows(), p, 0)
		got = slices.DeleteFunc(got, func(e string) bool { return !strings.HasPrefix(e, "copy") })
		slices.SortFunc(got, func(a, b string) int { return strings.Compare(a[strings.Index(a, "at"):], b[strings.Index(b, "at"):]) })
		if len(got) == 0 {
			return "none"
		}
		return strings.Fields(got[0])[1]
	}
	one := []string{"cap", "0.01", "slow_task", "1", "age", "70"}
	if got := first("late", one...); got != "10" {
		t.Errorf("plain LATE copies task %s first, want the one of 45 %%", got)
	}
	if got := first("late-phases", append(one, "phases", "2")...); got != "11" {
		t.Errorf("phase-aware LATE copies task %s first, want the one that ends last", got)
	}
}
