package published

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"straggler/whatif/policy"
	"straggler/whatif/workload"
)

func dollyPaper() Paper {
	return Paper{Name: "DOLLY", Title: "Ananthanarayanan et al., Effective Straggler Mitigation: Attack of the Clones, NSDI 2013",
		parts: []part{dollyFormulas, dollyFacebook, dollyBing, dollyAssignment}}
}

func dollyFormulas(_ context.Context, t *table) error {
	// This number of clones keeps the risk at ε or less, and one fewer does not.
	fits := 0.0
	for n := 1; n <= 500; n++ {
		c := policy.Clones(n, 0.1, 0.05)
		if policy.StraggleTasks(n, c, 0.1) <= 0.05+1e-12 && (c == 1 || policy.StraggleTasks(n, c-1, 0.1) > 0.05) {
			fits++
		}
	}
	t.rule("§3.2", "share of jobs of 1 to 500 tasks to which the formula gives the fewest clones that keep the risk at ε",
		1, fits/500, 0, "p is not in the text; 0.1")
	for _, x := range []struct {
		n    int
		more float64
	}{{10, 0.10}, {20, 0.30}} {
		more := policy.StraggleCAC(x.n, 3, 0.1) - policy.StraggleCC(x.n, 3, 0.1)
		t.rule("§4.2", fmt.Sprintf("CAC over CC with three clones, %d tasks: risk higher by at least (1) or not (0)", x.n), 1, better(x.more, more), 0,
			fmt.Sprintf("published over %.0f points, ours %.1f; p is not in the text; 0.1", 100*x.more, 100*more))
	}
	return nil
}

func dollyFacebook(ctx context.Context, t *table) error { return dollyWorkload(ctx, t, 0) }

func dollyBing(ctx context.Context, t *table) error { return dollyWorkload(ctx, t, 1) }

func dollyWorkload(ctx context.Context, t *table, i int) error {
	x := &traces[i]
	seed := uint64(i) + 1
	s, err := t.straggling(ctx, x, seed, dollyForms[0])
	if err != nil {
		return err
	}
	got, err := t.underLoad(ctx, x.cluster(seed, s, dollyLoad, dollyForms[0]), s.known(), 2, nil, []string{"admission", "preempt"}, []string{"budget", "0.01"})
	if err != nil {
		return err
	}
	note := fmt.Sprintf("at a load of 20 %% and with small jobs of three to ten tasks; %s; ", s) + workloadNote
	t.baseline("§5.4", x.name+": a budget of 1 % gains less than one of 5 % (1) or not (0)", 1, better(got[2].all, got[0].all), 0, "so does first come first served; "+note)
	t.baseline("§5.5", x.name+": gain of preemption less that of admission control", [2]float64{0.01, 0.02}[i], got[1].all-got[0].all, 0.05, "a policy that does nothing has no difference either; "+note)
	t.notTried("§2.1.2", x.name+": blacklisting, the better of windows of 5 min and 1 h: mean completion time off", [2]float64{0.084, 0.062}[i],
		"stragglers are 'spread out uniformly through the cluster': the paper does not say how unevenly they fell on machines, "+
			"which is all that blacklisting uses")
	if i == 0 {
		t.figure("§5.2", "figure 8c: gains of jobs of at most ten tasks, Facebook", "completion time off",
			distribution("Dolly", got[0].each), quantiles("Dolly", 0.5, 0.75, 0.6, 0.9))
	}
	if i == 0 && len(t.arrivals) > 0 {
		if err := t.dollySWIM(ctx, x, seed, s, note); err != nil {
			return err
		}
	}
	return t.dollyBands(ctx, x, seed)
}

// dollyLoads are the least and the greatest load that §2.2's 3 % implies, see workloadNote.
var dollyLoads = [2]float64{0.17, 0.25}

