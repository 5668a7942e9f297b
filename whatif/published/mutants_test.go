package published

import (
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
)

// noAction are policies that do nothing, and the schedulers that the papers compare theirs with.
var noAction = lab{
	policy:    func(name string, _ ...string) (policy.Policy, error) { return named("none") },
	scheduler: func(_, than string) string { return than },
}

// arbitrary speculates within LATE's bounds but without its rule: it copies the first running tasks that are old enough, not
// those with the longest time left.
type arbitrary struct{}

func (arbitrary) Look(v *replay.View, do *replay.Actions) replay.Again {
	if v.Waiting() == 0 {
		room := v.Slots()/10 - v.Speculating()
		for _, a := range v.Running() {
			if room > 0 && v.Free() > 0 && v.Copies(a.Task) == 1 && v.Elapsed(&a) >= replay.Seconds(60) {
				do.Copy(a.Task)
				room--
			}
		}
	}
	return v.In(3 * replay.Second)
}

// withoutRule are our policies and schedulers without their main rules.
var withoutRule = lab{
	policy: func(name string, options ...string) (policy.Policy, error) {
		switch name {
		case "late", "late-early":
			return policy.Own("arbitrary", func() replay.Policy { return arbitrary{} }), nil
		case "mantri": // only the ordering of tasks remains
			options = append(options, "restart", "false", "duplicate", "false")
		case "dolly": // first come first cloned, in part if the budget does not suffice, and no clone waits for its own output
			if at := slices.Index(options, "assignment"); at < 0 || options[at+1] == "delay" {
				options = append(options, "assignment", "cc")
			}
			options = append(options, "admission", "fcfs")
		case "hadoop": // no gap to the average is large enough
			options = append(options, "gap", "1")
		case "mapreduce": // only when all have finished
			options = append(options, "share", "1")
		case "dryad":
			options = append(options, "percentile", "1")
		case "protect": // hardly any copies, and no early ones before a machine has lost many outputs
			options = append(options, "share", "0.001", "onset", "10")
		}
		return named(name, options...)
	},
	scheduler: func(choice, _ string) string {
		switch name, _, _ := strings.Cut(choice, " "); name {
		case "delay": // without waiting, or without shorter waits for jobs that compute
			if untuned, _, biased := strings.Cut(choice, " bias="); biased {
				return untuned
			}
			return "fair"
		case "copycompute", "fair-all": // without fair sharing
			return "fifo-split"
		case "quincy": // data moved between racks costs nothing
			return "quincy fair=" + map[bool]string{true: "true", false: "false"}[strings.Contains(choice, "fair=true")] + " preempt=false core=1e-6"
		}
		return "fifo"
	},
}

// solvedOnce holds the calibrations of experiments, the same for ours and for the mutants.
var solvedOnce = &solutions{}

// result is a run.
type result struct {
	rows    []Row
	figures []Figure
}

// once runs once for all tests.
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

// dependingOnPolicies reports whether an experiment has a number that depends on policies.
func dependingOnPolicies(rows []Row) func(paper string, part int) bool {
	return func(paper string, part int) bool {
		return slices.ContainsFunc(rows, func(r Row) bool { return r.Paper == paper && r.part == part && r.dependsOnPolicies() })
	}
}

