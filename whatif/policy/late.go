package policy

import (
	"math"
	"slices"

	"straggler/whatif/heap"
	"straggler/whatif/replay"
)

// LATE is Longest Approximate Time to End (LATE §4).
//
// Rules: when a machine asks for work, no task of the phase waits and fewer than cap × slots copies run: a machine whose total
// progress (finished tasks of the job plus the scores of its running ones, of all phases) is below the slow_node percentile of
// all machines is refused. Of the attempts that have run for a minute and were never copied, the one with the longest estimated
// time left is copied, provided that its progress rate is below the slow_task percentile of the rates of the phase. rate =
// score / elapsed, time left = (1 − score) / rate. Locality plays no part.
//
// Phases above 1 selects the phase-aware estimate of §4.2: the progress of a reduce has that many equal parts (Hadoop's three are
// copy, sort and reduce), each with a rate of its own. The rate of a part that an attempt has not entered is the mean of the
// phase's other attempts; if none has finished such a part, the plain estimate is used. The progress of a map has one part.
//
// Early copies before all tasks have been started, like the variant in MANTRI §6.3: a copy then takes the slot of a waiting task.
// Machines ask for work every Heartbeat.
type LATE struct {
	Cap       float64 `option:"cap" most:"1" doc:"copies that may run at once, as a share of the slots"`
	SlowNode  float64 `option:"slow_node" most:"1" doc:"percentile of machine progress below which a machine gets no copies"`
	SlowTask  float64 `option:"slow_task" most:"1" doc:"percentile of progress rates below which a task may be copied"`
	Age       float64 `option:"age" unit:"s" doc:"how long a task must have run"`
	Heartbeat float64 `option:"heartbeat" least:"1e-6" unit:"s" doc:"how often machines ask for work"`
	Early     bool    `option:"early" doc:"act while tasks still wait for slots (MANTRI §6.3)"`
	Phases    int     `option:"phases" least:"1" most:"1000" doc:"parts of a reduce's progress with rates of their own; 1: one rate (§4.2)"`
}

var lateDefaults = LATE{Cap: 0.1, SlowNode: 0.25, SlowTask: 0.25, Age: 60, Heartbeat: 1, Phases: 1}

type late struct {
	LATE
	nodes   []float64
	rates   []float64
	own     []float64 // rates of the running attempts, in their order
	free    []int32
	ordered []float64
	found   []candidate
}

// lateJob is the finished work of a job, by machine.
type lateJob []float64

// latePhase is the state of a phase: the number of finished attempts counted, and their rates.
type latePhase struct {
	counted int
	rates   sample
	parts   partRates
	ages    ages
	longest longest // while tasks wait
}

// TimeLeft returns LATE's estimate of the time that an attempt still needs (§4).
func TimeLeft(score, elapsed float64) float64 {
	if score <= 0 {
		return math.Inf(1)
	}
	return (1 - score) / (score / elapsed)
}

func (l *late) Look(v *replay.View, do *replay.Actions) replay.Again {
	phase, job := l.count(v)
	again := v.In(replay.Seconds(l.Heartbeat))
	waiting := v.Waiting() > 0
	if waiting && !l.Early {
		return replay.Again{End: true, Launched: true}
	}
	if !waiting {
		if a, wait := idleUntil(v, &phase.ages, l.Age, l.Heartbeat); wait {
			return a
		}
	}
	if waiting { // early
		phase.longest.update(v, l)
		if a, wait := phase.longest.until(v, l.Age); wait {
			return a
		}
	}
	room := max(int(l.Cap*float64(v.Slots())+1e-9), 1) - v.Speculating() - v.Queued()
	if room <= 0 {
		return again
	}
	if waiting {
		for _, c := range l.longest(v, phase, room) {
			do.CopyFirst(c.task)
		}
		return again
	}
	if candidates := l.rank(v, phase); len(candidates) > 0 {
		l.assign(v, do, first(candidates, len(candidates)), job, room)
	}
	return again
}

// idleUntil returns when a policy that copies onto idle slots has to look next, if there is nothing to do now: when the oldest
// attempt without a copy reaches the age, or at the next heartbeat if no slot is idle.
func idleUntil(v *replay.View, g *ages, age, heartbeat float64) (replay.Again, bool) {
	g.update(v)
	oldest, ok := g.first(v)
	switch ready := oldest.start + replay.Seconds(age); {
	case !ok:
		return replay.Again{End: true}, true
	case ready > v.Now():
		return replay.Again{At: ready}, true
	case v.Free() == 0:
		return v.In(replay.Seconds(heartbeat)), true
	}
	return replay.Again{}, false
}