// dollyForms are the jobs of §5.2. Those of at most ten tasks have two phases: for them the delay of delay assignment, which is
// for data that one phase reads from another, is 'crucial to the above improvements' (§5.2). If they had one to ten tasks, no
// share of stragglers would give Facebook's the 49 % of §2.1.1, because those of one or two tasks, one in each phase, gain
// nothing at the median rate. The paper does not say how many they have.
var dollyForms = [2]jobForm{{phases: 2, least: 3}, {phases: 2, least: smallJob}}

// dollyBands computes the numbers of §5.2, §5.4 and §5.5 over what the paper leaves open: the load, the tasks of small jobs,
// and whether an average improvement is one of means.
func (t *table) dollyBands(ctx context.Context, x *trace, seed uint64) error {
	var all, small, less, smallLess, control []float64 // less: with a budget of 3 %; control: admission control less first come first served
	var solutions []string
	for _, form := range dollyForms {
		s, err := t.straggling(ctx, x, seed, form)
		if err != nil {
			return err
		}
		solutions = append(solutions, s.String())
		for _, load := range dollyLoads {
			got, err := t.underLoad(ctx, x.cluster(seed, s, load, form), s.known(), 2, nil, []string{"budget", "0.03"}, []string{"admission", "fcfs"})
			if err != nil {
				return err
			}
			all, small = append(all, got[0].all, got[0].ofMeans), append(small, got[0].small, got[0].smallOfMeans)
			less, smallLess = append(less, got[1].all, got[1].ofMeans), append(smallLess, got[1].small, got[1].smallOfMeans)
			control = append(control, got[0].all-got[2].all, got[0].ofMeans-got[2].ofMeans)
		}
	}
	note := func(v []float64) string {
		return fmt.Sprintf("gains of jobs and of their mean, at loads of 17 and 25 %%: %.2f with small jobs of three to ten tasks (%s), "+
			"%.2f with all of them of ten (%s); ",
			v[:4], solutions[0], v[4:], solutions[1]) + workloadNote
	}
	for _, over := range []string{"LATE", "Mantri"} {
		t.band("§5.2", x.name+": Dolly over "+over, x.gain[over], all, note(all))
		t.band("§5.2", x.name+": Dolly over "+over+", jobs of at most ten tasks", x.smallGain[over], small, note(small))
	}
	if x.gain3 > 0 {
		t.band("§5.4", x.name+": Dolly over LATE with a budget of 3 %", x.gain3, less,
			"here small jobs that arrive together are refused clones, and the paper's lose a 'negligible' part of their gain: "+
				"it does not say how jobs arrive; "+note(less))
	}
	if x.smallGain3 > 0 {
		t.band("§5.4", x.name+": Dolly over LATE with a budget of 3 %, jobs of at most ten tasks", x.smallGain3, smallLess,
			"'the gains still stand at a significant 28%' is read as those of small jobs, of which the sentence before is: "+
				"those of all jobs are 27 % with 5 %; "+note(smallLess))
	}
	t.band("§5.5", x.name+": gain of admission control less that of first come first served", 0.14, control, "'reduces the gains by nearly 14%' is read as points; "+
		"here large jobs that come first take nearly all of the budget, and how jobs arrive is not in the paper; "+note(control))
	return nil
}

// underLoad returns the gains of jobs under Dolly with given parameters, on average over seeds, for each of some options.
func (t *table) underLoad(ctx context.Context, pl *workload.Plan, known []string, seeds int64, options ...[]string) (got []gains, err error) {
	pool, err := pl.Build()
	if err != nil {
		return nil, err
	}
	before, err := unmitigated(ctx, pool)
	if err != nil {
		return nil, err
	}
	for _, o := range options {
		p, err := t.policy("dolly", append(slices.Clone(o), known...)...)
		if err != nil {
			return nil, err
		}
		g, err := tryOver(ctx, pool, before, p, seeds)
		if err != nil {
			return nil, err
		}
		got = append(got, g)
	}
	return got, nil
}

// assignmentScale is what §5.3 leaves open: how many phases jobs have ('maximum of 6'), the share of a task that is reading
// ('only moderate amounts of data'), and the load.
type assignmentScale struct {
	phases         int
	transfer, load float64
}

