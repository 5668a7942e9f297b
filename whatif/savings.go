package whatif

import (
	"math"
	"slices"

	"straggler/schema"
	"straggler/stats"
	"straggler/whatif/replay"
)

// Interval is a mean over seeds with a 95 % prediction interval; NaN if unknown.
type Interval struct{ Mean, Low, High float64 }

// moments are the count, sum and sum of squares of a sample.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) {
	m.n++
	m.sum += x
	m.squares += x * x
}

// interval95 returns a mean with the prediction interval of one more value of a sample: ± t(0.975, n−1) · sd · √(1 + 1/n) (Hahn
// and Meeker 1991, section 4.7). More seeds make it more precise, but not narrower than the spread of the sample. A sample of
// equal values has an interval without width. With a single value the limits are NaN, unless it is fixed, meaning that another
// run would give the same. The quantile is student(n): it takes longer than all else, and many samples are of the same size.
func (m *moments) interval95(mean float64, fixed bool, quantile float64) Interval {
	switch {
	case m.n == 0:
		return Interval{math.NaN(), math.NaN(), math.NaN()}
	case m.n == 1 && !fixed:
		return Interval{mean, math.NaN(), math.NaN()}
	}
	half := quantile * math.Sqrt(m.variance()*(1+1/m.n))
	return Interval{mean, mean - half, mean + half}
}

// atMost limits an interval from above: no job saves more than the time it takes.
func (i Interval) atMost(seconds float64) Interval {
	i.High = min(i.High, seconds) // NaN stays
	return i
}

// variance returns the variance of the sample, or 0 if values differ only by rounding.
func (m *moments) variance() float64 {
	deviations := m.squares - m.sum/m.n*m.sum
	if m.n == 1 || deviations <= 1e-12*m.squares {
		return 0
	}
	return deviations / (m.n - 1)
}

// student returns the 0.975-quantile of Student's t with the degrees of freedom of a sample of n values.
func student(n float64) float64 { return stats.Student{DF: max(n-1, 1)}.Quantile(0.975) }

// difference returns the mean of a − b, paired by seed, with its 95 % confidence interval (Student's paired t-test): what both
// have in common cancels, and the question is about the mean over all uncertainties. With one pair the limits are NaN.
func difference(a, b []float64) Interval {
	var m moments
	for n := range a {
		m.add(a[n] - b[n])
	}
	mean := m.sum / m.n
	if m.n == 1 {
		return Interval{mean, math.NaN(), math.NaN()}
	}
	half := student(m.n) * math.Sqrt(m.variance()/m.n)
	return Interval{mean, mean - half, mean + half}
}

// Times are the completion times of jobs, in seconds.
type Times struct {
	Mean, Median, P75, P95 float64
}

