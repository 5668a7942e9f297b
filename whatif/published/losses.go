package published

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"straggler/whatif/workload"
)

const (
	lossRacks  = 25
	lossJobs   = 100
	lossLearnt = lossJobs / 3 // jobs that only teach how likely a machine is to lose outputs
	phaseHours = 27.3         // Table 1: 670 years over 215 400 phases
)

const lossesNote = "1000 machines of one slot at half load. Jobs have as many tasks as Bing's (Dolly §2.2), at most 1000; " +
	"their phases run one after the other, and the number of phases is log-normal with median 8 (§3.2) and mean 16 (Table 1). " +
	"Tasks per slot, outliers and skew are as in §6.3. A phase takes 27.3 h of computing and reads 8.6 MB/s (Table 1). " +
	"Half of the losses are on 5 % of the machines (§4.2), as many as give recomputations to 0.75 to 1.25 % of the phases if possible (§4.1: 1 %). " +
	"Assumed: a phase notices at its start which inputs are lost; the first third of the jobs only teaches the machines' loss rates; " +
	"copies take no bandwidth."

// lossScale is what the paper leaves open: how losses cluster on a machine, a bad time being a number of instants within some
// hours at each of which the machine loses a share of the outputs it holds; and the size of a task's output as a share of its
// input.
type lossScale struct {
	share    float64
	instants int
	hours    float64
	output   float64 // as a share of a task's input
	phase    *phaseScale
}

var lossScales = []lossScale{{0.02, 5, 0.2, 0.05, &phaseScales[mixedScale]}, {1, 1, 0, 0.005, &phaseScales[alikeScale]}, {0.9, 40, 20, 0.05, &phaseScales[alikeScale]}, {0.9, 40, 20, 0.005, &phaseScales[mixedScale]}}

func (x lossScale) String() string {
	text := fmt.Sprintf("%.0f %% of the outputs on a machine are lost at each of %d instants within %g h, "+
		"outputs are %g %% of inputs", 100*x.share, x.instants, x.hours, 100*x.output)
	if x.phase.alike {
		text += ", the outliers of a phase are alike"
	}
	return text
}

// badTime is a machine and the time when it loses outputs.
type badTime struct {
	machine int
	at      float64
}

// badTimes draws the given number over a span of time.
func badTimes(r *rand.Rand, n int, span float64) (bad []badTime) {
	const machines = lossRacks * rackServers
	for range n {
		m := r.IntN(machines / 20)
		if r.Float64() < 0.5 {
			m = machines/20 + r.IntN(machines-machines/20)
		}
		bad = append(bad, badTime{m, span * r.Float64()})
	}
	return bad
}

// plan returns the cluster and the jobs, without losses.
func (x lossScale) plan() *workload.Plan {
	r := rand.New(rand.NewPCG(65, 65))
	pl := &workload.Plan{}
	for m := range lossRacks * rackServers {
		pl.Machines = append(pl.Machines, workload.PlanMachine{Rack: int32(m / rackServers), Slots: [workload.Classes]int{1, 0}})
	}
	work, phases := make([]float64, lossJobs), 0
	bing := &traces[1]
	for n, size := range append(bing.sizes(r, lossLearnt, 1), bing.sizes(r, lossJobs-lossLearnt, 1)...) {
		size = min(size, lossRacks*rackServers)
		j := workload.PlanJob{Limit: max(int(float64(size)/waves(r)+0.5), 1)}
		for i := range min(max(int(8*math.Exp(1.18*r.NormFloat64())+0.5), 2), 150) {
			one := workload.PlanPhase{Tasks: x.phase.tasks(r, size)}
			if i > 0 {
				one.After = []int{i - 1}
			}
			for k := range one.Tasks {
				work[n] += one.Tasks[k].Seconds * one.Tasks[k].Luck
			}
			j.Phases = append(j.Phases, one)
		}
		phases += len(j.Phases)
		pl.Jobs = append(pl.Jobs, j)
	}
	longer := phaseHours * 3600 * float64(phases) / sum(work)
	for n := range pl.Jobs {
		for i := range pl.Jobs[n].Phases {
			for k := range pl.Jobs[n].Phases[i].Tasks {
				t := &pl.Jobs[n].Phases[i].Tasks[k]
				t.Seconds *= longer
				t.Bytes = int64(8.6e6 * t.Seconds)
				t.Output = int64(x.output * float64(t.Bytes))
			}
		}
		if n > 0 { // the work of a job takes twice the cluster's time until the next one arrives
			pl.Jobs[n].Arrival = pl.Jobs[n-1].Arrival + longer*work[n-1]/(lossRacks*rackServers)/0.5
		}
	}
	return pl
}

// losing returns the pool of a plan whose machines have bad times.
func (x lossScale) losing(pl *workload.Plan, bad []badTime) (*workload.Pool, error) {
	q := *pl
	q.Machines = slices.Clone(pl.Machines)
	for _, b := range bad {
		for k := range x.instants {
			q.Machines[b.machine].Losses = append(q.Machines[b.machine].Losses, workload.PlanLoss{At: b.at + 3600*x.hours*float64(k)/float64(x.instants), Share: x.share})
		}
	}
	return q.Build()
}

