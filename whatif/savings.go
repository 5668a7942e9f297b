package whatif

import (
	"math"
	"slices"

	"straggler/distribution"
	"straggler/schema"
	"straggler/whatif/replay"
)

// Interval is a mean over seeds with its 95 % confidence interval (Student's t over the paired differences).
type Interval struct{ Mean, Low, High float64 }

// mean95 is the interval of a sample's mean. One value, or values that do not differ, have no width: nothing was drawn.
func mean95(n int, sum, squares float64) Interval {
	if n == 0 {
		return Interval{math.NaN(), math.NaN(), math.NaN()}
	}
	mean := sum / float64(n)
	if n == 1 {
		return Interval{mean, mean, mean}
	}
	variance := max(squares/float64(n)-mean*mean, 0) * float64(n) / float64(n-1)
	if variance <= 1e-12*mean*mean {
		return Interval{mean, mean, mean}
	}
	half := distribution.Student{DF: float64(n - 1)}.Quantile(0.975) * math.Sqrt(variance/float64(n))
	return Interval{mean, mean - half, mean + half}
}

// difference is the interval of the mean of a − b, which are of the same seeds: what both have in common cancels.
func difference(a, b []float64) Interval {
	sum, squares := 0.0, 0.0
	for n := range a {
		d := a[n] - b[n]
		sum += d
		squares += d * d
	}
	return mean95(len(a), sum, squares)
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
	c       *comparison
	n       int
	sum     []float64 // by job: seconds saved
	squares []float64
	after   []float64 // completion time
	slots   []float64
	copies  []float64
	waste   []float64
	groups  [2]groupTally // all, small
	small   []bool
	saved   []float64 // by seed, over all jobs
}

type groupTally struct {
	sum, squares             float64
	copies, wins, kills      float64
	waste, slots, slotsPlain float64
}

func newTally(c *comparison) *tally {
	t := &tally{c: c}
	for _, v := range []*[]float64{&t.sum, &t.squares, &t.after, &t.slots, &t.copies, &t.waste} {
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

func (t *tally) add(jobs []replay.JobOutcome) {
	t.n++
	var saved [2]float64
	for j := range jobs {
		o, plain := &jobs[j], &t.c.none[j]
		s := float64(plain.Took-o.Took) / 1e6
		t.sum[j] += s
		t.squares[j] += s * s
		t.after[j] += float64(o.Took) / 1e6
		t.slots[j] += float64(o.Slots) / 1e6
		t.copies[j] += float64(o.Copies)
		t.waste[j] += float64(o.Waste) / 1e6
		for g := range t.groups {
			if g == 1 && !t.small[j] {
				continue
			}
			saved[g] += s
			q := &t.groups[g]
			q.copies += float64(o.Copies)
			q.wins += float64(o.Wins)
			q.kills += float64(o.Kills)
			q.waste += float64(o.Waste) / 1e6
			q.slots += float64(o.Slots) / 1e6
			q.slotsPlain += float64(plain.Slots) / 1e6
		}
	}
	for g := range t.groups {
		t.groups[g].sum += saved[g]
		t.groups[g].squares += saved[g] * saved[g]
	}
	t.saved = append(t.saved, saved[0])
}

func (t *tally) result(v Variant) Result {
	r := Result{Variant: v, Jobs: make([]JobSaving, len(t.sum)), All: t.group(0), Small: t.group(1), saved: t.saved}
	n := float64(t.n)
	for j := range r.Jobs {
		plain := &t.c.none[j]
		r.Jobs[j] = JobSaving{
			Saving: mean95(t.n, t.sum[j], t.squares[j]), Share: ratio(t.sum[j]/n, float64(plain.Took)/1e6),
			SlotChange: ratio(t.slots[j]/n, float64(plain.Slots)/1e6) - 1, Copies: t.copies[j] / n, WasteS: t.waste[j] / n,
			Idle: t.squares[j] == 0 && t.copies[j] == 0,
		}
	}
	return r
}

func (t *tally) group(g int) Group {
	q := &t.groups[g]
	var before, after []float64
	total := 0.0
	for j := range t.sum {
		if g == 0 || t.small[j] {
			b := float64(t.c.none[j].Took) / 1e6
			before, after = append(before, b), append(after, t.after[j]/float64(t.n))
			total += b
		}
	}
	n := float64(t.n)
	return Group{
		Jobs: len(before), Before: timesOf(before), After: timesOf(after),
		Saving: mean95(t.n, q.sum, q.squares), Share: ratio(q.sum/n, total), SlotChange: ratio(q.slots, q.slotsPlain) - 1,
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
