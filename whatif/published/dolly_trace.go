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

// The traces of Dolly: their clusters, jobs and stragglers, and the gains of their jobs under a policy.

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

// workloadNote says how the workloads are rebuilt. The slowdown ratio of small jobs is 6 to 8 (§2.1.1), which is about the middle
// of 2 to 12; speculation 'effectively mitigates stragglers in large jobs'. Cloning 'each of the smallest 90% three times increases
// overall utilization by merely 3%' (§2.2), which gives the load, because these jobs use 6 % of the resources.
const workloadNote = "LATE and Mantri share one result, because what they leave is 'similar' (§2.1, footnote 2). " +
	"Stragglers are 2 to 12 times slower, and as likely that small jobs would gain at the median rate what §2.1.1 says; " +
	"those of large jobs are less slow, so that all jobs would. " +
	"Small jobs, of at most ten tasks, are as many as in §2.2; the sizes of the others follow a power law " +
	"that gives the smallest 90 % of the jobs their share of the resources. Dolly knows the probability of stragglers. " +
	"Assumed: 400 jobs under fair sharing, at most a tenth of the slots for a job, two phases, and 30 s a task."

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
	return fmt.Sprintf("solved: p = %.3f, large jobs %.2f of the slowdown", s.p, s.large)
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
		return gainsUnder(ctx, pool, ideal, 1)
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

// gainsUnder returns the gains of a policy over none.
func gainsUnder(ctx context.Context, pool *workload.Pool, p policy.Policy, seeds int64) (gains, error) {
	before, err := unmitigated(ctx, pool)
	if err != nil {
		return gains{}, err
	}
	return gainsOver(ctx, pool, before, p, seeds)
}

// unmitigated returns the result of a pool without a policy, which is the same for all seeds.
func unmitigated(ctx context.Context, pool *workload.Pool) (*outcome, error) {
	none, err := named("none")
	if err != nil {
		return nil, err
	}
	return play(ctx, pool, "fair", none, 0, 0, false)
}

// gainsOver returns the gains of a policy over the result of the pool without any.
func gainsOver(ctx context.Context, pool *workload.Pool, before *outcome, p policy.Policy, seeds int64) (gains, error) {
	var sum gains
	for seed := range seeds {
		after := before
		if p.Name != "none" {
			var err error
			if after, err = play(ctx, pool, "fair", p, seed, 0, false); err != nil {
				return sum, err
			}
		}
		g := gainsOfJobs(pool, before.jobs, after.jobs)
		sum.all, sum.small = sum.all+g.all/float64(seeds), sum.small+g.small/float64(seeds)
		sum.each = append(sum.each, g.each...)
		sum.ofMeans, sum.smallOfMeans = sum.ofMeans+g.ofMeans/float64(seeds), sum.smallOfMeans+g.smallOfMeans/float64(seeds)
	}
	return sum, nil
}

func gainsOfJobs(pool *workload.Pool, before, after []float64) (g gains) {
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
