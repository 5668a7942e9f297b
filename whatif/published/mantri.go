package published

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

func mantriPaper() Paper {
	return Paper{Name: "MANTRI", Title: "Ananthanarayanan et al., Reining in the Outliers in Map-Reduce Clusters using Mantri, OSDI 2010",
		parts: []part{mantriDeployed, mantriBounds, workConserving, figure9, longestFirst, mantriPhases, mantriPlacement, mantriLosses}}
}

// mantriBounds is §3.1: n equal tasks on s slots take ⌈n/s⌉ · T.
func mantriBounds(ctx context.Context, t *table) error {
	worst := 0.0
	none, err := named("none")
	if err != nil {
		return err
	}
	for n := 1; n <= 40; n++ {
		for s := 1; s <= 7; s++ {
			o, err := play(ctx, build(independent(s, slices.Repeat([]float64{10}, n))), none, 1, 0)
			if err != nil {
				return err
			}
			worst = max(worst, math.Abs(o.mean()-10*math.Ceil(float64(n)/float64(s))))
		}
	}
	t.add("§3.1", "n equal tasks of 10 s on s slots against ⌈n/s⌉ · T, worst difference for n ≤ 40, s ≤ 7 (s)", 0, worst, 0, "replayed")
	return nil
}

// workConserving is the bound of §3.1 for tasks that differ: any order takes at most (Σt)/s + max t.
func workConserving(ctx context.Context, t *table) error {
	r := rand.New(rand.NewPCG(31, 31))
	none, err := named("none")
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
		o, err := play(ctx, build(independent(slots, seconds)), none, 1, 0)
		if err != nil {
			return err
		}
		over := o.mean() / (sum(seconds)/float64(slots) + slices.Max(seconds))
		worst, above = max(worst, over), above+1-better(over, 1+1e-9)
	}
	t.add("§3.1", "random phases, of 300, that take more than the bound (Σt)/s + max t of work-conserving schedules", 0, above, 0,
		fmt.Sprintf("replayed; the worst takes %.3f of it", worst))
	return nil
}

// mantriDeployed is what was measured on a production cluster.
func mantriDeployed(_ context.Context, t *table) error {
	const why = "measured on a production cluster, on jobs of which nothing else is published"
	t.notTried("§6.2", "jobs that occupy the cluster half of the time: completion time off by at least", 0.321, why)
	t.notTried("§6.2", "jobs that use fewer resources with Mantri", 0.55, why)
	t.notTried("§6.2", "four representative jobs: completion time off", 0.25, why)
	t.notTried("§6.2", "four representative jobs: resources off", 0.10, why)
	t.notTried("§6.2", "error of the estimated time left", 0.029, "progress is not in any log here; replays assume an error of 3 %")
	t.notTried("§6.2 table 2", "Group By: completion time of the reduce phase off, mean of ten runs", 0.315, why)
	t.notTried("§6.2 table 2", "Group By: completion time of the job off, mean of ten runs", 0.126, why)
	return nil
}

// independent is one phase on machines of one slot.
func independent(machines int, seconds []float64) *scenario.Cluster {
	c := &scenario.Cluster{Machines: scenario.Uniform(machines, 1), Jobs: []scenario.Job{{Phases: []scenario.Phase{{}}}}}
	for _, s := range seconds {
		c.Jobs[0].Phases[0].Tasks = append(c.Jobs[0].Phases[0].Tasks, scenario.Task{Seconds: s, Bytes: int64(s * 1e6)})
	}
	return c
}

