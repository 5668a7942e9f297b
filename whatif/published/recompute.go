package published

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"straggler/whatif/policy/recompute"
)

// Jobs whose outputs get lost, for MANTRI figure 7 and §6.5. Machines have bad times in which nothing can be read from
// them. A task that finds its input on such a machine waits until it has been made again.

const lossNote = "rebuilt: 300 jobs of eight phases (§3.2), 47 % of the edges barriers where every task reads all outputs, else one each; waves, outliers and their lengths as in §3.1 and §4.1; half of the losses on 5 % of the machines (§4.2); " +
	"90 % of the recomputations take what a normal task takes, 3 % ten times as long (§4.1). " +
	"The paper does not say how often machines lose outputs while they are read, nor how large outputs are. Assumed: 1000 machines; those 5 % are bad a fifth of the time, in spells of half an hour on average; outputs log-normal with a median of 64 MB, moved at 1 Gb/s; " +
	"5 to 40 slots a job, at most 200 tasks a phase, 60 s a normal task; P(loss) is each machine's share of bad time, known from long before"

const (
	lossMachines = 1000
	flakyShare   = 0.05
	flakyBad     = 0.2
	spell        = 1800.0
	lossPhases   = 8
)

// spells are the times at which a machine turns bad and good again, in turn; it begins good.
type spells []float64

func (s spells) bad(at float64) bool {
	n, _ := slices.BinarySearch(s, at)
	return n%2 == 1
}

// lossOutput is a task with its output.
type lossOutput struct {
	normal, took float64 // without and with what made it an outlier
	again        float64 // to make its output once more
	machine      int
	copyOn       int // where a copy would go
	seconds      float64
}

type lossJob struct {
	slots  int
	all    [lossPhases]bool // reads all outputs of the phase before
	phases [lossPhases][]lossOutput
}

func drawSpells(r *rand.Rand, share float64) (s spells) {
	for now := 0.0; now < 400*3600; {
		now += r.ExpFloat64() * spell * (1 - share) / share
		s = append(s, now)
		now += r.ExpFloat64() * spell
		s = append(s, now)
	}
	return s
}

func drawLossJob(r *rand.Rand) *lossJob {
	j := &lossJob{slots: 5 + r.IntN(36)}
	for p := range j.phases {
		c := mantriPhase(r).Jobs[0].Phases[0].Tasks
		j.all[p] = r.Float64() < 0.47
		for k := range min(len(c), 200) {
			o := lossOutput{normal: c[k].Seconds, took: c[k].Seconds * c[k].Luck, machine: r.IntN(lossMachines), copyOn: r.IntN(lossMachines),
				seconds: 64e6 * math.Exp(1.5*r.NormFloat64()) / 125e6, again: c[k].Seconds}
			switch u := r.Float64(); {
			case u < 0.03:
				o.again *= 10
			case u < 0.10:
				o.again *= 1.5 + 8.5*r.Float64()
			}
			j.phases[p] = append(j.phases[p], o)
		}
	}
	return j
}

// protection is what is done against losses.
type protection struct {
	replicate  bool
	precompute int // recomputations on a machine that are taken for the onset of more; 0: never
	noOutliers bool
	noLosses   bool
}

// lossRun plays one job.
type lossRun struct {
	j      *lossJob
	o      protection
	bad    []spells
	loss   []float64
	onset  recompute.Onset
	copies recompute.Bucket // bytes as seconds of transfer
	extra  recompute.Bucket // slot seconds
	ready  [lossPhases][]float64
	copied [lossPhases][]bool
	early  [lossPhases][]float64 // when an output made again early is there; 0: it was not
	used   [lossPhases][]bool    // the copy or the early output was needed

	recomputes, byCopy, byEarly int
	made, earlyMade             int
	usedCopies, usedEarly       int
}

type slotTimes []float64

func (s slotTimes) Len() int           { return len(s) }
func (s slotTimes) Less(i, j int) bool { return s[i] < s[j] }
func (s slotTimes) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *slotTimes) Push(x any)        { *s = append(*s, x.(float64)) }
func (s *slotTimes) Pop() any          { o := *s; x := o[len(o)-1]; *s = o[:len(o)-1]; return x }