// Policies that do nothing, and ours without their main rules, miss each number that counts as met. Rules are formulas and laws
// of the engine, which do not depend on policies. A band that contains the number does not count as such if theirs contain it
// too.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("replays every experiment twice")
	}
	ours, _, err := ours()
	if err != nil {
		t.Fatal(err)
	}
	var spans [2]map[string]Range
	for n, mutant := range []lab{noAction, withoutRule} {
		mutant.solved, mutant.needs = solvedOnce, dependingOnPolicies(ours)
		rows, _, err := run(context.Background(), nil, mutant, nil)
		if err != nil {
			t.Fatal(err)
		}
		spans[n] = map[string]Range{}
		for i := range rows {
			spans[n][rows[i].Key()] = rows[i].span()
		}
	}
	var lines []string
	for i := range ours {
		r := &ours[i]
		if !r.dependsOnPolicies() {
			continue
		}
		line := r.Key()
		known := [2]Range{r.NoAction, r.WithoutRule}
		for n, name := range []string{"a policy that does nothing", "ours without its main rule"} {
			x, ok := spans[n][r.Key()]
			if !ok {
				t.Errorf("%s: %s gives no number", r.Key(), name)
			}
			within := r.Tolerance
			if r.Kind == Band {
				within = 0
			}
			held := Range{x.Low - within, x.High + within}.has(r.Published)
			if held && (r.Verdict == Met || r.Verdict == Inside || r.Verdict == Wide) && !*update {
				t.Errorf("%s: %s, and by %s, too: published %g ± %g, it %g to %g, ours %g", r.Key(), r.Verdict, name, r.Published, r.Tolerance, x.Low, x.High, r.Ours)
			}
			line += "\t" + Number(x.Low) + "\t" + Number(x.High)
			if y := known[n]; !*update && !(near(x.Low, y.Low) && near(x.High, y.High)) {
				t.Errorf("%s: %s gives %g to %g, and mutants.tsv has %g to %g; if that is right, go test ./whatif/published -run 'TestMutants|TestRows' -update, twice", r.Key(), name, x.Low, x.High, y.Low, y.High)
			}
		}
		lines = append(lines, line+"\n")
	}
	if *update {
		slices.Sort(lines)
		if err := os.WriteFile("mutants.tsv", []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// near reports whether a number equals one of four digits.
func near(x, y float64) bool {
	return math.Abs(x-y) <= 1e-3*math.Abs(y)+1e-9 || math.IsNaN(x) && math.IsNaN(y)
}

// A band is inside only if it is not wider than the number itself, and no mutant's band contains the number too.
func TestBand(t *testing.T) {
	row := Row{Paper: "DOLLY", Section: "§5.2", Quantity: "Facebook: Dolly over LATE"}
	noAction, withoutRule := mutants(&row)
	if !(noAction.High < withoutRule.Low) {
		t.Fatalf("mutants.tsv has %v and %v of %s", noAction, withoutRule, row.Key())
	}
	over := withoutRule.High + 0.1
	for _, c := range []struct {
		published float64
		ours      []float64
		want      Verdict
	}{
		{over, []float64{over - 0.01, over + 0.01}, Inside},
		{over, []float64{over - 0.01, over + 0.01, math.NaN()}, Inside},
		{over, []float64{0.01, over + 0.01}, Wide},
		{over, []float64{over + 0.01, over + 0.02}, Outside},
		{noAction.Low, []float64{noAction.Low - 0.01, noAction.High + 0.01}, Inconclusive},
		{withoutRule.High, []float64{withoutRule.High - 0.001, withoutRule.High + 0.001}, Inconclusive},
		{withoutRule.High, []float64{0, 1}, Inconclusive},
	} {
		x := table{paper: row.Paper}
		if c.want == Wide {
			c.ours[1] = c.ours[0] + 1.01*c.published
		}
		x.band(row.Section, row.Quantity, c.published, c.ours, "")
		if got := x.rows[0].Verdict; got != c.want {
			t.Errorf("published %g, ours %v, mutants %v and %v: %s, want %s", c.published, c.ours, noAction, withoutRule, got, c.want)
		}
	}
	n := Count([]Row{{Kind: Band, Verdict: Inconclusive}, {Kind: Band, Verdict: Inside}, {Kind: Rebuilt, Verdict: Met}})
	if n != (Tally{Met: 1, Inside: 1, Inconclusive: 1}) {
		t.Errorf("the tally is %+v", n)
	}
	if (&Row{Kind: Band, Verdict: Inconclusive}).holds() {
		t.Error("the record has an inconclusive band")
	}
}