// figure9 is §5.1: seven tasks on two slots, of t and 2t, and one of t that takes 5t. The figure has the outlier start
// at 2t; t = 100 s, so that Mantri's Δ is 10 s, and progress is exact.
func figure9(ctx context.Context, t *table) error {
	const unit = 100.0
	c := independent(2, []float64{2 * unit, unit, unit, unit, unit, 2 * unit, 2 * unit})
	c.Jobs[0].Phases[0].Tasks[3].Luck = 5
	w := build(c)
	run := func(options ...string) (took, outlier float64, err error) {
		p, err := named("mantri", append(options, "longest", "false")...)
		if len(options) == 0 {
			p, err = named("none")
		}
		if err != nil {
			return 0, 0, err
		}
		var s replay.Sim
		out := s.Run(w.Pools[0], replay.Options{Policy: p.New(), Seed: 1, Watch: func(x replay.Span) {
			if x.Task == 3 {
				outlier += (x.End - x.Start).Seconds() / unit
			}
		}})
		return float64(out.Jobs[0].Took) / 1e6 / unit, outlier, ctx.Err()
	}
	baseline, _, err := run()
	if err != nil {
		return err
	}
	duplicate, cost, err := run("restart", "false")
	if err != nil {
		return err
	}
	restart, _, err := run("duplicate", "false")
	if err != nil {
		return err
	}
	const note = "replayed; the order of the normal tasks is read off the text"
	t.add("§5.1 figure 9", "baseline (t)", 7, baseline, 0, note)
	t.add("§5.1 figure 9", "slot time of the outlier when it is duplicated (t)", 3, cost, 0.1, note)
	t.add("§5.1 figure 9", "duplication ends earlier than the baseline (1) or not (0)", 1, better(duplicate, baseline), 0, fmt.Sprintf("ours %.2f t", duplicate))
	t.add("§5.1 figure 9", "restart ends strictly earlier than duplication (1) or not (0)", 1, better(restart, duplicate), 0, fmt.Sprintf("ours %.2f t", restart))
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
		o, err := play(ctx, build(independent(s, seconds)), lpt, 1, 0)
		if err != nil {
			return err
		}
		worst = max(worst, o.mean()/optimum(seconds, s)/(4.0/3-1/(3*float64(s))))
	}
	t.add("§5.4", "longest first over optimal, over the bound 4/3 − 1/(3s): worst of 300 random phases of 2 to 8 tasks", 1, worst, 0.2,
		"replayed against all schedules; must not exceed 1")
	o, err := play(ctx, build(independent(2, []float64{2, 2, 2, 3, 3})), lpt, 1, 0)
	if err != nil {
		return err
	}
	t.add("§5.4", "3, 3, 2, 2, 2 on two slots, longest first over optimal", 7.0/6, o.mean()/6, 0, "the bound is reached")
	return nil
}

