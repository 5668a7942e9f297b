package published

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"straggler/whatif/policy"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

func dollyPaper() Paper {
	return Paper{Name: "DOLLY", Title: "Ananthanarayanan et al., Effective Straggler Mitigation: Attack of the Clones, NSDI 2013",
		parts: []part{dollyFormulas, dollyFacebook, dollyBing, dollyAssignment}}
}

func dollyFormulas(_ context.Context, t *table) error {
	const note = "p is not in the text; 0.1 assumed"
	t.add("§3.2", "risk that a job of 10 tasks straggles with the clones that the formula gives, at most ε", 0.05,
		policy.StraggleTasks(10, policy.Clones(10, 0.1, 0.05), 0.1), 0.05, note)
	for _, x := range []struct {
		n    int
		more float64
	}{{10, 0.10}, {20, 0.30}} {
		more := policy.StraggleCAC(x.n, 3, 0.1) - policy.StraggleCC(x.n, 3, 0.1)
		t.add("§4.2", fmt.Sprintf("CAC over CC with three clones, %d tasks: risk higher by at least (1) or not (0)", x.n), 1, better(x.more, more), 0,
			fmt.Sprintf("published over %.0f points, ours %.1f; %s", 100*x.more, 100*more, note))
	}
	return nil
}

// trace is one of the two clusters of the paper.
type trace struct {
	name        string
	small       float64 // share of jobs of at most ten tasks (§2.2)
	smallest90  float64 // share of the resources that the smallest 90 % of the jobs use (§2.2)
	clones      [2]float64
	smallClones [2]float64 // published gains over LATE and Mantri
	ideal       float64    // gain when no task is slower than the median rate (§2.1.1): gives the probability of a straggler
	idealSmall  float64
	// blacklisting is its best gain (§2.1.2).
	blacklisting float64
}

var traces = []trace{
	{"Facebook", 0.82, 0.06, [2]float64{0.42, 0.40}, [2]float64{0.46, 0.44}, 0.47, 0.49, 0.084},
	{"Bing", 0.61, 0.11, [2]float64{0.27, 0.23}, [2]float64{0.37, 0.34}, 0.29, 0.38, 0.062},
}

const workloadNote = "clones are refused when many small jobs run at once, which depends on the load and the arrivals, and these are not in the paper; rebuilt from §2: share of jobs of at most ten tasks; a power law above, whose exponent gives the smallest 90 % their share of the resources; " +
	"stragglers 2 to 12 times slower (slowdown ratio of small jobs 6 to 8 with LATE or Mantri in effect, which therefore is the baseline), with the probability that makes the gain of the median rate what §2.1.1 says. " +
	"Assumed: 400 jobs on 150 machines × 12 slots at 40 % load, at most a tenth of them to a job, two equal phases, 30 s a task"

// sizes draws the tasks per phase of n jobs: small ones evenly from 1 to 10, the others from a power law whose exponent
// is solved for, so that the smallest 90 % of the jobs have their share of all tasks.
func (x *trace) sizes(r *rand.Rand, n int) []int {
	u := make([]float64, n)
	for i := range u {
		u[i] = r.Float64()
	}
	draw := func(alpha float64) []int {
		out := make([]int, n)
		for i, v := range u {
			if v < x.small {
				out[i] = 1 + int(v/x.small*10)
				continue
			}
			rest := (1 - v) / (1 - x.small)
			out[i] = min(int(11*math.Pow(rest, -1/alpha)), 6000)
		}
		return out
	}
	low, high := 0.2, 5.0 // a heavier tail leaves less to the small jobs
	for range 40 {
		if mid := (low + high) / 2; shareOfSmallest(draw(mid)) > x.smallest90 {
			high = mid
		} else {
			low = mid
		}
	}
	return draw((low + high) / 2)
}

func shareOfSmallest(sizes []int) float64 {
	v := make([]weighted, len(sizes))
	total := 0.0
	for i, s := range sizes {
		v[i] = weighted{float64(s), 1}
		total += float64(s)
	}
	limit, sum := percentile(v, 0.9), 0.0
	for _, s := range v {
		if s.x <= limit {
			sum += s.x
		}
	}
	return sum / total
}

