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
	t.rule("§3.1", "n equal tasks of 10 s on s slots against ⌈n/s⌉ · T, worst difference for n ≤ 40, s ≤ 7 (s)", 0, worst, 0, "replayed")
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

// playAlone replays a plan whose jobs come first come first served.
func playAlone(ctx context.Context, pl *workload.Plan, p policy.Policy) (*outcome, error) {
	pool, err := pl.Build()
	if err != nil {
		return nil, err
	}
	return play(ctx, pool, "fifo", p, 1, 0, false)
}

// figure9 is §5.1: seven tasks on two slots, of t and 2t, and one of t that takes 5t. The figure has the outlier start
// at 2t; t = 100 s, so that Mantri's Δ is 10 s, and progress is exact.
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
	const note = "replayed; the order of the normal tasks is read off the text"
	t.baseline("§5.1 figure 9", "baseline (t)", 7, baseline, 0, note)
	t.replayed("§5.1 figure 9", "slot time of the outlier when it is duplicated (t)", 3, cost, 0.1, note)
	t.replayed("§5.1 figure 9", "duplication ends earlier than the baseline (1) or not (0)", 1, better(duplicate, baseline), 0, fmt.Sprintf("ours %.2f t", duplicate))
	t.replayed("§5.1 figure 9", "restart ends strictly earlier than duplication (1) or not (0)", 1, better(restart, duplicate), 0, fmt.Sprintf("ours %.2f t", restart))
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
		worst = max(worst, o.mean()/optimum(seconds, s)/(4.0/3-1/(3*float64(s))))
	}
	t.rule("§5.4", "longest first over optimal, over the bound 4/3 − 1/(3s): worst of 300 random phases of 2 to 8 tasks", 1, worst, 0.2,
		"replayed against all schedules; must not exceed 1")
	o, err := playAlone(ctx, independent(2, []float64{2, 2, 2, 3, 3}), lpt)
	if err != nil {
		return err
	}
	t.rule("§5.4", "3, 3, 2, 2, 2 on two slots, longest first over optimal", 7.0/6, o.mean()/6, 0, "the bound is reached")
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

const phasesNote = "progress is linear and known to 3 %; 250 phases rebuilt from §3.1 and §4: waves log-normal with median 2.11 and deviation 12.37; share of outliers exponential with 25 % of the phases over 15 %; " +
	"80 % of them 1.5 to 2.5 times, 10 % 10 to 15 times, the rest between; each has one cause: in 40 % of the phases its data, in 18 % none that data explains, in the rest one or the other. Assumed: 5 to 40 slots, 60 s a normal task, within 10 % of each other; " +
	"Hadoop, LATE and Dryad act in the last wave only"

// mantriPhase is a phase drawn from the distributions of §3.1 and §4.
func mantriPhase(r *rand.Rand) *workload.Plan {
	slots := 5 + r.IntN(36)
	waves := 2.11 * math.Exp(1.36*r.NormFloat64())
	n := min(max(int(waves*float64(slots)+0.5), 2), 2000)
	share := min(r.ExpFloat64()*0.108, 0.5) // 25 % of them are over 0.15
	skewed := 0.5                           // outliers that have more data
	switch kind := r.Float64(); {
	case kind < 0.4:
		skewed = 1
	case kind < 0.58:
		skewed = 0
	}
	pl := independent(slots, nil)
	for range n {
		t := workload.PlanTask{Seconds: 60, Bytes: 1 << 30, Luck: 0.9 + 0.2*r.Float64()}
		if r.Float64() < share {
			times := 1.5 + r.Float64()
			switch u := r.Float64(); {
			case u >= 0.9:
				times = 10 + 5*r.Float64()
			case u >= 0.8:
				times = 2.5 + 7.5*r.Float64()
			}
			if r.Float64() < skewed {
				t.Seconds, t.Bytes = t.Seconds*times, int64(float64(t.Bytes)*times)
			} else {
				t.Luck = times
			}
		}
		pl.Jobs[0].Phases[0].Tasks = append(pl.Jobs[0].Phases[0].Tasks, t)
	}
	return pl
}