func timesOf(s []float64) Times {
	if len(s) == 0 {
		return Times{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	}
	slices.Sort(s)
	sum := 0.0
	for _, x := range s {
		sum += x
	}
	return Times{sum / float64(len(s)), at(s, 0.5), at(s, 0.75), at(s, 0.95)}
}

// at returns the q-quantile of a sorted sample, interpolated between order statistics.
func at(sorted []float64, q float64) float64 {
	x := q * float64(len(sorted)-1)
	i := int(x)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (x-float64(i))*(sorted[i+1]-sorted[i])
}

// Group is the effect of a variant on a set of jobs. Counts and slot times are means over the seeds.
type Group struct {
	Jobs          int
	Before, After Times    // completion times; After uses each job's mean over the seeds
	Saving        Interval // seconds, summed over the jobs; in another run
	ThisRun       Interval // the same in this run
	Share         float64  // of the replayed completion times
	SlotChange    float64  // of the slot time
	Copies        float64
	Wins          float64
	Kills         float64
	WasteS        float64
}

// JobSaving is the effect of a variant on one job.
type JobSaving struct {
	Saving     Interval // seconds; in another run
	ThisRun    Interval // in this run
	Share      float64
	SlotChange float64
	Copies     float64 // mean over the seeds
	WasteS     float64
	Idle       bool // the policy changed nothing in it
}

// Result is the effect of a variant.
type Result struct {
	Variant
	All   Group
	Small Group      // jobs of at most ten tasks, as DOLLY counts them
	Best  schema.Key // the job that gains most; 0: none
	saved []float64  // by seed: seconds that all jobs save in another run
}

// smallJob is the most tasks of a small job (DOLLY §2).
const smallJob = 10

// total adds up the effect of a variant over the batches of a workload.
type total struct {
	groups [2]groupTotal // all, small
	best   schema.Key
	most   float64 // seconds that the best job saves
}

// groupTotal is the total for a set of jobs.
type groupTotal struct {
	sum                      float64   // seconds saved, over the seeds
	other                    []float64 // by seed: seconds saved in another run
	same                     []float64 // and in this run
	varies                   bool      // another run would save something else
	before, after            []float64 // by job: completion times
	copies, wins, kills      float64
	waste, slots, slotsPlain float64
}

// merge adds the effect on another batch.
func (t *total) merge(o *total) {
	for g := range t.groups {
		t.groups[g].merge(&o.groups[g])
	}
	if o.most > t.most {
		t.best, t.most = o.best, o.most
	}
}

func (q *groupTotal) merge(o *groupTotal) {
	if q.other == nil {
		q.other, q.same = make([]float64, len(o.other)), make([]float64, len(o.other))
	}
	for n := range o.other {
		q.other[n] += o.other[n]
		q.same[n] += o.same[n]
	}
	q.varies = q.varies || o.varies
	q.before, q.after = append(q.before, o.before...), append(q.after, o.after...)
	for _, x := range [...]struct{ to, from *float64 }{
		{&q.sum, &o.sum}, {&q.copies, &o.copies}, {&q.wins, &o.wins}, {&q.kills, &o.kills}, {&q.waste, &o.waste},
		{&q.slots, &o.slots}, {&q.slotsPlain, &o.slotsPlain},
	} {
		*x.to += *x.from
	}
}

func (t *total) result(v Variant) Result {
	return Result{Variant: v, All: t.groups[0].group(), Small: t.groups[1].group(), Best: t.best, saved: t.groups[0].other}
}

func (q *groupTotal) group() Group {
	n := float64(len(q.other))
	quantile := student(n)
	var other, same moments
	for k := range q.other {
		other.add(q.other[k])
		same.add(q.same[k])
	}
	plain := 0.0
	for _, b := range q.before {
		plain += b
	}
	jobs := len(q.before)
	return Group{
		Jobs: jobs, Before: timesOf(q.before), After: timesOf(q.after),
		Saving:  other.interval95(q.sum/n, !q.varies, quantile).atMost(plain),
		ThisRun: same.interval95(q.sum/n, !q.varies, quantile).atMost(plain),
		Share:   ratio(q.sum/n, plain), SlotChange: ratio(q.slots, q.slotsPlain) - 1,
		Copies: q.copies / n, Wins: q.wins / n, Kills: q.kills / n, WasteS: q.waste / n,
	}
}

// The saving of a job has two intervals, both of one more value of a sample over the seeds n (interval95):
//
//	this run:    s(n) = T − P(n)
//	another run: y(n) = T − P(n)·(1 + a(n))
//
// T is the time that the log's attempts take in a replay without the policy, P(n) with it, under the random numbers n: durations
// of copies, and what the log leaves uncertain of the work and the machines. Whatever else happened to the attempts is the same
// in T and P(n) and cancels (common random numbers; Law 2015, section 11.2). a(n) is by how much longer another run takes, as a
// share, including the error of the simulator; so the second is wider, and can contain 0 where the first does not: the policy
// helps, but by less than runs differ by themselves. All in seconds. The first supposes that the simulator is right; the replay
// error of the log without a policy says how far that holds.

// tally adds up the units of one variant over one workload.
type tally struct {
	c      *comparison
	total  *total
	exact  bool      // savings are of the log itself under an ideal, not of another run
	seeds  int       // so far
	sum    []float64 // by job: seconds saved
	spread []moments // the same in other runs
	same   []moments // in this run
	varies []bool    // another run would save something else
	after  []float64 // completion time
	slots  []float64
	copies []float64
	waste  []float64
	small  []bool
}

func newTally(c *comparison, v Variant, to *total) *tally {
	t := &tally{c: c, total: to, exact: v.Ideal, spread: make([]moments, c.jobs), same: make([]moments, c.jobs), varies: make([]bool, c.jobs)}
	for _, v := range []*[]float64{&t.sum, &t.after, &t.slots, &t.copies, &t.waste} {
		*v = make([]float64, c.jobs)
	}
	t.small = make([]bool, 0, c.jobs)
	for _, p := range c.w.Pools {
		for j := range p.NumJobs() {
			t.small = append(t.small, p.JobTasks(j) <= smallJob)
		}
	}
	for g := range to.groups {
		if q := &to.groups[g]; q.other == nil {
			q.other, q.same = make([]float64, c.o.Seeds), make([]float64, c.o.Seeds)
		}
	}
	return t
}

func (t *tally) add(u *unit) {
	t.seeds++
	for j := range u.jobs {
		if t.c.other(j) {
			continue
		}
		o, plain := &u.jobs[j], &t.c.none[j]
		s := float64(plain.Took-o.Took) / 1e6
		y, varies := t.another(u.number, j, o)
		t.sum[j] += s
		t.varies[j] = t.varies[j] || varies
		t.spread[j].add(y)
		t.same[j].add(s)
		t.after[j] += float64(o.Took) / 1e6
		t.slots[j] += float64(o.Slots) / 1e6
		t.copies[j] += float64(o.Copies)
		t.waste[j] += float64(o.Waste) / 1e6
		for g := range t.total.groups {
			if g == 1 && !t.small[j] {
				continue
			}
			q := &t.total.groups[g]
			q.sum += s
			q.other[u.number] += y
			q.same[u.number] += s
			q.varies = q.varies || varies
			q.copies += float64(o.Copies)
			q.wins += float64(o.Wins)
			q.kills += float64(o.Kills)
			q.waste += float64(o.Waste) / 1e6
			q.slots += float64(o.Slots) / 1e6
			q.slotsPlain += float64(plain.Slots) / 1e6
		}
	}
}

// another returns the saving of a job relative to the log in another run, and whether runs differ: its replay is longer by the
// same share as a run without the policy. If the policy did nothing, it saves nothing in any run.
func (t *tally) another(seed, job int, o *replay.JobOutcome) (seconds float64, varies bool) {
	took, plain := float64(o.Took)/1e6, float64(t.c.none[job].Took)/1e6
	if t.exact || o.Took == t.c.none[job].Took && o.Copies == 0 {
		return plain - took, false
	}
	return plain - took*(1+float64(t.c.again[seed][job])), true
}

// done completes the tally: it returns the effect of the variant on each job and adds it to the total.
func (t *tally) done() []JobSaving {
	n := float64(t.seeds)
	quantile := student(n)
	jobs := make([]JobSaving, t.c.jobs)
	for j := range jobs {
		if t.c.other(j) {
			jobs[j].Idle = true
			continue
		}
		plain := &t.c.none[j]
		mean, took := t.sum[j]/n, float64(plain.Took)/1e6
		jobs[j] = JobSaving{
			Saving:     t.spread[j].interval95(mean, !t.varies[j], quantile).atMost(took),
			ThisRun:    t.same[j].interval95(mean, !t.varies[j], quantile).atMost(took),
			Share:      ratio(mean, took),
			SlotChange: ratio(t.slots[j]/n, float64(plain.Slots)/1e6) - 1, Copies: t.copies[j] / n, WasteS: t.waste[j] / n,
			Idle: t.spread[j].squares == 0 && t.copies[j] == 0,
		}
		for g := range t.total.groups {
			if q := &t.total.groups[g]; g == 0 || t.small[j] {
				q.before, q.after = append(q.before, float64(plain.Took)/1e6), append(q.after, t.after[j]/n)
			}
		}
	}
	for i, p := range t.c.w.Pools {
		for j := range p.NumJobs() {
			if s := jobs[t.c.first[i]+j].Saving.Mean; s > t.total.most {
				t.total.most = s
				t.total.best, _ = p.JobKeys(j)
			}
		}
	}
	return jobs
}

// ratio is a/b; NaN if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