// assignmentScales have jobs of two phases, and of figure 12's six.
var assignmentScales = []assignmentScale{{2, 0.15, dollyLoads[0]}, {2, 0.5, dollyLoads[1]}, {6, 0.15, dollyLoads[1]}, {6, 0.5, dollyLoads[0]}}

const assignmentNote = "'CAC's gains drop quickly' with phases; the paper says only that jobs have a 'maximum of 6'. " +
	"Each phase of a job has all of the job's tasks, three to ten for small jobs, " +
	"because most jobs of at most ten tasks 'have equal number of tasks in their phases' (§3.2): with ten tasks in six phases, of one or two each, " +
	"no share of stragglers would give the gain of §2.1.1; " +
	"reading takes 35 % longer under contention (§4.3: 32 and 39 %); "

// dollyAssignment is §5.3: the gains of small jobs of the Bing workload under the three ways of assigning intermediate data.
func dollyAssignment(ctx context.Context, t *table) error {
	const seed = 2
	x := &traces[1]
	var cac, cc, delay, apart, six []float64
	note := "band over the phases of a job, the share of their time that tasks of later phases spend reading, the load, " +
		"and whether an average improvement is one of means: "
	above, rarest := 1.0, 1.0
	for _, a := range assignmentScales {
		form := jobForm{phases: a.phases, least: dollyForms[0].least, each: true}
		s, err := t.straggling(ctx, x, seed, form)
		if err != nil {
			return err
		}
		got, err := t.underLoad(ctx, x.cluster(seed, s, a.load, form), append(s.known(), "transfer", fmt.Sprint(a.transfer)), 1,
			[]string{"assignment", "cac"}, []string{"assignment", "cc"}, []string{"assignment", "delay"})
		if err != nil {
			return err
		}
		rarest = min(rarest, s.p)
		note += fmt.Sprintf("%d phases, %.0f %%, load %.2f, %s: ", a.phases, 100*a.transfer, a.load, s)
		for n, of := range []func(gains) float64{func(g gains) float64 { return g.small }, func(g gains) float64 { return g.smallOfMeans }} {
			c, d, e := of(got[0]), of(got[1]), of(got[2])
			note += fmt.Sprintf("%.2f CAC, %.2f CC, %.2f delay%s; ", c, d, e, [2]string{"", ", of means"}[n])
			above = min(above, better(max(c, d), e))
			cac, cc, delay, apart = append(cac, c), append(cc, d), append(delay, e), append(apart, d-c)
			if a.phases == 6 {
				six = append(six, e)
			}
		}
	}
	note += assignmentNote + workloadNote
	t.band("§5.3", "small jobs with CAC over LATE (Bing)", 0.17, cac, cacCause(rarest)+note)
	t.band("§5.3", "small jobs with CC over LATE (Bing)", 0.26, cc, note)
	t.baseline("§5.3", "small jobs with delay assignment over LATE (Bing)", 0.37, mid(delay), 0.09, "this is a number of §5.2, where it counts; "+note)
	t.band("§5.3", "figure 12: delay assignment over LATE, jobs of six phases (Bing)", 0.31, six, note)
	t.band("§5.3", "CC over LATE less CAC over LATE, small jobs (Bing)", 0.09, apart, note)
	t.rebuilt("§5.3", "delay assignment is better than CC and than CAC for small jobs (1) or not (0)", 1, above, 0, "the same over the whole band; "+note)
	return nil
}

// cacCause returns why CAC loses less here, given the least probability of stragglers.
func cacCause(p float64) string {
	more := func(tasks int, p float64) float64 {
		return 100 * (policy.StraggleCAC(tasks, 3, p) - policy.StraggleCC(tasks, 3, p))
	}
	return fmt.Sprintf("CAC loses by upstream clones that straggle, and few do here: "+
		"with three clones of ten tasks its risk is %.1f points above CC's at p = %.3f. "+
		"§4.2's 'over 10%% and 30%%', of 10 and 20 tasks, are %.0f and %.0f at p = 0.08; the paper does not give p; ",
		more(smallJob, p), p, more(10, 0.08), more(20, 0.08))
}

