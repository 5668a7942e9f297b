package published

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

func mantriPaper() Paper {
	return Paper{Name: "MANTRI", Title: "Ananthanarayanan et al., Reining in the Outliers in Map-Reduce Clusters using Mantri, OSDI 2010",
		parts: []part{mantriDeployed, mantriBounds, workConserving, figure9, longestFirst, mantriPhases, mantriPlacement, mantriLosses}}
}

// mantriBounds is §3.1: n equal tasks on s slots take ⌈n/s⌉ · T.
func mantriBounds(ctx context.Context, t *table) error {
	worst := 0.0
	none, err := t.policy("none")
	if err != nil {
		return err
	}
	for n := 1; n <= 40; n++ {
		for s := 1; s <= 7; s++ {
			o, err := playAlone(ctx, independent(s, slices.Repeat([]float64{10}, n)), none)
			if err != nil {
				return err
			}
			worst = max(worst, math.Abs(o.mean()-10*math.Ceil(float64(n)/float64(s))))
		}
	}
	t.rule("§3.1", "n equal tasks of 10 s on s slots against ⌈n/s⌉ · T, worst difference for n ≤ 40, s ≤ 7 (s)", 0, worst, 0, "Replayed.")
	return nil
}

// workConserving is the bound of §3.1 for tasks that differ: any order takes at most (Σt)/s + max t.
func workConserving(ctx context.Context, t *table) error {
	r := rand.New(rand.NewPCG(31, 31))
	none, err := t.policy("none")
	if err != nil {
		return err
	}
	worst, above := 0.0, 0.0
	for range 300 {
		slots := 1 + r.IntN(8)
		seconds := make([]float64, 1+r.IntN(60))
		for i := range seconds {
			seconds[i] = 10 * math.Exp(1.5*r.NormFloat64())
		}
		o, err := playAlone(ctx, independent(slots, seconds), none)
		if err != nil {
			return err
		}
		over := o.mean() / (sum(seconds)/float64(slots) + slices.Max(seconds))
		worst, above = max(worst, over), above+1-better(over, 1+1e-9)
	}
	t.rule("§3.1", "random phases, of 300, that take more than the bound (Σt)/s + max t of work-conserving schedules", 0, above, 0,
		fmt.Sprintf("Replayed; the worst takes %.3f of it.", worst))
	return nil
}

// mantriDeployed has the measurements of a production cluster.
func mantriDeployed(_ context.Context, t *table) error {
	const why = "Measured on a production cluster with jobs about which nothing else is published."
	t.notTried("§6.2", "jobs that occupy the cluster half of the time: completion time off by at least", 0.321, why)
	t.notTried("§6.2", "jobs that use fewer resources with Mantri", 0.55, why)
	t.notTried("§6.2", "four representative jobs: completion time off", 0.25, why)
	t.notTried("§6.2", "four representative jobs: resources off", 0.10, why)
	t.notTried("§6.2", "error of the estimated time left", 0.029, "No log here has progress reports; replays assume an error of 3 %.")
	t.notTried("§6.2 table 2", "Group By: completion time of the reduce phase off, mean of ten runs", 0.315, why)
	t.notTried("§6.2 table 2", "Group By: completion time of the job off, mean of ten runs", 0.126, why)
	return nil
}

// independent returns one phase on machines with one slot.
func independent(machines int, seconds []float64) *workload.Plan {
	pl := &workload.Plan{Jobs: []workload.PlanJob{{Phases: []workload.PlanPhase{{}}}}}
	for range machines {
		pl.Machines = append(pl.Machines, workload.PlanMachine{Slots: [workload.Classes]int{1, 0}})
	}
	for _, s := range seconds {
		pl.Jobs[0].Phases[0].Tasks = append(pl.Jobs[0].Phases[0].Tasks, workload.PlanTask{Seconds: s, Bytes: int64(s * 1e6)})
	}
	return pl
}

// playAlone replays a plan whose jobs are served first come first served.
func playAlone(ctx context.Context, pl *workload.Plan, p policy.Policy) (*outcome, error) {
	pool, err := pl.Build()
	if err != nil {
		return nil, err
	}
	return play(ctx, pool, "fifo", p, 1, 0, false)
}