// remade returns the share of a pool's phases with recomputed outputs.
func remade(pool *workload.Pool, o *outcome) float64 {
	seen := map[int32]bool{}
	for n := range o.spans {
		if o.spans[n].Number > 0 {
			seen[o.spans[n].Phase] = true
		}
	}
	return float64(len(seen)) / float64(len(pool.Phases))
}

// held returns the share of a pool's phases whose tasks waited for recomputed data.
func held(pool *workload.Pool, o *outcome) float64 {
	n := 0.0
	for j := range o.losses {
		n += float64(o.losses[j].Held)
	}
	return n / float64(len(pool.Phases))
}

// lost is the result for a scale; a share of nothing is NaN.
type lost struct {
	runtime, all            float64 // reductions without run-time outliers, and without these and losses, median by work
	eliminated              float64 // for the median job that has any
	byCopy, byEarly         float64 // parts of that, over all jobs
	used, usedEarly, second float64
	off50, off75, beyond    float64 // reductions by protection, and the further reduction without losses
	most50, most75          float64 // reductions without losses
	waited                  float64 // share of phases that waited for recomputed data
	phases                  float64
	bad                     int
}

// mantriLosses is figure 7 and §6.5.
func mantriLosses(ctx context.Context, t *table) error {
	var got []lost
	note := "The band is over how losses cluster on a machine, how large outputs are, and whether the outliers of a phase are alike: "
	for n, x := range lossScales {
		l, err := t.losses(ctx, x.plan(), x, uint64(n))
		if err != nil {
			return err
		}
		got = append(got, l)
		note += fmt.Sprintf("%s, %d such times, recomputations in %.1f %% of the phases, and all tasks of %.1f %% wait for them; ",
			x, l.bad, 100*l.phases, 100*l.waited)
	}
	t.assume(lossesNote, strings.TrimSuffix(note, "; ")+" ('two out of a thousand phases have over 50% of their tasks waiting', §4.1).")
	low, high := got[0], got[0]
	for _, l := range got[1:] {
		low.most50, low.most75 = min(low.most50, l.most50), min(low.most75, l.most75)
		high.most50, high.most75 = max(high.most50, l.most50), max(high.most75, l.most75)
	}
	shortly := fmt.Sprintf(" No protection can take off more than the losses cost, "+
		"which is %.2f to %.2f at the 50th percentile and %.2f to %.2f at the 75th, since about 1 %% of the phases see recomputations (§4.1). "+
		"The paper does not say how jobs of which 99 %% of the phases see none lose 20 and 40 %%.", low.most50, high.most50, low.most75, high.most75)
	const (
		ends = " Here nearly every phase of a large job ends with an outlier of figure 2; the paper does not say how many phases end without one. " +
			"Not modelled: edges that are no barrier, as 53 % are not (§3.2)."
		rarely = " Outputs are small beside the time to make them, so P(loss) · t_redo > t_rep holds where one in some hundred outputs is lost, " +
			"and most replicas are never needed. 84 % would need machines that are known to lose nearly all of their outputs."
	)
	for _, row := range []struct {
		section, quantity string
		published         float64
		of                func(*lost) float64
		cause             string
	}{
		{"§4.3 figure 7", "without run-time outliers: completion time of jobs off, median by work", 0.15, func(l *lost) float64 { return l.runtime }, ends},
		{"§4.3 figure 7", "without run-time outliers and losses", 0.34, func(l *lost) float64 { return l.all }, ends},
		{"§6.5", "recomputations eliminated, median job", 0.78, func(l *lost) float64 { return l.eliminated }, ""},
		{"§6.5", "part of that by replication", 0.66, func(l *lost) float64 { return l.byCopy }, ""},
		{"§6.5", "part of that by pre-computation", 0.33, func(l *lost) float64 { return l.byEarly }, ""},
		{"§6.5", "replicas that are used", 0.84, func(l *lost) float64 { return l.used }, rarely},
		{"§6.5", "pre-computations that are used, on the first recomputation", 0.76, func(l *lost) float64 { return l.usedEarly }, ""},
		{"§6.5", "pre-computations that are used, on the second", 0.93, func(l *lost) float64 { return l.second }, ""},
		{"§6.5", "protection: completion time of jobs off, 50th percentile by work", 0.20, func(l *lost) float64 { return l.off50 }, shortly},
		{"§6.5", "protection: completion time of jobs off, 75th percentile", 0.40, func(l *lost) float64 { return l.off75 }, shortly},
		{"§6.5 figure 19", "what no loss at all would take off more than protection, 50th percentile", 0, func(l *lost) float64 { return l.beyond }, ""},
	} {
		var ours []float64
		for n := range got {
			ours = append(ours, row.of(&got[n]))
		}
		widest := row.published
		if widest == 0 { // this is a difference in the reduction by protection
			widest = 0.20
		}
		t.bandOf(row.section, row.quantity, row.published, widest, ours, "By scale: "+listed(ours)+"."+row.cause)
	}
	return nil
}