// mid returns the middle of the range of some values.
func mid(v []float64) float64 { return (slices.Min(v) + slices.Max(v)) / 2 }

// trace is one of the two clusters of the paper.
type trace struct {
	name       string
	small      float64            // share of jobs of at most ten tasks (§2.2)
	smallest90 float64            // share of the resources that the smallest 90 % of the jobs use (§2.2)
	deployed   string             // the mitigation deployed in its cluster; its stragglers are those that remained (§2)
	gain       map[string]float64 // published gains over both, all jobs
	smallGain  map[string]float64 // of jobs of at most ten tasks
	gain3      float64            // over LATE with a budget of 3 %, all jobs (§5.4); 0: not in the text
	smallGain3 float64            // the same of jobs of at most ten tasks
	ideal      float64            // gain when no task is slower than the median rate (§2.1.1), all jobs
	idealSmall float64
}

var traces = []trace{
	{"Facebook", 0.82, 0.06, "LATE", map[string]float64{"LATE": 0.42, "Mantri": 0.40}, map[string]float64{"LATE": 0.46, "Mantri": 0.44}, 0.38, 0, 0.47, 0.49},
	{"Bing", 0.61, 0.11, "Mantri", map[string]float64{"LATE": 0.27, "Mantri": 0.23}, map[string]float64{"LATE": 0.37, "Mantri": 0.34}, 0, 0.28, 0.29, 0.38},
}

const (
	dollySlots = 150 * 12 // §5.1
	dollyJobs  = 400
	dollyTask  = 30.0 // s

	dollyLoad = 0.2 // see workloadNote
)

const workloadNote = "LATE and Mantri share one result, because what they leave is 'similar' (§2.1, footnote 2). " +
	"Stragglers are those of §2.1, left by LATE in Facebook's trace and by Mantri in Bing's (§2): " +
	"2 to 12 times slower (the slowdown ratio of small jobs is 6 to 8), " +
	"with the probability with which small jobs would gain at the median rate what §2.1.1 says. " +
	"Those of large jobs are as likely but less slow (speculation 'effectively mitigates stragglers in large jobs'), " +
	"so that all jobs would gain what it says. " +
	"The share of jobs of at most ten tasks is §2.2's; " +
	"the others follow a power law whose exponent gives the smallest 90 % of the jobs their share of the resources. " +
	"Dolly knows the probability of stragglers. Assumed: 400 jobs under fair sharing, at most a tenth of the slots for a job, " +
	"two phases if nothing else is said, 30 s a task, " +
	"and a load of 17 to 25 % ('cloning each of the smallest 90% three times increases overall utilization by merely 3%', and they have 6 % of it)"

// jobForm is the number of phases of the jobs, the fewest tasks that one has, and whether each phase has all of them.
type jobForm struct {
	phases, least int
	each          bool
}

// tasks returns how many of the n tasks of a job a phase has. If not each has all, they are divided as evenly as possible
// ('over 91% of the jobs with ≤ 10 tasks have equal number of tasks in their phases', §3.2), but no phase is empty.
func (f jobForm) tasks(n, phase int) int {
	if f.each {
		return n
	}
	return max((n+f.phases-1-phase)/f.phases, 1)
}

// smallJob is the largest number of tasks of a small job: 'jobs with ≤ 10 tasks' (§2.2).
const smallJob = 10

// straggling is the distribution of stragglers: with some probability, tasks of small jobs are 2 to 12 times slower, and those
// of large jobs are slowed by a part of that.
type straggling struct{ p, large float64 }

func (s straggling) String() string {
	return fmt.Sprintf("solved: %.3f of the tasks straggle, those of large jobs %.2f of 2 to 12 times", s.p, s.large)
}