func (x *trace) cluster(seed uint64, straggler float64) *scenario.Cluster {
	r := rand.New(rand.NewPCG(seed, 13))
	c := &scenario.Cluster{Machines: scenario.Uniform(150, 12)}
	sizes := x.sizes(r, 400)
	work := 0.0
	for _, n := range sizes {
		j := scenario.Job{Limit: 180, Phases: []scenario.Phase{{Kind: "map"}, {Kind: "reduce", After: []int{0}}}}
		for p := range j.Phases {
			for range n {
				t := scenario.Task{Seconds: 30 * (0.9 + 0.2*r.Float64()), Bytes: 64 << 20}
				if u, luck := r.Float64(), 2+10*r.Float64(); u < straggler {
					t.Luck = luck
				}
				work += t.Seconds * max(t.Luck, 1)
				j.Phases[p].Tasks = append(j.Phases[p].Tasks, t)
			}
		}
		c.Jobs = append(c.Jobs, j)
	}
	between := work / (150 * 12 * 0.4) / float64(len(c.Jobs))
	now := 0.0
	for j := range c.Jobs {
		c.Jobs[j].Arrival = now
		now += between * r.ExpFloat64()
	}
	return c
}

// means are the mean completion times of all jobs and of the small ones.
func means(w *workload.Workload, jobs []float64) (all, small float64) {
	n, k := 0, 0
	for _, p := range w.Pools {
		for j := range p.NumJobs() {
			all += jobs[n]
			if p.JobTasks(j) <= 20 { // ten tasks in each of two phases
				small += jobs[n]
				k++
			}
			n++
		}
	}
	return all / float64(n), small / float64(k)
}

// straggling solves for the probability of a straggler that makes the gain of the median rate what §2.1.1 says.
func (x *trace) straggling(ctx context.Context, seed uint64) (p float64, err error) {
	none, err := named("none")
	if err != nil {
		return 0, err
	}
	ideal, err := named("medianrate")
	if err != nil {
		return 0, err
	}
	low, high := 0.0, 0.4
	for range 8 {
		p = (low + high) / 2
		w := build(x.cluster(seed, p))
		before, err := play(ctx, w, none, 1, 0)
		if err != nil {
			return 0, err
		}
		after, err := play(ctx, w, ideal, 1, 0)
		if err != nil {
			return 0, err
		}
		if 1-after.mean()/before.mean() < x.ideal {
			low = p
		} else {
			high = p
		}
	}
	return p, nil
}

func dollyFacebook(ctx context.Context, t *table) error { return dollyWorkload(ctx, t, 0) }
func dollyBing(ctx context.Context, t *table) error     { return dollyWorkload(ctx, t, 1) }

func dollyWorkload(ctx context.Context, t *table, i int) error {
	x := &traces[i]
	seed := uint64(i) + 1
	p, err := x.straggling(ctx, seed)
	if err != nil {
		return err
	}
	w := build(x.cluster(seed, p))
	var all, small [9]float64
	variants := [9][]string{{"none"}, {"medianrate"}, {"dolly"}, {"dolly", "admission", "preempt"}, {"dolly", "admission", "fcfs"},
		{"dolly", "budget", "0.03"}, {"dolly", "budget", "0.01"}, {"blacklist"}, {"blacklist", "window", "3600"}}
	for n, v := range variants {
		pol, err := named(v[0], v[1:]...)
		if err != nil {
			return err
		}
		const seeds = 2
		for s := range int64(seeds) {
			o, err := play(ctx, w, pol, s, 0)
			if err != nil {
				return err
			}
			a, b := means(w, o.jobs)
			all[n], small[n] = all[n]+a/seeds, small[n]+b/seeds
		}
	}
	gain := func(n int) float64 { return 1 - all[n]/all[0] }
	row := func(section, quantity string, published, ours, tolerance float64) {
		t.rebuilt(section, x.name+": "+quantity, published, ours, tolerance, workloadNote)
	}
	row("§2.1.1", "no task slower than the median rate: mean completion time off, jobs of at most ten tasks", x.idealSmall, 1-small[1]/small[0], x.idealSmall/2)
	t.rebuilt("§2.1.2", x.name+": blacklisting, the better of windows of 5 min and 1 h: mean completion time off", x.blacklisting, max(gain(7), gain(8)), x.blacklisting/2,
		"in the paper stragglers are 'spread out uniformly through the cluster', and in the rebuilt one no machine is worse than another, so that there is nothing to be gained; the paper's own gain is what is left of bad machines in its trace. "+workloadNote)
	row("§5.2", "Dolly over LATE: mean completion time off", x.clones[0], gain(2), x.clones[0]/2)
	row("§5.2", "Dolly over Mantri", x.clones[1], gain(2), x.clones[1]/2)
	row("§5.2", "Dolly over LATE, jobs of at most ten tasks", x.smallClones[0], 1-small[2]/small[0], x.smallClones[0]/2)
	row("§5.2", "Dolly over Mantri, jobs of at most ten tasks", x.smallClones[1], 1-small[2]/small[0], x.smallClones[1]/2)
	if i == 0 {
		row("§5.4", "Dolly over LATE with a budget of 3 %", 0.38, gain(5), 0.19)
	}
	row("§5.4", "a budget of 1 % gains less than one of 5 % (1) or not (0)", 1, better(gain(6), gain(2)), 0)
	row("§5.5", "gain of preemption less that of admission control", [2]float64{0.01, 0.02}[i], gain(3)-gain(2), 0.05)
	row("§5.5", "gain of admission control less that of first come first served", 0.14, gain(2)-gain(4), 0.14)
	return nil
}