// Abstains: no rate is under a percentile of itself alone.
func (l *late) Abstains(float64) bool { return l.SlowTask < 1 }

// longest returns the n attempts that may be copied with the longest time left, in order.
func (l *late) longest(v *replay.View, phase *latePhase, n int) []candidate {
	g := &phase.longest
	if g.scans > 0 {
		g.scans--
	} else if !g.varied && !l.phased(v) {
		if c, enough := g.first(v, l, phase, n); enough {
			return c
		}
		g.scans = 16
	}
	return first(l.rank(v, phase), n)
}

// count adds the attempts that have finished since the last look.
func (l *late) count(v *replay.View) (*latePhase, lateJob) {
	phase, ok := (*v.Memory()).(*latePhase)
	if !ok {
		phase = &latePhase{}
		*v.Memory() = phase
	}
	job, ok := (*v.JobMemory()).(lateJob)
	if !ok || len(job) < v.Machines() { // a live application may add machines
		job = append(job, make([]float64, v.Machines()-len(job))...)
		*v.JobMemory() = job
	}
	done := v.Done()
	for _, d := range done[phase.counted:] {
		job[d.Machine]++
		if l.phased(v) {
			phase.parts.add(v, &d, l.Phases)
		}
		if d.Took > 0 {
			phase.rates.add(1 / d.Took.Seconds())
		}
	}
	phase.counted = len(done)
	return phase, job
}

type candidate struct {
	task    int32
	machine int32
	left    float64
	rate    float64
}

// rank lists the attempts that may be copied.
func (l *late) rank(v *replay.View, phase *latePhase) []candidate {
	running := v.Running()
	slow := l.slowRate(v, phase)
	out := l.found[:0]
	for i, rate := range l.own {
		a := &running[i]
		if (rate < slow || l.SlowTask >= 1) && l.mayCopy(v, a) {
			elapsed, score := v.Elapsed(a).Seconds(), v.Progress(a)
			left := TimeLeft(score, elapsed)
			if l.phased(v) {
				left = phase.parts.timeLeft(v, a, l.Phases, left)
			}
			out = append(out, candidate{a.Task, a.Machine, left, rate})
		}
	}
	l.found = out
	return out
}

// slowRate returns the percentile of rates below which a task may be copied. It fills own with the rates of the running attempts.
func (l *late) slowRate(v *replay.View, phase *latePhase) float64 {
	running := v.Running()
	l.rates, l.own = l.rates[:0], l.own[:0]
	for i := range running {
		rate := math.NaN()
		if e := v.Elapsed(&running[i]).Seconds(); e > 0 {
			rate = v.Progress(&running[i]) / e
			l.rates = append(l.rates, rate)
		}
		l.own = append(l.own, rate)
	}
	return phase.rates.quantileWith(l.rates, l.SlowTask)
}

// Before reports whether a candidate comes before another: longest time left first.
func (c candidate) Before(d candidate) bool {
	return c.left > d.left || c.left == d.left && c.task < d.task
}

// first returns the first n candidates, in order; it reorders the list.
func first(candidates []candidate, n int) []candidate {
	h := heap.Of(candidates)
	out := make([]candidate, 0, min(n, len(h)))
	for len(out) < cap(out) {
		out = append(out, h.Pop())
	}
	return out
}

// mayCopy reports whether an attempt is old enough and was never copied.
func (l *late) mayCopy(v *replay.View, a *replay.Running) bool {
	elapsed := v.Elapsed(a).Seconds()
	return elapsed >= l.Age && elapsed > 0 && v.Copies(a.Task) == 1 && v.Launched(a.Task) == 0
}

// assign gives each requesting machine, one after the other, the best candidate that does not run there.
func (l *late) assign(v *replay.View, do *replay.Actions, candidates []candidate, job lateJob, room int) {
	threshold := l.nodeThreshold(v, job)
	l.free = v.FreeMachines(l.free[:0])
	for _, m := range l.free {
		if room == 0 || len(candidates) == 0 {
			return
		}
		if l.nodes[m] < threshold {
			continue
		}
		n := slices.IndexFunc(candidates, func(c candidate) bool { return c.machine != m })
		if n < 0 {
			continue
		}
		do.CopyOn(candidates[n].task, m)
		copy(candidates[1:n+1], candidates[:n])
		candidates = candidates[1:]
		room--
	}
}

// nodeThreshold fills nodes with the total progress of every machine and returns the percentile.
func (l *late) nodeThreshold(v *replay.View, job lateJob) float64 {
	l.nodes = append(l.nodes[:0], job...)
	v.NodeProgress(l.nodes)
	l.ordered = append(l.ordered[:0], l.nodes...)
	var none sample
	return none.quantileWith(l.ordered, l.SlowNode)
}
