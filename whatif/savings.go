package whatif

import (
	"math"
	"slices"

	"straggler/distribution"
	"straggler/schema"
	"straggler/whatif/replay"
)

// Interval is a mean over seeds, and the limits between which the same of another run lies in 95 of 100 cases.
type Interval struct{ Mean, Low, High float64 }

// moments are the sums of a sample.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) {
	m.n++
	m.sum += x
	m.squares += x * x
}

// interval95 is a mean with the prediction interval of one more value of a sample: ± t(0.975, n−1) · sd · √(1 + 1/n) (Hahn and
// Meeker 1991, section 4.7). More seeds make it surer, and not narrower than the sample spreads. A sample of values that do not
// differ has no width, and of one value none is known.
func (m *moments) interval95(mean float64) Interval {
	if m.n == 0 {
		return Interval{math.NaN(), math.NaN(), math.NaN()}
	}
	half := m.student() * math.Sqrt(m.variance()*(1+1/m.n))
	return Interval{mean, mean - half, mean + half}
}

// variance is that of the sample; 0 of values that differ by no more than rounding.
func (m *moments) variance() float64 {
	deviations := m.squares - m.sum/m.n*m.sum
	if m.n == 1 || deviations <= 1e-12*m.squares {
		return 0
	}
	return deviations / (m.n - 1)
}

// student is the 0.975-quantile of Student's t with the degrees of freedom of the sample.
func (m *moments) student() float64 { return distribution.Student{DF: max(m.n-1, 1)}.Quantile(0.975) }

// difference is the mean of a − b, which are of the same seeds, with its 95 % confidence interval (Student's paired t-test): what
// both have in common cancels, and here it is the mean that matters, over all that the model leaves open.
func difference(a, b []float64) Interval {
	var m moments
	for n := range a {
		m.add(a[n] - b[n])
	}
	mean, half := m.sum/m.n, m.student()*math.Sqrt(m.variance()/m.n)
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

// at is the q-quantile of a sorted sample, between the order statistics that enclose it.
func at(sorted []float64, q float64) float64 {
	x := q * float64(len(sorted)-1)
	i := int(x)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (x-float64(i))*(sorted[i+1]-sorted[i])
}

// Group is what a variant does for a set of jobs. Counts and slot times are means over the seeds.
type Group struct {
	Jobs          int
	Before, After Times    // completion times; After is of each job's mean over the seeds
	Saving        Interval // seconds, summed over the jobs
	Share         float64  // of the replayed completion times
	SlotChange    float64  // of the slot time
	Copies        float64
	Wins          float64
	Kills         float64
	WasteS        float64
}

// JobSaving is what a variant does for one job.
type JobSaving struct {
	Saving     Interval // seconds
	Share      float64
	SlotChange float64
	Copies     float64 // mean over the seeds
	WasteS     float64
	Idle       bool // the policy changed nothing in it
}

// Result is what a variant does.
type Result struct {
	Variant
	All   Group
	Small Group       // jobs of at most ten tasks, as DOLLY counts them
	saved []float64   // by seed: seconds over all jobs
	Best  schema.Key  // the job that gains most, 0 where none does
	Jobs  []JobSaving // in the order of the pools and their jobs
}

// smallJob is the most tasks of a small job (DOLLY §2).
const smallJob = 10

// tally adds up the units of one variant.
type tally struct {
	c      *comparison
	exact  bool      // it gives what the log says under an ideal, and not what another run would give
	sum    []float64 // by job: seconds saved
	spread []moments // the same in other runs
	after  []float64 // completion time
	slots  []float64
	copies []float64
	waste  []float64
	groups [2]groupTally // all, small
	small  []bool
	saved  []float64 // by seed: seconds saved over all jobs in other runs
}

type groupTally struct {
	sum                      float64
	spread                   moments
	copies, wins, kills      float64
	waste, slots, slotsPlain float64
}

func newTally(c *comparison, v Variant) *tally {
	t := &tally{c: c, exact: v.Ideal, spread: make([]moments, c.jobs)}
	for _, v := range []*[]float64{&t.sum, &t.after, &t.slots, &t.copies, &t.waste} {
		*v = make([]float64, c.jobs)
	}
	t.small = make([]bool, 0, c.jobs)
	for _, p := range c.w.Pools {
		for j := range p.NumJobs() {
			t.small = append(t.small, p.JobTasks(j) <= smallJob)
		}
	}
	return t
}

func (t *tally) add(u *unit) {
	var other [2]float64
	for j := range u.jobs {
		o, plain := &u.jobs[j], &t.c.none[j]
		s := float64(plain.Took-o.Took) / 1e6
		y := t.another(u.number, j, o)
		t.sum[j] += s
		t.spread[j].add(y)
		t.after[j] += float64(o.Took) / 1e6
		t.slots[j] += float64(o.Slots) / 1e6
		t.copies[j] += float64(o.Copies)
		t.waste[j] += float64(o.Waste) / 1e6
		for g := range t.groups {
			if g == 1 && !t.small[j] {
				continue
			}
			other[g] += y
			q := &t.groups[g]
			q.sum += s
			q.copies += float64(o.Copies)
			q.wins += float64(o.Wins)
			q.kills += float64(o.Kills)
			q.waste += float64(o.Waste) / 1e6
			q.slots += float64(o.Slots) / 1e6
			q.slotsPlain += float64(plain.Slots) / 1e6
		}
	}
	for g := range t.groups {
		t.groups[g].spread.add(other[g])
	}
	t.saved = append(t.saved, other[0])
}

// another is what a job saves against the log in another run of it: its replay takes longer by the share by which a run without
// the policy does. Where the policy did nothing, it saves nothing in any run.
func (t *tally) another(seed, job int, o *replay.JobOutcome) float64 {
	took, plain := float64(o.Took)/1e6, float64(t.c.none[job].Took)/1e6
	if t.exact || o.Took == t.c.none[job].Took && o.Copies == 0 {
		return plain - took
	}
	return plain - took*(1+float64(t.c.again[seed][job]))
}

func (t *tally) result(v Variant) Result {
	r := Result{Variant: v, Jobs: make([]JobSaving, len(t.sum)), All: t.group(0), Small: t.group(1), saved: t.saved}
	n := float64(len(t.saved))
	for j := range r.Jobs {
		plain := &t.c.none[j]
		r.Jobs[j] = JobSaving{
			Saving: t.spread[j].interval95(t.sum[j] / n), Share: ratio(t.sum[j]/n, float64(plain.Took)/1e6),
			SlotChange: ratio(t.slots[j]/n, float64(plain.Slots)/1e6) - 1, Copies: t.copies[j] / n, WasteS: t.waste[j] / n,
			Idle: t.spread[j].squares == 0 && t.copies[j] == 0,
		}
	}
	return r
}

func (t *tally) group(g int) Group {
	q := &t.groups[g]
	n := float64(len(t.saved))
	var before, after []float64
	total := 0.0
	for j := range t.sum {
		if g == 0 || t.small[j] {
			b := float64(t.c.none[j].Took) / 1e6
			before, after = append(before, b), append(after, t.after[j]/n)
			total += b
		}
	}
	return Group{
		Jobs: len(before), Before: timesOf(before), After: timesOf(after),
		Saving: q.spread.interval95(q.sum / n), Share: ratio(q.sum/n, total), SlotChange: ratio(q.slots, q.slotsPlain) - 1,
		Copies: q.copies / n, Wins: q.wins / n, Kills: q.kills / n, WasteS: q.waste / n,
	}
}

// ratio is a/b, NaN where b is nothing.
func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