const assignmentNote = "LATE never acts within a minute, so it is a weak baseline for tasks of 30 s; Monte Carlo of two phases of 8 tasks of 30 s with 3 clones; p = 0.1, stragglers 2 to 12 times slower, others ±10 %. Assumed: reading is 30 % of a downstream task, and takes 35 % longer under contention (§4.3: 32 and 39 % at median); LATE copies a task after a minute"

// assignment is a job of two phases whose tasks are cloned.
type assignment struct {
	*rand.Rand
	tasks, clones      int
	p, normal          float64
	read, slower, wait float64 // share of a downstream task that is reading, contention, ω
}

// task draws how long an attempt takes.
func (a *assignment) task() float64 {
	d := a.normal * (0.9 + 0.2*a.Float64())
	if a.Float64() < a.p {
		d *= 2 + 10*a.Float64()
	}
	return d
}

// late is how long the job takes under LATE: a copy after a minute, of the task's own.
func (a *assignment) late() float64 {
	took := 0.0
	for range 2 {
		phase := 0.0
		for range a.tasks {
			phase = max(phase, min(a.task(), 60+a.task()))
		}
		took += phase
	}
	return took
}

// upstream draws when the clones of each upstream task end, in order.
func (a *assignment) upstream() [][]float64 {
	up := make([][]float64, a.tasks)
	for i := range up {
		for range a.clones {
			up[i] = append(up[i], a.task())
		}
		slices.Sort(up[i])
	}
	return up
}

// job is how long the job takes when clone k of every downstream task may begin at ready(k) and finds a share of its
// inputs under contention.
func (a *assignment) job(ready func(k int) (at, contended float64)) float64 {
	took := 0.0
	for range a.tasks {
		first := math.Inf(1)
		for k := range a.clones {
			at, contended := ready(k)
			first = min(first, at+a.task()*(1+a.read*a.slower*contended))
		}
		took = max(took, first)
	}
	return took
}

// dollyAssignment is §5.3: what small jobs gain under the three ways of assigning intermediate data.
func dollyAssignment(_ context.Context, t *table) error {
	a := &assignment{Rand: rand.New(rand.NewPCG(53, 53)), tasks: 8, clones: 3, p: 0.1, normal: 30, read: 0.3, slower: 0.35}
	gaps := make([]float64, 2000)
	for i := range gaps {
		gaps[i] = math.Abs(a.task() - a.task())
	}
	a.wait = policy.BestWait(gaps, a.read*a.normal, 1/(1+a.slower))
	var late, cac, cc, delay float64
	for range 20000 {
		late += a.late()
		up := a.upstream()
		last := func(k int) float64 { // the k-th clones of all upstream tasks have ended
			at := 0.0
			for i := range up {
				at = max(at, up[i][k])
			}
			return at
		}
		cac += a.job(func(k int) (float64, float64) { return last(k), 0 })
		first := last(0)
		cc += a.job(func(int) (float64, float64) { return first, 1 })
		delay += a.job(func(k int) (at, contended float64) {
			for i := range up {
				gap := up[i][k] - up[i][0]
				at = max(at, up[i][0]+min(gap, a.wait))
				if gap > a.wait {
					contended += 1 / float64(a.tasks)
				}
			}
			return at, contended
		})
	}
	for _, x := range []struct {
		name            string
		published, ours float64
	}{{"CAC", 0.17, 1 - cac/late}, {"CC", 0.26, 1 - cc/late}, {"delay assignment", 0.37, 1 - delay/late}} {
		t.rebuilt("§5.3", "small jobs with "+x.name+" over LATE (Bing)", x.published, x.ours, x.published/2, assignmentNote)
	}
	t.rebuilt("§5.3", "delay assignment is better than CC, and CC than CAC, for small jobs (1) or not (0)", 1,
		better(delay, cc)*better(cc, cac), 0, assignmentNote)
	t.rebuilt("§5.2", "ω for small jobs (s)", 3.6, a.wait, 1.1, "published 2.5 to 4.7 s; "+assignmentNote)
	return nil
}