// run plays the job from an instant on and gives when it ends.
func (x *lossRun) run(at float64) float64 {
	redo := x.redo()
	for p, tasks := range x.j.phases {
		n := len(tasks)
		x.ready[p], x.copied[p], x.early[p], x.used[p] = make([]float64, n), make([]bool, n), make([]float64, n), make([]bool, n)
		free := slotTimes(slices.Repeat([]float64{at}, min(x.j.slots, n)))
		for k := range tasks {
			start := heap.Pop(&free).(float64)
			if p > 0 {
				start = x.read(p, k, start)
			}
			took := tasks[k].took
			if x.o.noOutliers {
				took = tasks[k].normal
			}
			x.ready[p][k] = start + took
			x.protect(p, k, took, redo[p][k])
			heap.Push(&free, start+took)
			at = max(at, start+took)
		}
	}
	return at
}

// redo is t_redo of every output, with what is known when the job starts: a normal task each.
func (x *lossRun) redo() [][]float64 {
	var phases []recompute.Phase
	for p, tasks := range x.j.phases {
		ph := recompute.Phase{}
		for k := range tasks {
			ph.Seconds = append(ph.Seconds, tasks[k].normal)
			ph.Loss = append(ph.Loss, x.loss[tasks[k].machine])
		}
		if p > 0 {
			ph.Reads = []recompute.Edge{{Phase: p - 1, All: x.j.all[p]}}
		}
		phases = append(phases, ph)
	}
	return recompute.Redo(phases)
}

// protect copies an output that was just made, where that is worth it.
func (x *lossRun) protect(p, k int, took, redo float64) {
	if !x.o.replicate {
		return
	}
	o := &x.j.phases[p][k]
	x.copies.Grant(o.seconds, recompute.Share)
	x.extra.Grant(took, recompute.Share)
	if recompute.Worth(x.loss[o.machine], redo, o.seconds) && x.copies.Spend(o.seconds) {
		x.copied[p][k] = true
		x.made++
	}
}

// read is when the inputs of a task are there that would start at an instant.
func (x *lossRun) read(p, k int, start float64) float64 {
	from := x.j.phases[p-1]
	if !x.j.all[p] {
		return x.input(p-1, k%len(from), max(start, x.ready[p-1][k%len(from)]))
	}
	there := start
	for i := range from {
		there = max(there, x.input(p-1, i, start))
	}
	return there
}

// input is when an output can be read from an instant on; it is made again if it is lost.
func (x *lossRun) input(p, i int, at float64) float64 {
	o := &x.j.phases[p][i]
	if x.o.noLosses || !x.bad[o.machine].bad(at) {
		return at
	}
	first := !x.used[p][i]
	x.used[p][i] = true
	switch {
	case x.copied[p][i] && !x.bad[o.copyOn].bad(at):
		if first {
			x.byCopy++
			x.usedCopies++
		}
		return at
	case x.early[p][i] > 0:
		if first && x.early[p][i] <= at {
			x.byEarly++
		}
		if first {
			x.usedEarly++
		}
		return max(at, x.early[p][i])
	}
	x.recomputes++
	again := at + o.again
	if p > 0 && !x.j.all[p] { // its own input may be lost too
		again += x.input(p-1, i%len(x.j.phases[p-1]), at) - at
	}
	x.early[p][i] = again // from now on it is elsewhere
	if x.o.precompute > 0 && x.onset.Recomputed(o.machine, at) {
		x.makeEarly(o.machine, at)
	}
	return again
}

// makeEarly makes the other outputs on a machine again that are there and were not asked for.
func (x *lossRun) makeEarly(machine int, at float64) {
	for p, tasks := range x.j.phases {
		for k := range x.ready[p] {
			o := &tasks[k]
			if o.machine == machine && x.ready[p][k] > 0 && x.ready[p][k] <= at && x.early[p][k] == 0 && !x.copied[p][k] && x.extra.Spend(o.again) {
				x.early[p][k] = at + o.again
				x.earlyMade++
			}
		}
	}
}

// lossCluster is the machines and the jobs.
type lossCluster struct {
	bad  []spells
	loss []float64
	jobs []*lossJob
	at   []float64
}

func newLossCluster() *lossCluster {
	r := rand.New(rand.NewPCG(65, 65))
	c := &lossCluster{}
	for m := range lossMachines {
		share := flakyBad
		if m >= flakyShare*lossMachines { // the other half of the losses is on the other 95 %
			share = flakyBad * flakyShare / (1 - flakyShare)
		}
		c.bad = append(c.bad, drawSpells(r, share))
		c.loss = append(c.loss, share)
	}
	for range 300 {
		c.jobs = append(c.jobs, drawLossJob(r))
		c.at = append(c.at, r.Float64()*300*3600)
	}
	return c
}

