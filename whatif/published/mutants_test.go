package published

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
)

// idle are policies that do nothing, and the schedulers that the papers compare theirs with.
var idle = lab{
	policy: func(name string, _ ...string) (policy.Policy, error) { return named("none") },
	scheduler: func(choice string) string {
		switch name, _, _ := strings.Cut(choice, " "); {
		case name == "delay":
			return "fair"
		case name == "quincy" && strings.Contains(choice, "fair=true"):
			return "fair"
		}
		return "fifo"
	},
}

// arbitrary speculates within LATE's bounds and without its rule: it copies the first running tasks that are old enough, and
// not those with the longest time left.
type arbitrary struct{}

func (arbitrary) Look(v *replay.View, do *replay.Actions) replay.Again {
	if v.Waiting() == 0 {
		room := v.Slots()/10 - v.Speculating()
		for _, a := range v.Running() {
			if room > 0 && v.Free() > 0 && v.Copies(a.Task) == 1 && v.Elapsed(&a) >= replay.Minute {
				do.Copy(a.Task)
				room--
			}
		}
	}
	return v.In(3 * replay.Second)
}

// ruleless are our policies and schedulers without their main rules.
var ruleless = lab{
	policy: func(name string, options ...string) (policy.Policy, error) {
		switch name {
		case "late", "late-early":
			return policy.Own("arbitrary", func() replay.Policy { return arbitrary{} }), nil
		case "mantri": // the order of tasks is left
			options = append(options, "restart", "false", "duplicate", "false")
		case "dolly": // hardly any clones
			options = append(options, "budget", "0.01")
		case "hadoop": // no gap to the average is large enough
			options = append(options, "gap", "1")
		case "mapreduce": // when all but none have finished
			options = append(options, "share", "1")
		case "dryad":
			options = append(options, "percentile", "1")
		}
		return named(name, options...)
	},
	scheduler: func(choice string) string {
		switch name, _, _ := strings.Cut(choice, " "); name {
		case "copycompute", "fair-all": // without fair sharing
			return "fifo-split"
		case "quincy": // data moved between racks costs nothing
			return "quincy fair=" + map[bool]string{true: "true", false: "false"}[strings.Contains(choice, "fair=true")] + " preempt=false core=1e-6"
		}
		return "fifo"
	},
}

// solvedOnce is what the experiments calibrate, the same for ours and for the mutants.
var solvedOnce = &solutions{}

// result is a run.
type result struct {
	rows    []Row
	figures []Figure
}

// once is one run for all tests.
var once = sync.OnceValues(func() (result, error) {
	l := shipped
	l.solved = solvedOnce
	rows, figures, err := run(context.Background(), nil, l, nil)
	return result{rows, figures}, err
})

func ours() ([]Row, []Figure, error) {
	r, err := once()
	return r.rows, r.figures, err
}

// countsIn is whether an experiment has a number that is met and that a mutant must miss.
func countsIn(rows []Row) func(paper string, part int) bool {
	return func(paper string, part int) bool {
		return slices.ContainsFunc(rows, func(r Row) bool {
			return r.Paper == paper && r.part == part && r.Verdict == Met && (r.Kind == Rebuilt || r.Kind == Replayed)
		})
	}
}

// A number that counts as met is missed by policies that do nothing, and by ours without their main rules. Rules are
// formulas and laws of the engine, in which no policy takes part.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("replays every experiment twice")
	}
	ours, _, err := ours()
	if err != nil {
		t.Fatal(err)
	}
	for name, mutant := range map[string]lab{"a policy that does nothing": idle, "ours without its main rule": ruleless} {
		mutant.solved, mutant.needs, mutant.plain = solvedOnce, countsIn(ours), true
		rows, _, err := run(context.Background(), nil, mutant, nil)
		if err != nil {
			t.Fatal(err)
		}
		met := map[string]float64{}
		for i := range rows {
			if r := &rows[i]; math.Abs(r.Ours-r.Published) <= r.Tolerance+1e-9 {
				met[r.Key()] = r.Ours
			}
		}
		for i := range ours {
			r := &ours[i]
			if x, ok := met[r.Key()]; ok && r.Verdict == Met && (r.Kind == Rebuilt || r.Kind == Replayed) {
				t.Errorf("%s: met by %s, too: published %g ± %g, it %g, ours %g", r.Key(), name, r.Published, r.Tolerance, x, r.Ours)
			}
		}
	}
}
