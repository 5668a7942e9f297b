package policy

import (
	"math"
	"slices"

	"straggler/whatif/replay"
)

// Dolly clones small jobs in full when they start (DOLLY §3).
//
// Rules: for n tasks, straggler probability p and acceptable risk ε, each task should have c = ⌈ln(1 − (1 − ε)^{1/n}) / ln p⌉
// clones. A job is cloned iff the clones in use plus c·n fit into the budget β·C of the C slots, and the slots in
// use plus c·n stay under τ·C; otherwise it is not cloned at all. The first clone to finish wins, the others are killed.
// A later phase never gets more clones than any of the phases that it reads from (§3.2).
//
// p is the share of the tasks that finished in the last Period whose rate was under half the median of their phase, over the
// whole pool; before any has finished it is P. Clones are queued with the tasks that they are clones of: 'clones are
// indistinguishable and the scheduler treats every clone as if it were another task' (§5.1).
//
// Admission is one of three. admission is the paper's. preempt: a job that does not fit into the budget takes the budget of
// larger jobs, whose clones are killed; the ceiling applies to it, too. fcfs: jobs take what is left of the budget in the order
// of their arrival; a job that gets only a part of what it wants clones its next tasks when earlier ones end. A finished task
// returns its part of the budget.
//
// Assignment of intermediate data (§4) is one of three. cc: all clones of a later phase read the outputs of the first upstream
// clones, under contention, which makes a task 1 + contention · transfer times as long, where transfer is the share of a task
// that is reading. cac: the k-th clone reads the outputs of the k-th upstream clones, so that it waits for the slowest of them.
// delay: it waits up to ω for each of these and shares the others. ω is wait or, by default, the one with the least expected
// duration (§4.4), given the gaps between the ends of the job's finished attempts and the times that they computed. The replay
// kills upstream losers at once but uses the times at which they would have ended; the slots that they would have held until then
// are not charged.
type Dolly struct {
	Risk       float64 `option:"risk" most:"1" doc:"acceptable probability that the job straggles (ε)"`
	Budget     float64 `option:"budget" doc:"share of the slots that clones may use (β); above 1 some of them wait"`
	Ceiling    float64 `option:"ceiling" doc:"utilisation, including clones that wait, above which nothing is cloned (τ)"`
	P          float64 `option:"p" most:"1" doc:"straggler probability before any task has finished"`
	Period     float64 `option:"period" least:"1e-6" unit:"s" doc:"how often p is computed"`
	Admission  string  `option:"admission" doc:"admission, preempt or fcfs" words:"admission,preempt,fcfs"`
	Assignment string  `option:"assignment" doc:"delay, cc or cac" words:"delay,cc,cac"`
	Contention float64 `option:"contention" doc:"how much longer a shared transfer takes (DOLLY §4.3: a third at median)"`
	Transfer   float64 `option:"transfer" most:"1" doc:"share of a later phase's task that is reading (assumed)"`
	Wait       float64 `option:"wait" log:"what the job's own tasks make best" unit:"s" doc:"how long delay assignment waits for an exclusive copy (ω); log: what the job's own tasks make best"`
}

var dollyDefaults = Dolly{
	Risk: 0.05, Budget: 0.05, Ceiling: 0.8, P: 0.1, Period: 3600,
	Admission: "admission", Assignment: "delay", Contention: 0.35, Transfer: 0.3, Wait: nan,
}

type dolly struct {
	Dolly
	p          float64
	next       replay.Time
	tasks      int
	stragglers int
	cloned     []clonedPhase
}

type clonedPhase struct {
	phase  int
	memory *dollyPhase
}

// slots returns the part of the budget in use; a finished task uses none.
func (p *dollyPhase) slots() int { return p.running * p.clones }

type dollyPhase struct {
	counted int
	rates   sample
	clones  int    // of each task that has any
	size    int    // tasks that have, or had
	running int    // of them, those that are not over
	cloned  []bool // by task; nil: none
	next    int    // of first come first served: clones of the tasks before it were requested, or these have started
	over    bool
}

// dollyJob holds the number of clones of each earlier phase of the job, and the durations of its finished attempts.
type dollyJob struct {
	clones map[int32]int
	took   []float64
}

// mostGaps bounds the finished attempts of a job from which ω is computed.
const mostGaps = 200

// Clones returns the number of clones of each of n tasks with which the probability that any straggles is below risk (DOLLY
// §3.2).
func Clones(n int, p, risk float64) int {
	if p <= 0 {
		return 1
	}
	if p >= 1 {
		return math.MaxInt32
	}
	return max(int(math.Ceil(math.Log(1-math.Pow(1-risk, 1/float64(n)))/math.Log(p)-1e-9)), 1)
}

func (d *dolly) Look(v *replay.View, do *replay.Actions) replay.Again {
	p, ok := (*v.Memory()).(*dollyPhase)
	if !ok {
		p = &dollyPhase{}
		*v.Memory() = p
		d.clone(v, do, p)
	}
	d.count(v, p)
	if p.cloned != nil && d.Admission == "fcfs" {
		d.goOn(v, do, p)
	}
	return replay.Again{End: true}
}