// known gives Dolly the true probability. An estimate from all tasks would be dominated by the large jobs, nearly all of whose
// stragglers are less than twice as slow as the median here, and so are not stragglers by §2.1.2.
func (s straggling) known() []string { return []string{"p", fmt.Sprint(s.p), "period", "1e9"} }

// straggling returns the distribution of stragglers in a trace whose jobs have the given number of phases.
func (t *table) straggling(ctx context.Context, x *trace, seed uint64, form jobForm) (straggling, error) {
	return solved(t.solved, fmt.Sprint("stragglers of ", x.name, seed, form), func() (straggling, error) { return x.solve(ctx, seed, form) })
}

// solve finds the distribution of stragglers: first the probability, from what small jobs would gain at the median rate, then
// how much less the tasks of large jobs are slowed, from what all jobs would gain.
func (x *trace) solve(ctx context.Context, seed uint64, form jobForm) (s straggling, err error) {
	ideal, err := named("medianrate")
	if err != nil {
		return s, err
	}
	at := func(s straggling, among func(workload.PlanJob) bool) (gains, error) {
		pl := x.cluster(seed, s, dollyLoad, form)
		pl.Jobs = slices.DeleteFunc(pl.Jobs, func(j workload.PlanJob) bool { return !among(j) })
		pool, err := pl.Build()
		if err != nil {
			return gains{}, err
		}
		return try(ctx, pool, ideal, 1)
	}
	s.p, err = rootOf(0.4, func(p float64) (float64, error) {
		g, err := at(straggling{p: p}, isSmall) // at this load they hardly wait for others, which would only take time
		return g.small - x.idealSmall, err
	})
	if err != nil {
		return s, err
	}
	s.large, err = rootOf(1, func(large float64) (float64, error) {
		g, err := at(straggling{p: s.p, large: large}, func(workload.PlanJob) bool { return true })
		return g.all - x.ideal, err
	})
	return s, err
}

func isSmall(j workload.PlanJob) bool { return j.Name == "small" }

// rootOf returns a value between 0 and high at which a rising difference of gains is within 0.001 of nothing, or the last one
// tried, by the Illinois variant of regula falsi. The first guess takes the difference for −1 at 0 and for 1 at high.
func rootOf(high float64, f func(float64) (float64, error)) (root float64, err error) {
	low, atLow, atHigh, last := 0.0, -1.0, 1.0, 0.0
	for range 9 {
		root = (low*atHigh - high*atLow) / (atHigh - atLow)
		y, err := f(root)
		if err != nil || math.Abs(y) < 0.001 {
			return root, err
		}
		if y > 0 {
			if high, atHigh = root, y; last > 0 { // the same end moved twice
				atLow /= 2
			}
		} else {
			if low, atLow = root, y; last < 0 {
				atHigh /= 2
			}
		}
		last = y
	}
	return root, nil
}

// gains are the gains of jobs: the means of the jobs' own gains, and the gain of the mean completion times.
type gains struct {
	all, small, ofMeans, smallOfMeans float64
	each                              []weighted // of small jobs
}

// try returns the gains of a policy over none.
func try(ctx context.Context, pool *workload.Pool, p policy.Policy, seeds int64) (gains, error) {
	before, err := unmitigated(ctx, pool)
	if err != nil {
		return gains{}, err
	}
	return tryOver(ctx, pool, before, p, seeds)
}

// unmitigated returns the result of a pool without a policy, which is the same for all seeds.
func unmitigated(ctx context.Context, pool *workload.Pool) (*outcome, error) {
	none, err := named("none")
	if err != nil {
		return nil, err
	}
	return play(ctx, pool, "fair", none, 0, 0, false)
}