// optimum is the least makespan of independent tasks on m slots, by trying every assignment.
func optimum(d []float64, m int) float64 {
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

const phasesNote = "progress is linear and known to 3 %; Hadoop, LATE and Dryad act in the last wave only, and heavy data skew keeps Mantri from NoSkew; 250 phases rebuilt from §3.1 and §4: waves log-normal with median 2.11 and deviation 12.37; share of outliers exponential with 25 % of the phases over 15 %; " +
	"80 % of them 1.5 to 2.5 times, 10 % 10 to 15 times, the rest between; data log-normal with a coefficient of variation of .34 and 3.1 at the 50th and 90th percentile; " +
	"40 % of the phases explained by data alone, 18 % not at all. Assumed: 5 to 40 slots, 60 s a normal task, the rest of the phases both"

// mantriPhase is a phase drawn from the distributions of §3.1 and §4.
func mantriPhase(r *rand.Rand) *scenario.Cluster {
	slots := 5 + r.IntN(36)
	waves := 2.11 * math.Exp(1.36*r.NormFloat64())
	n := min(max(int(waves*float64(slots)+0.5), 2), 2000)
	share := min(r.ExpFloat64()*0.108, 0.5)
	spread := min(0.34*math.Exp(1.725*r.NormFloat64()), 5)
	sigma := math.Sqrt(math.Log(1 + spread*spread))
	kind := r.Float64()
	c := independent(slots, nil)
	for range n {
		t := scenario.Task{Seconds: 60, Bytes: 1 << 30, Luck: 0.9 + 0.2*r.Float64()}
		if kind >= 0.18 { // data explains some of it
			x := math.Exp(sigma*r.NormFloat64() - sigma*sigma/2)
			t.Seconds, t.Bytes = 60*x, int64(x*(1<<30))+1
		}
		if kind < 0.6 && r.Float64() < share {
			switch u := r.Float64(); {
			case u < 0.8:
				t.Luck = 1.5 + r.Float64()
			case u < 0.9:
				t.Luck = 2.5 + 7.5*r.Float64()
			default:
				t.Luck = 10 + 5*r.Float64()
			}
		}
		c.Jobs[0].Phases[0].Tasks = append(c.Jobs[0].Phases[0].Tasks, t)
	}
	return c
}

// reductions are what a policy takes off each phase, with the phase's lifetime for a weight.
type reductions struct {
	time, slots  []weighted
	copies, wins float64
	tasks        float64
}

type weighted struct{ x, w float64 }

// percentile is the weighted q-quantile.
func percentile(v []weighted, q float64) float64 {
	v = slices.Clone(v)
	slices.SortFunc(v, func(a, b weighted) int { return cmp.Compare(a.x, b.x) })
	total := 0.0
	for _, x := range v {
		total += x.w
	}
	sum := 0.0
	for _, x := range v {
		if sum += x.w; sum >= q*total {
			return x.x
		}
	}
	return math.NaN()
}

func mantriPhases(ctx context.Context, t *table) error {
	var phases []*workload.Workload
	r := rand.New(rand.NewPCG(63, 63))
	for range 250 {
		phases = append(phases, build(mantriPhase(r)))
	}
	found := map[string]*reductions{}
	for _, name := range []string{"mantri", "hadoop", "mapreduce", "dryad", "late", "late-early", "noskew", "choptail"} {
		p, err := named(name)
		if err != nil {
			return err
		}
		if found[name], err = reduce(ctx, phases, p); err != nil {
			return err
		}
	}
	m, h := found["mantri"], found["hadoop"]
	row := func(quantity string, published, ours, tolerance float64) {
		t.rebuilt("§6.3", quantity, published, ours, tolerance, phasesNote)
	}
	row("Mantri: completion time off, 50th percentile of phases by lifetime", 0.21, percentile(m.time, 0.5), 0.105)
	row("Mantri: completion time off, 75th percentile", 0.42, percentile(m.time, 0.75), 0.21)
	row("Mantri: resources off, 50th percentile", 0.03, percentile(m.slots, 0.5), 0.03)
	row("Mantri: resources off, 75th percentile", 0.07, percentile(m.slots, 0.75), 0.07)
	row("Hadoop: completion time off, 50th percentile", 0.069, percentile(h.time, 0.5), 0.035)
	row("Hadoop: resources off, 50th percentile (negative: uses more)", -0.159, percentile(h.slots, 0.5), 0.08)
	row("MapReduce: share of phases without gain", 0.8, withoutGain(found["mapreduce"].time), 0.2)
	row("Dryad: share of phases without gain", 0.5, withoutGain(found["dryad"].time), 0.2)
	row("restarts per task: Mantri", 0.2, m.copies/m.tasks, 0.1)
	row("restarts per task: Dryad", 0.2, found["dryad"].copies/found["dryad"].tasks, 0.1)
	row("restarts per task: LATE", 0.06, found["late"].copies/found["late"].tasks, 0.03)
	row("restarts per task: Hadoop", 0.56, h.copies/h.tasks, 0.28)
	row("success of restarts: Mantri", 0.70, m.wins/m.copies, 0.2)
	row("success of restarts: LATE", 0.15, found["late"].wins/found["late"].copies, 0.15)
	row("early LATE is worse than LATE at the 50th percentile (1) or not (0)", 1, better(percentile(found["late-early"].time, 0.5), percentile(found["late"].time, 0.5)), 0)
	row("Mantri less NoSkew at the 50th percentile", 0, percentile(m.time, 0.5)-percentile(found["noskew"].time, 0.5), 0.1)
	row("Mantri is worse than NoSkew+ChopTail at the 50th percentile (1) or not (0)", 1, better(percentile(m.time, 0.5), percentile(found["choptail"].time, 0.5)), 0)
	return nil
}

func withoutGain(v []weighted) float64 {
	none, all := 0.0, 0.0
	for _, x := range v {
		all += x.w
		if x.x <= 1e-9 {
			none += x.w
		}
	}
	return none / all
}

func reduce(ctx context.Context, phases []*workload.Workload, p policy.Policy) (*reductions, error) {
	none, err := named("none")
	if err != nil {
		return nil, err
	}
	out := &reductions{}
	for n, w := range phases {
		before, err := play(ctx, w, none, 1, 0)
		if err != nil {
			return nil, err
		}
		after, err := play(ctx, w, p, int64(n), 0.03)
		if err != nil {
			return nil, err
		}
		out.time = append(out.time, weighted{1 - after.mean()/before.mean(), before.mean()})
		out.slots = append(out.slots, weighted{1 - after.slots/before.slots, before.mean()})
		out.copies += after.copies
		out.wins += after.wins
		out.tasks += float64(w.Pools[0].NumTasks())
	}
	return out, nil
}