// play runs all jobs under a protection.
func (c *lossCluster) play(o protection) (runs []*lossRun, took []float64) {
	for n, j := range c.jobs {
		x := &lossRun{j: j, o: o, bad: c.bad, loss: c.loss, onset: recompute.Onset{After: o.precompute, Within: spell}}
		took = append(took, x.run(c.at[n])-c.at[n])
		runs = append(runs, x)
	}
	return runs, took
}

func (j *lossJob) work() (sum float64) {
	for _, p := range j.phases {
		for k := range p {
			sum += p[k].took
		}
	}
	return sum
}

// mantriLosses is figure 7 and §6.5.
func mantriLosses(ctx context.Context, t *table) error {
	c := newLossCluster()
	if err := ctx.Err(); err != nil {
		return err
	}
	runs, before := c.play(protection{})
	_, calm := c.play(protection{noOutliers: true})
	_, ideal := c.play(protection{noOutliers: true, noLosses: true})
	_, noLoss := c.play(protection{noLosses: true})
	own, after := c.play(protection{replicate: true, precompute: 1})
	twice, _ := c.play(protection{replicate: true, precompute: 2})
	var without, withoutAny, gone, off, parity []weighted
	hit := 0
	var sum, two lossRun
	for n, j := range c.jobs {
		w := j.work()
		without = append(without, weighted{1 - calm[n]/before[n], w})
		withoutAny = append(withoutAny, weighted{1 - ideal[n]/before[n], w})
		sum.add(own[n])
		two.add(twice[n])
		if runs[n].recomputes == 0 {
			continue
		}
		hit++
		gone = append(gone, weighted{1 - float64(own[n].recomputes)/float64(runs[n].recomputes), 1})
		off = append(off, weighted{1 - after[n]/before[n], w})
		parity = append(parity, weighted{1 - noLoss[n]/before[n], w})
	}
	row := func(section, quantity string, published, ours, tolerance float64, note string) {
		t.rebuilt(section, quantity, published, ours, tolerance, note+lossNote)
	}
	row("§4.3 figure 7", "without run-time outliers: completion time of jobs off, median by work", 0.15, percentile(without, 0.5), 0.075, "")
	row("§4.3 figure 7", "without run-time outliers and losses", 0.34, percentile(withoutAny, 0.5), 0.17, "")
	row("§6.5", "recomputations eliminated, median job", 0.78, percentile(gone, 0.5), 0.39, fmt.Sprintf("over the %d jobs that had any; ", hit))
	const spread = "a job's tasks are spread over all machines here, so that it hardly has two outputs on one and pre-computation finds nothing to do; "
	row("§6.5", "part of that by replication", 0.66, share(sum.byCopy, sum.byCopy+sum.byEarly), 0.2, spread)
	row("§6.5", "part of that by pre-computation", 0.33, share(sum.byEarly, sum.byCopy+sum.byEarly), 0.2, spread)
	const often = "a copy is used as often as the outputs that are worth one are lost, and no machine here loses more than a fifth of them; "
	row("§6.5", "replicas that are used", 0.84, share(sum.usedCopies, sum.made), 0.2, often)
	row("§6.5", "pre-computations that are used, on the first recomputation", 0.76, share(sum.usedEarly, sum.earlyMade), 0.2, spread)
	row("§6.5", "pre-computations that are used, on the second", 0.93, share(two.usedEarly, two.earlyMade), 0.2, spread)
	little := fmt.Sprintf("over the jobs that had recomputations, which cost the median one %.0f %% here; ", 100*percentile(parity, 0.5))
	row("§6.5", "protection: completion time of jobs off, 50th percentile by work", 0.20, percentile(off, 0.5), 0.10, little)
	row("§6.5", "protection: completion time of jobs off, 75th percentile", 0.40, percentile(off, 0.75), 0.20, little)
	row("§6.5 figure 19", "what no loss at all would take off more than protection, 50th percentile", 0, percentile(parity, 0.5)-percentile(off, 0.5), 0.05, "the paper says parity; ")
	return nil
}

// share is a of b, 0 of nothing.
func share(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// add sums up what was done in runs.
func (x *lossRun) add(o *lossRun) {
	x.byCopy += o.byCopy
	x.byEarly += o.byEarly
	x.made += o.made
	x.earlyMade += o.earlyMade
	x.usedCopies += o.usedCopies
	x.usedEarly += o.usedEarly
}