// tryOver returns the gains of a policy over the result of the pool without any.
func tryOver(ctx context.Context, pool *workload.Pool, before *outcome, p policy.Policy, seeds int64) (gains, error) {
	var sum gains
	for seed := range seeds {
		after := before
		if p.Name != "none" {
			var err error
			if after, err = play(ctx, pool, "fair", p, seed, 0, false); err != nil {
				return sum, err
			}
		}
		g := gainOf(pool, before.jobs, after.jobs)
		sum.all, sum.small = sum.all+g.all/float64(seeds), sum.small+g.small/float64(seeds)
		sum.each = append(sum.each, g.each...)
		sum.ofMeans, sum.smallOfMeans = sum.ofMeans+g.ofMeans/float64(seeds), sum.smallOfMeans+g.smallOfMeans/float64(seeds)
	}
	return sum, nil
}

func gainOf(pool *workload.Pool, before, after []float64) (g gains) {
	var n, k, b, a, sb, sa float64
	for j := range before {
		gain := 1 - after[j]/before[j]
		n, g.all, b, a = n+1, g.all+gain, b+before[j], a+after[j]
		if pool.JobName(j) == "small" {
			g.each = append(g.each, weighted{gain, 1})
			k, g.small, sb, sa = k+1, g.small+gain, sb+before[j], sa+after[j]
		}
	}
	return gains{g.all / n, g.small / k, 1 - a/b, 1 - sa/sb, g.each}
}

// cluster draws the cluster and the jobs, at a load.
func (x *trace) cluster(seed uint64, s straggling, load float64, form jobForm) *workload.Plan {
	r := rand.New(rand.NewPCG(seed, 13))
	pl := &workload.Plan{}
	for range dollySlots / 12 {
		pl.Machines = append(pl.Machines, workload.PlanMachine{Slots: [workload.Classes]int{12, 0}})
	}
	work := 0.0
	for _, n := range x.sizes(r, dollyJobs, form.least) {
		j := workload.PlanJob{Name: "large", Limit: dollySlots / 10}
		if n <= smallJob {
			j.Name = "small"
		}
		for p := range form.phases {
			j.Phases = append(j.Phases, workload.PlanPhase{Kind: "map"})
			if p > 0 {
				j.Phases[p] = workload.PlanPhase{Kind: "reduce", After: []int{p - 1}}
			}
			for range form.tasks(n, p) {
				t := workload.PlanTask{Seconds: dollyTask * (0.9 + 0.2*r.Float64()), Bytes: 64 << 20, Luck: 1}
				if u, slower := r.Float64(), 1+10*r.Float64(); u < s.p {
					if n > smallJob {
						slower *= s.large
					}
					t.Luck += slower
				}
				work += t.Seconds * t.Luck
				j.Phases[p].Tasks = append(j.Phases[p].Tasks, t)
			}
		}
		pl.Jobs = append(pl.Jobs, j)
	}
	between, now := work/(dollySlots*load)/dollyJobs, 0.0
	for j := range pl.Jobs {
		pl.Jobs[j].Arrival = now
		now += between * r.ExpFloat64()
	}
	return pl
}

// sizes draws the numbers of tasks of n jobs: small ones uniformly from the least to ten, the others from a power law whose
// exponent is solved for, so that the smallest 90 % of the jobs have their share of all tasks. One job is drawn from each n-th
// part of the distribution, so that the share of small jobs is exactly the paper's.
func (x *trace) sizes(r *rand.Rand, n, least int) []int {
	u := make([]float64, n)
	for i := range u {
		u[i] = (float64(i) + r.Float64()) / float64(n)
	}
	r.Shuffle(n, func(i, j int) { u[i], u[j] = u[j], u[i] })
	draw := func(alpha float64) []int {
		out := make([]int, n)
		for i, v := range u {
			if v < x.small {
				out[i] = least + int(v/x.small*float64(smallJob+1-least))
				continue
			}
			rest := (1 - v) / (1 - x.small)
			out[i] = min(int(11*math.Pow(rest, -1/alpha)), 6000)
		}
		return out
	}
	low, high := 0.2, 5.0 // a heavier tail leaves less for the small jobs
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
	sorted := slices.Sorted(slices.Values(sizes))
	part, all := 0.0, 0.0
	for i, s := range sorted {
		all += float64(s)
		if i < len(sorted)*9/10 {
			part += float64(s)
		}
	}
	return part / all
}