// figure9 is §5.1: seven tasks on two slots, of t and 2t, and one of t that takes 5t. In the figure the outlier starts at 2t; t
// = 100 s, so Mantri's Δ is 10 s, and progress is exact.
func figure9(ctx context.Context, t *table) error {
	const unit = 100.0
	c := independent(2, []float64{2 * unit, unit, unit, unit, unit, 2 * unit, 2 * unit})
	c.Jobs[0].Phases[0].Tasks[3].Luck = 5
	pool, err := c.Build()
	if err != nil {
		return err
	}
	run := func(name string, options ...string) (took, outlier float64, err error) {
		p, err := t.policy(name, options...)
		if err != nil {
			return 0, 0, err
		}
		o, err := play(ctx, pool, "fifo", p, 1, 0, true)
		if err != nil {
			return 0, 0, err
		}
		for _, x := range o.spans {
			if x.Task == 3 {
				outlier += (x.End - x.Start).Seconds() / unit
			}
		}
		return o.jobs[0] / unit, outlier, nil
	}
	baseline, _, err := run("none")
	if err != nil {
		return err
	}
	duplicate, cost, err := run("mantri", "restart", "false", "longest", "false")
	if err != nil {
		return err
	}
	restart, _, err := run("mantri", "duplicate", "false", "longest", "false")
	if err != nil {
		return err
	}
	const note = "Replayed; the order of the normal tasks follows the text."
	t.baseline("§5.1 figure 9", "baseline (t)", 7, baseline, 0, note)
	t.replayed("§5.1 figure 9", "slot time of the outlier when it is duplicated (t)", 3, cost, 0.1, note)
	t.replayed("§5.1 figure 9", "duplication ends earlier than the baseline (1) or not (0)", 1, better(duplicate, baseline), 0, fmt.Sprintf("Ours %.2f t.", duplicate))
	t.replayed("§5.1 figure 9", "restart ends strictly earlier than duplication (1) or not (0)", 1, better(restart, duplicate), 0, fmt.Sprintf("Ours %.2f t.", restart))
	return nil
}

// longest launches the longest task first and does nothing else.
type longest struct{}

func (longest) Look(_ *replay.View, do *replay.Actions) replay.Again {
	do.LongestFirst()
	return replay.Again{}
}

// longestFirst is §5.4: within 4/3 − 1/(3s) of optimal; 3, 3, 2, 2, 2 on two slots reaches it.
func longestFirst(ctx context.Context, t *table) error {
	r := rand.New(rand.NewPCG(54, 54))
	worst := 0.0
	lpt := policy.Own("longest", func() replay.Policy { return longest{} })
	for range 300 {
		s := 2 + r.IntN(2)
		seconds := make([]float64, 2+r.IntN(7))
		for i := range seconds {
			seconds[i] = float64(1 + r.IntN(20))
		}
		o, err := playAlone(ctx, independent(s, seconds), lpt)
		if err != nil {
			return err
		}
		worst = max(worst, o.mean()/Optimum(seconds, s)/(4.0/3-1/(3*float64(s))))
	}
	t.rule("§5.4", "longest first over optimal, over the bound 4/3 − 1/(3s): worst of 300 random phases of 2 to 8 tasks", 1, worst, 0.2,
		"Replayed against all schedules; must not exceed 1.")
	o, err := playAlone(ctx, independent(2, []float64{2, 2, 2, 3, 3}), lpt)
	if err != nil {
		return err
	}
	t.rule("§5.4", "3, 3, 2, 2, 2 on two slots, longest first over optimal", 7.0/6, o.mean()/6, 0, "The bound is reached.")
	return nil
}

// Optimum returns the least makespan of independent tasks on m slots, by trying every assignment.
func Optimum(d []float64, m int) float64 {
	best := math.Inf(1)
	load := make([]float64, m)
	var try func(i int)
	try = func(i int) {
		if i == len(d) {
			best = min(best, slices.Max(load))
			return
		}
		for k := range load {
			if load[k]+d[i] < best {
				load[k] += d[i]
				try(i + 1)
				load[k] -= d[i]
			}
		}
	}
	try(0)
	return best
}