// reductions are what a policy takes off each phase, with the phase's lifetime for a weight.
type reductions struct {
	time, slots []weighted
	copies      []weighted // restarts per task
	all, wins   float64
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
	var phases []*workload.Pool
	r := rand.New(rand.NewPCG(63, 63))
	for range 250 {
		pool, err := mantriPhase(r).Build()
		if err != nil {
			return err
		}
		phases = append(phases, pool)
	}
	found := map[string]*reductions{}
	for _, name := range []string{"mantri", "hadoop", "mapreduce", "dryad", "late", "late-early", "noskew", "choptail"} {
		choose := t.policy
		if name == "noskew" || name == "choptail" { // what a policy is held against
			choose = named
		}
		p, err := choose(name)
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
	row("Mantri: completion time off, 50th percentile of phases by lifetime", 0.21, percentile(m.time, 0.5), 0.0525)
	row("Mantri: completion time off, 75th percentile", 0.42, percentile(m.time, 0.75), 0.105)
	row("Mantri: resources off, 50th percentile", 0.03, percentile(m.slots, 0.5), 0.015)
	row("Mantri: resources off, 75th percentile", 0.07, percentile(m.slots, 0.75), 0.03)
	row("Hadoop: completion time off, 50th percentile", 0.069, percentile(h.time, 0.5), 0.035)
	row("Hadoop: resources off, 50th percentile (negative: uses more)", -0.159, percentile(h.slots, 0.5), 0.04)
	row("MapReduce: share of phases without gain", 0.8, withoutGain(found["mapreduce"].time), 0.15)
	row("Dryad: share of phases without gain", 0.5, withoutGain(found["dryad"].time), 0.125)
	row("restarts per task, average phase: Mantri", 0.2, mean(m.copies), 0.05)
	row("restarts per task, average phase: Dryad", 0.2, mean(found["dryad"].copies), 0.05)
	row("restarts per task, average phase: LATE", 0.06, mean(found["late"].copies), 0.02)
	row("restarts per task, average phase: Hadoop", 0.56, mean(h.copies), 0.14)
	row("success of restarts: Mantri", 0.70, m.wins/m.all, 0.175)
	row("success of restarts: LATE", 0.15, found["late"].wins/found["late"].all, 0.03)
	row("early LATE is worse than LATE at the 50th percentile (1) or not (0)", 1, better(percentile(found["late-early"].time, 0.5), percentile(found["late"].time, 0.5)), 0)
	row("Mantri less NoSkew at the 50th percentile", 0, percentile(m.time, 0.5)-percentile(found["noskew"].time, 0.5), 0.1)
	curve := func(name, policy string) Curve { return distribution(name, found[policy].time) }
	const off = "completion time off, phases weighted by their lifetime"
	t.figure("§6.3", "figure 14a: strategies of straggler mitigation", off, curve("Mantri", "mantri"), curve("Hadoop", "hadoop"), curve("Dryad", "dryad"), curve("MapReduce", "mapreduce"), curve("LATE", "late"),
		quantiles("Mantri", 0.21, 0.5, 0.42, 0.75), quantiles("Hadoop", 0.069, 0.5), quantiles("Dryad", 0, 0.5), quantiles("MapReduce", 0, 0.8))
	t.figure("§6.3", "figure 14b: resources", "resources off, phases weighted by their lifetime", distribution("Mantri", m.slots), distribution("Hadoop", h.slots), distribution("Dryad", found["dryad"].slots),
		quantiles("Mantri", 0.03, 0.5, 0.07, 0.75), quantiles("Hadoop", -0.159, 0.5))
	t.figure("§6.3", "figure 16: ideal references", off, curve("Mantri", "mantri"), curve("NoSkew", "noskew"), curve("NoSkew and ChopTail", "choptail"))
	t.baseline("§6.3", "Mantri is worse than NoSkew+ChopTail at the 50th percentile (1) or not (0)", 1, better(percentile(m.time, 0.5), percentile(found["choptail"].time, 0.5)), 0,
		"so is everything that does less; "+phasesNote)
	return nil
}

// mean is the plain average.
func mean(v []weighted) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x.x
	}
	return sum / float64(len(v))
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

func reduce(ctx context.Context, phases []*workload.Pool, p policy.Policy) (*reductions, error) {
	none, err := named("none")
	if err != nil {
		return nil, err
	}
	out := &reductions{}
	for n, pool := range phases {
		before, err := play(ctx, pool, "fifo", none, 1, 0, false)
		if err != nil {
			return nil, err
		}
		after, err := play(ctx, pool, "fifo", p, int64(n), 0.03, false)
		if err != nil {
			return nil, err
		}
		out.time = append(out.time, weighted{1 - after.mean()/before.mean(), before.mean()})
		out.slots = append(out.slots, weighted{1 - after.slots/before.slots, before.mean()})
		out.copies = append(out.copies, weighted{after.copies / float64(pool.NumTasks()), before.mean()})
		out.all += after.copies
		out.wins += after.wins
	}
	return out, nil
}

// mantriLosses is figure 7 and §6.5.
func mantriLosses(_ context.Context, t *table) error {
	const often = "how often machines lose outputs while these are read, how losses gather on machines, and how large outputs are is not in the paper; " +
		"each of them moves the number over its whole range"
	t.notTried("§4.3 figure 7", "without run-time outliers: completion time of jobs off, median by work", 0.15, often)
	t.notTried("§4.3 figure 7", "without run-time outliers and losses", 0.34, often)
	t.notTried("§6.5", "recomputations eliminated, median job", 0.78, often)
	t.notTried("§6.5", "part of that by replication", 0.66, often)
	t.notTried("§6.5", "part of that by pre-computation", 0.33, often)
	t.notTried("§6.5", "replicas that are used", 0.84, often)
	t.notTried("§6.5", "pre-computations that are used, on the first recomputation", 0.76, often)
	t.notTried("§6.5", "pre-computations that are used, on the second", 0.93, often)
	t.notTried("§6.5", "protection: completion time of jobs off, 50th percentile by work", 0.20, often)
	t.notTried("§6.5", "protection: completion time of jobs off, 75th percentile", 0.40, often)
	t.notTried("§6.5 figure 19", "what no loss at all would take off more than protection, 50th percentile", 0, often)
	return nil
}