// unprotected is a pool with losses, and how long its jobs take: in it, in one without losses, and in both without run-time
// outliers.
type unprotected struct {
	pool                    *workload.Pool
	bad                     int
	phases, waited          float64 // shares of the phases with recomputed outputs, and of those that waited for such
	jobs, ideal, even, best []float64
}

// unprotected finds the number of bad times, and computes the results that protection is compared with.
func (x lossScale) unprotected(ctx context.Context, pl *workload.Plan, seed uint64) (*unprotected, error) {
	none, err := named("none")
	if err != nil {
		return nil, err
	}
	runtime, err := named("no-high-runtime")
	if err != nil {
		return nil, err
	}
	whole, err := pl.Build()
	if err != nil {
		return nil, err
	}
	ideal, err := play(ctx, whole, "fair", none, 1, 0, true)
	if err != nil {
		return nil, err
	}
	span := 0.0
	for _, s := range ideal.spans {
		span = max(span, s.End.Seconds())
	}
	u := &unprotected{ideal: ideal.jobs}
	bad := badTimes(rand.New(rand.NewPCG(seed, 66)), 512, span)
	low, high := 1, len(bad)
	for low < high { // until 1 ± 0.25 % of the phases see recomputations: the paper's 99 % that see none are rounded
		u.bad = (low + high) / 2
		if u.pool, err = x.losing(pl, bad[:u.bad]); err != nil {
			return nil, err
		}
		without, err := play(ctx, u.pool, "fair", none, 1, 0, true)
		if err != nil {
			return nil, err
		}
		u.jobs, u.waited = without.jobs, held(u.pool, without)
		if u.phases = remade(u.pool, without); math.Abs(u.phases-0.01) < 0.0025 {
			break
		} else if u.phases > 0.01 {
			high = u.bad
		} else {
			low = u.bad + 1
		}
	}
	even, err := play(ctx, u.pool, "fair", runtime, 1, 0, false)
	if err != nil {
		return nil, err
	}
	best, err := play(ctx, whole, "fair", runtime, 1, 0, false)
	if err != nil {
		return nil, err
	}
	u.even, u.best = even.jobs, best.jobs
	return u, nil
}

// losses replays the jobs with losses, with and without protection.
func (t *table) losses(ctx context.Context, pl *workload.Plan, x lossScale, seed uint64) (l lost, err error) {
	u, err := solved(t.solved, fmt.Sprintf("losses %d %+v %+v", seed, x, *x.phase), func() (*unprotected, error) { return x.unprotected(ctx, pl, seed) })
	if err != nil {
		return l, err
	}
	l.bad, l.phases, l.waited = u.bad, u.phases, u.waited
	run := func(options ...string) (*outcome, error) {
		p, err := t.policy("protect", options...)
		if err != nil {
			return nil, err
		}
		return play(ctx, u.pool, "fair", p, 1, 0, false)
	}
	protected, err := run()
	if err != nil {
		return l, err
	}
	second, err := run("onset", "2", "within", "600")
	if err != nil {
		return l, err
	}
	off := func(jobs []float64) (v []weighted) {
		for j := lossLearnt; j < lossJobs; j++ {
			v = append(v, weighted{1 - jobs[j]/u.jobs[j], float64(u.pool.Jobs[j].TaskCount)})
		}
		return v
	}
	l.runtime, l.all = percentile(off(u.even), 0.5), percentile(off(u.best), 0.5)
	l.off50, l.off75 = percentile(off(protected.jobs), 0.5), percentile(off(protected.jobs), 0.75)
	l.most50, l.most75 = percentile(off(u.ideal), 0.5), percentile(off(u.ideal), 0.75)
	l.beyond = l.most50 - l.off50
	var jobs []weighted
	var gone, copied, copyUsed, early, earlyUsed, early2, earlyUsed2 float64
	for j := lossLearnt; j < lossJobs; j++ {
		y := &protected.losses[j]
		gone, copied, copyUsed = gone+float64(y.Gone), copied+float64(y.Copied), copyUsed+float64(y.CopyUsed)
		early, earlyUsed = early+float64(y.Early), earlyUsed+float64(y.EarlyUsed)
		early2, earlyUsed2 = early2+float64(second.losses[j].Early), earlyUsed2+float64(second.losses[j].EarlyUsed)
		if y.Gone > 0 {
			jobs = append(jobs, weighted{1 - float64(y.Waited)/float64(y.Gone), 1})
		}
	}
	l.eliminated = percentile(jobs, 0.5)
	l.byCopy, l.byEarly = copyUsed/(copyUsed+earlyUsed), earlyUsed/(copyUsed+earlyUsed)
	l.used, l.usedEarly, l.second = copyUsed/copied, earlyUsed/early, earlyUsed2/early2
	return l, nil
}
