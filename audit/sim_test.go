package audit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/audit/audittest"
	"straggler/audit/baseline"
	"straggler/audit/measure"
)

// judged audits night k of a program after the nights before it.
func judged(runs []measure.Run) *Night {
	b := &baseline.Baseline{Runs: runs[:len(runs)-1]}
	return assessed(assess(runs[len(runs)-1:], b, DefaultConfig(), Options{}))
}

// nights runs a program many times and audits each night after its history, a sliding window of the earlier nights.
func nights(seed uint64, programs, perProgram, history, tasks int, unlike audittest.Unlike, each func(p *audittest.Program, runs []measure.Run, r *rand.Rand)) {
	for k := range programs {
		r := rand.New(rand.NewPCG(seed, uint64(k)))
		p := audittest.NewProgram(r, 3+r.IntN(12), tasks)
		p.Unlike = unlike
		var runs []measure.Run
		for n := range perProgram + history {
			runs = append(runs, p.Night(r, n, -1, 1))
			if n >= history {
				each(&p, slices.Clone(runs[n-history:]), r)
			}
		}
	}
}

// At most 1 % of nights that are like the others raise a false alarm.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ history, tasks int }{{5, 60}, {5, 700}, {12, 250}} {
		judgedNights, alarms := 0, 0
		byRule := map[string]int{}
		nights(1, 60, 15, c.history, c.tasks, audittest.Unlike{}, func(_ *audittest.Program, runs []measure.Run, _ *rand.Rand) {
			judgedNights++
			n := judged(runs)
			if n.Failing > 0 {
				alarms++
				for _, f := range n.Findings() {
					byRule[f.Rule]++
				}
			}
		})
		t.Logf("%d runs of history, about %d tasks a stage: false alarms on %d of %d nights, by rule %v", c.history, c.tasks, alarms, judgedNights, byRule)
		if alarms*100 > judgedNights {
			t.Errorf("%d runs of history, about %d tasks a stage: false alarms on %d of %d nights, by rule %v", c.history,
				c.tasks, alarms, judgedNights, byRule)
		}
	}
}

// The same holds for nights that differ more: correlated, heavy-tailed, drifting, of mixed sizes, and all of this combined.
// The history of each program is a single draw from such nights, so the share is required of all programs together.
func TestUnlikeNights(t *testing.T) {
	t.Parallel()
	judgedNights, alarms := 0, 0
	for _, c := range []struct {
		name   string
		unlike audittest.Unlike
	}{
		{"correlated", audittest.Unlike{Correlation: 0.8}},
		{"heavy tails", audittest.Unlike{Tails: 3}},
		{"drift", audittest.Unlike{Drift: 0.005}},
		{"mixed sizes", audittest.Unlike{Sizes: 0.3}},
		{"all of it", audittest.Unlike{Correlation: 0.6, Tails: 3, Drift: 0.003, Sizes: 0.2}},
	} {
		for _, history := range []int{8, 30} {
			before, byRule := alarms, map[string]int{}
			nights(3, 6, 12, history, 40, c.unlike, func(_ *audittest.Program, runs []measure.Run, _ *rand.Rand) {
				judgedNights++
				n := judged(runs)
				if n.Failing > 0 {
					alarms++
					for _, f := range n.Findings() {
						byRule[f.Rule]++
					}
				}
			})
			t.Logf("%s, %d runs of history: %d false alarms, by rule %v", c.name, history, alarms-before, byRule)
		}
	}
	t.Logf("false alarms on %d of %d nights", alarms, judgedNights)
	if alarms*100 > judgedNights {
		t.Errorf("false alarms on %d of %d nights", alarms, judgedNights)
	}
}

// A stage whose lost time grows by a fifth is found with five runs of history. The smallest detectable change depends on the
// number of slow tasks: smaller stages are logged, not asserted.
func TestPower(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tasks int
		least float64
	}{{100, 0.05}, {300, 0.4}, {1500, 0.95}} {
		trials, found := 0, 0
		nights(2, 60, 5, 5, c.tasks, audittest.Unlike{}, func(p *audittest.Program, runs []measure.Run, r *rand.Rand) {
			worse := r.IntN(len(p.Stages))
			runs[5] = p.Night(r, 99, worse, 1.2)
			runs[5].Start = "2026-06-01T00:00:00Z"
			trials++
			if slices.ContainsFunc(judged(runs).Findings(), func(f Finding) bool {
				return f.Rule == "stage_lost_time" && f.Status == New && *f.Stage == runs[5].Stages[worse].Signature
			}) {
				found++
			}
		})
		t.Logf("about %d tasks a stage: found %d of %d", c.tasks, found, trials)
		if float64(found) < c.least*float64(trials) {
			t.Errorf("about %d tasks a stage: found %d of %d", c.tasks, found, trials)
		}
	}
}

// assessed returns a night of runs whose assessment reads nothing and so cannot fail.
func assessed(n *Night, err error) *Night {
	if err != nil {
		panic(err)
	}
	return n
}