// count adds the finished attempts of a phase to the estimate of p.
func (d *dolly) count(v *replay.View, p *dollyPhase) {
	job, _ := (*v.JobMemory()).(*dollyJob)
	for _, done := range v.Done()[p.counted:] {
		if job != nil && len(job.took) < mostGaps {
			job.took = append(job.took, done.Took.Seconds())
		}
		rate := data(v, done.Task) / max(done.Took.Seconds(), 1e-6)
		d.tasks++
		if m := p.rates.median(); rate < m/2 {
			d.stragglers++
		}
		p.rates.add(rate)
		if p.cloned != nil && p.cloned[done.Task] {
			p.running--
		}
	}
	p.counted = len(v.Done())
	p.over = p.counted >= v.Tasks()
	if v.Now() >= d.next {
		if d.tasks >= 100 {
			d.p = float64(d.stragglers) / float64(d.tasks)
			d.tasks, d.stragglers = 0, 0
		}
		d.next = v.Now() + replay.Seconds(d.Period)
	}
}

// clone decides how to clone a phase when it is released.
func (d *dolly) clone(v *replay.View, do *replay.Actions, p *dollyPhase) {
	if d.p == 0 {
		d.p = d.P
	}
	job, ok := (*v.JobMemory()).(*dollyJob)
	if !ok {
		job = &dollyJob{clones: map[int32]int{}}
		*v.JobMemory() = job
	}
	n := v.Tasks()
	c := Clones(n, d.p, d.Risk)
	for _, q := range v.Parents() {
		if up, ok := job.clones[q]; ok {
			c = min(c, up)
		}
	}
	room := d.room(v)
	busy := v.Slots() - v.Free()
	below := c > 1 && float64(busy+v.Queued()+c*n) <= d.Ceiling*float64(v.Slots())
	fits := below && c*n <= room
	if below && !fits && d.Admission == "preempt" {
		fits = c*n <= int(d.Budget*float64(v.Slots())) && d.preempt(do, c*n-room, n)
	}
	tasks := n // that get clones
	if !fits {
		tasks = 0
		if c > 1 && d.Admission == "fcfs" {
			tasks = min(max(room, 0)/c, n)
		}
	}
	if tasks == 0 {
		job.clones[int32(v.Phase())] = 1
		return
	}
	job.clones[int32(v.Phase())] = c
	do.Read(d.reading(job))
	p.clones, p.cloned = c, make([]bool, n)
	p.add(do, 0, tasks)
	d.cloned = append(d.cloned, clonedPhase{v.Phase(), p})
}

// add clones a number of tasks of a phase, from one on.
func (p *dollyPhase) add(do *replay.Actions, first, tasks int) {
	for range p.clones - 1 {
		for task := range tasks {
			do.Clone(int32(first + task))
		}
	}
	for task := range tasks {
		p.cloned[first+task] = true
	}
	p.size, p.running, p.next = p.size+tasks, p.running+tasks, first+tasks
}

// goOn continues a phase that got only a part of the budget under fcfs: its next tasks use what finished tasks have freed.
func (d *dolly) goOn(v *replay.View, do *replay.Actions, p *dollyPhase) {
	for room := d.room(v); p.next < v.Tasks() && room >= p.clones; {
		if task := int32(p.next); v.Finished(task) || v.Copies(task) > 0 {
			p.next++
			continue
		}
		p.add(do, p.next, 1)
		room -= p.clones
	}
}

// room returns the unused part of the budget, in slots.
func (d *dolly) room(v *replay.View) int { return int(d.Budget*float64(v.Slots())) - d.used() }

// used returns the budget in use by tasks that are not over; it drops finished phases.
func (d *dolly) used() int {
	sum, n := 0, 0
	for _, c := range d.cloned {
		if !c.memory.over {
			sum += c.memory.slots()
			d.cloned[n] = c
			n++
		}
	}
	d.cloned = d.cloned[:n]
	return sum
}

// reading returns how the clones of a phase read from upstream phases.
func (d *dolly) reading(job *dollyJob) *replay.Reading {
	r := &replay.Reading{Contention: d.Contention * d.Transfer}
	switch d.Assignment {
	case "cc":
		r.Sharing = replay.Shared
	case "cac":
		r.Sharing = replay.Exclusive
	default:
		r.Sharing, r.Wait = replay.Patient, replay.Seconds(d.wait(job))
	}
	return r
}

// wait returns ω. The gaps between two clones of a task are taken to be those between two finished attempts.
func (d *dolly) wait(job *dollyJob) float64 {
	if !math.IsNaN(d.Wait) {
		return d.Wait
	}
	var s sample
	var gaps []float64
	var computing [][2]float64
	for n, took := range job.took {
		s.add(took)
		if n > 0 {
			before := job.took[n-1]
			gaps = append(gaps, math.Abs(took-before))
			computing = append(computing, [2]float64{(1 - d.Transfer) * took, (1 - d.Transfer) * before})
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	return bestWait(gaps, computing, d.Transfer*s.median(), 1/(1+d.Contention))
}

// preempt kills the clones of larger phases, the largest first, until enough of the budget is free for a phase of n tasks; it
// kills none if all of them would not be enough.
func (d *dolly) preempt(do *replay.Actions, need, n int) bool {
	larger := 0
	for _, c := range d.cloned {
		if c.memory.size > n {
			larger += c.memory.slots()
		}
	}
	if larger < need {
		return false
	}
	slices.SortStableFunc(d.cloned, func(a, b clonedPhase) int { return b.memory.size - a.memory.size })
	for need > 0 {
		c := d.cloned[0]
		do.CancelCopies(c.phase)
		need -= c.memory.slots()
		d.cloned = d.cloned[1:]
	}
	return true
}
