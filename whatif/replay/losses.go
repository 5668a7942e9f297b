package replay

import (
	"slices"

	"straggler/whatif/workload"
)

// Protector decides how to protect outputs against loss, in a planned pool whose machines lose some (MANTRI §5.3). Outputs are
// numbered from 0 in the order of their creation.
type Protector interface {
	// Made is called for an output that other phases will read, and decides whether to copy it to another machine of its rack.
	Made(m workload.Made) bool
	// Lost is called for an output that was missing when it was needed, with whether it had been copied or recomputed before.
	// It returns the outputs to recompute at once, as far as they are still needed.
	Lost(of int32, at Time, spared bool, needed func(int32) bool) []int32
}

// LossOutcome counts what happened to the outputs of a job that other phases read.
type LossOutcome struct {
	Gone      int32 // originals that were missing when first needed
	Waited    int32 // those of them whose recomputation others waited for from its beginning
	Copied    int32 // outputs that were copied
	CopyUsed  int32 // missing originals with a copy available
	Early     int32 // outputs recomputed before they were needed
	EarlyUsed int32 // missing originals that had been recomputed early, or were being recomputed
	Held      int32 // phases whose tasks waited for outputs to be recomputed
}

// held is an output on a machine since an instant.
type held struct {
	machine int32
	at      int64 // -1: it is not
}

// output is the state of the output of a task.
type output struct {
	original, copied, again held
	number                  int32 // in the order of creation; -1: not created
	noticed                 bool  // the original was missing when it was needed
	early                   bool  // it is recomputed before it was needed
}

// need is what a phase waits for before its tasks, or its recomputed tasks, can read their input.
type need struct {
	missing int32   // inputs being recomputed
	release bool    // the phase itself waits: to be released,
	open    bool    // or to continue, if it began before its parents ended
	tasks   []int32 // of it, to be recomputed
}

// lossRun is the state of the outputs of a replay; used only where machines lose some.
type lossRun struct {
	on      bool
	outputs []output  // by task
	made    []int32   // tasks, in the order of their outputs
	readers []int32   // by phase: its readers that have not begun reading
	needs   []need    // by phase
	waiting [][]int32 // by task being recomputed: phases that wait for it; nil: not being recomputed
	remaken []bool    // by task: it is being recomputed
}

func (s *Sim) resetLosses() {
	r, p := &s.losses, s.p
	r.on = p.Stages != nil && p.Stages.Losses != nil
	if !r.on {
		return
	}
	r.outputs, r.waiting = resize(r.outputs, len(p.Tasks)), resize(r.waiting, len(p.Tasks))
	r.remaken, r.made = resize(r.remaken, len(p.Tasks)), r.made[:0]
	for n := range r.outputs {
		r.outputs[n] = output{original: held{-1, -1}, copied: held{-1, -1}, again: held{-1, -1}, number: -1}
		r.waiting[n], r.remaken[n] = r.waiting[n][:0], false
	}
	r.readers, r.needs = resize(r.readers, len(p.Phases)), resize(r.needs, len(p.Phases))
	clear(r.readers)
	for i := range r.needs {
		r.needs[i] = need{tasks: r.needs[i].tasks[:0]}
		for _, q := range p.Phases[i].Parents {
			r.readers[q]++
		}
	}
}

// keepsOutput records the output of a task, if others will read it.
func (s *Sim) keepsOutput(i, task, machine int32, took int64) {
	r := &s.losses
	if r.readers[i] == 0 {
		return
	}
	x := &r.outputs[task]
	x.original, x.number = held{machine, s.now}, int32(len(r.made))
	r.made = append(r.made, task)
	if s.o.Protector == nil {
		return
	}
	bytes := s.p.Stages.Output[task]
	if s.o.Protector.Made(workload.Made{Phase: i, Machine: machine, At: Time(s.now), Took: Time(took), Read: s.p.Tasks[task].Bytes, Bytes: bytes}) {
		if m := s.neighbour(i, task, machine); m >= 0 {
			x.copied = held{m, s.now}
			s.out.Jobs[s.p.Phases[i].Job].Losses.Copied++
		}
	}
}

// neighbour returns another machine of a rack, chosen by the task's random number; -1 if the rack has no other.
func (s *Sim) neighbour(i, task, machine int32) int32 {
	rack := s.p.Machines[machine].Rack
	first := int32(below(draw(s.o.Seed, s.p.Phases[i].Key, task-s.p.Phases[i].FirstTask, 0, drawReplica), len(s.p.Machines)))
	for n := range int32(len(s.p.Machines)) {
		m := (first + n) % int32(len(s.p.Machines))
		if m != machine && s.p.Machines[m].Rack == rack {
			return m
		}
	}
	return -1
}

// there reports whether a machine still holds the output of a task. Whether a loss affects an output depends on a random number
// of its own, so that losses are the same under all policies.
func (s *Sim) there(task int32, h held) bool {
	if h.at < 0 {
		return false
	}
	i := s.p.Tasks[task].Phase
	for _, l := range s.p.Stages.Losses[h.machine] {
		if l.At > h.at && l.At <= s.now {
			s.out.Drew = true
			bits := draw(s.o.Seed, s.p.Phases[i].Key, task-s.p.Phases[i].FirstTask, l.Number, drawLoss)
			if float64(bits>>11)/(1<<53) < l.Share {
				return false
			}
		}
	}
	return true
}

// hasInput reports whether all inputs of a phase are available; otherwise lost ones are recomputed, and the phase's need
// records what to do then.
func (s *Sim) hasInput(i int32) bool {
	r := &s.losses
	if !r.on || len(s.p.Phases[i].Parents) == 0 {
		return true
	}
	n := &r.needs[i]
	if n.missing > 0 {
		return false
	}
	for _, q := range s.p.Phases[i].Parents {
		p := &s.p.Phases[q]
		for task := p.FirstTask; task < p.FirstTask+p.Tasks; task++ {
			if !s.mayRead(task) {
				n.missing++
				r.waiting[task] = append(r.waiting[task], i)
			}
		}
	}
	return n.missing == 0
}

// mayRead reports whether the output of a task is available anywhere. If not, its recomputation starts now.
func (s *Sim) mayRead(task int32) bool {
	r := &s.losses
	x := &r.outputs[task]
	if s.there(task, x.original) {
		return true
	}
	i := s.p.Tasks[task].Phase
	copied, again := s.there(task, x.copied), s.there(task, x.again)
	if !x.noticed && x.number >= 0 {
		x.noticed = true
		out := &s.out.Jobs[s.p.Phases[i].Job].Losses
		out.Gone++
		switch {
		case copied:
			out.CopyUsed++
		case x.early:
			out.EarlyUsed++
		default:
			out.Waited++
		}
		if s.o.Protector != nil {
			for _, n := range s.o.Protector.Lost(x.number, Time(s.now), copied || x.early, s.stillNeeded) {
				s.makeEarly(r.made[n])
			}
		}
	}
	if copied || again {
		return true
	}
	s.remake(task)
	return false
}

// stillNeeded reports whether some reader of an output has not begun reading.
func (s *Sim) stillNeeded(output int32) bool {
	return s.losses.readers[s.p.Tasks[s.losses.made[output]].Phase] > 0
}

func (s *Sim) makeEarly(task int32) {
	x := &s.losses.outputs[task]
	if x.early || x.noticed || s.losses.remaken[task] {
		return
	}
	x.early = true
	s.out.Jobs[s.p.Phases[s.p.Tasks[task].Phase].Job].Losses.Early++
	s.remake(task)
}

// remake recomputes the output of a task, and first its inputs if they are lost too.
func (s *Sim) remake(task int32) {
	r := &s.losses
	if r.remaken[task] {
		return
	}
	r.remaken[task] = true
	i := s.p.Tasks[task].Phase
	if !s.hasInput(i) {
		r.needs[i].tasks = append(r.needs[i].tasks, task)
		return
	}
	s.enqueue(queued{taskRef: s.refOf(i, task), first: true, remake: true})
}

// launchAgain starts a finished task again, to recompute its output.
func (s *Sim) launchAgain(r taskRef, slot int32) {
	p, t := &s.p.Phases[r.phase], &s.tasks[r.place]
	t.copies++
	w := s.workOf(r)
	took, curve := s.copyTakes(r, slot, &w)
	s.jobs[p.Job].busy++
	s.start(r.phase, slot, r.place, took, Running{
		Task: s.local(r), Number: int32(t.copies), Machine: s.p.Slots[slot].Machine, curve: curve, Start: Time(s.now + p.CopyLag),
		observed: s.firstAttempt(r.phase, r.task), bytes: w.bytes,
	})
}

// madeAgain reports whether the attempt that has just ended recomputed an output; if so it resumes those who waited for it.
func (s *Sim) madeAgain(i int32, a *Running) bool {
	r := &s.losses
	task := s.p.Phases[i].FirstTask + a.Task
	if !r.on || !r.remaken[task] {
		return false
	}
	r.remaken[task] = false
	r.outputs[task].again = held{a.Machine, s.now}
	waiting := slices.Clone(r.waiting[task])
	r.waiting[task] = r.waiting[task][:0]
	for _, w := range waiting {
		n := &r.needs[w]
		if n.missing--; n.missing > 0 {
			continue
		}
		tasks := n.tasks
		n.tasks = nil
		for _, again := range tasks {
			s.enqueue(queued{taskRef: s.refOf(w, again), first: true, remake: true})
		}
		switch {
		case n.release:
			n.release = false
			s.releasePhase(w)
		case n.open:
			n.open = false
			s.openGate(w)
		}
	}
	if run := &s.phases[i]; s.phaseOver(i) && len(run.running) == 0 {
		s.keep(run)
	}
	return true
}

// startReading records that a phase reads its input now, after which it no longer needs the outputs.
func (s *Sim) startReading(i int32) {
	if s.losses.on {
		for _, q := range s.p.Phases[i].Parents {
			s.losses.readers[q]--
		}
	}
}

// makeRoom kills the attempt launched last if a recomputation finds all slots of its class held by attempts that began early
// and wait for outputs, because they might wait for this one.
func (s *Sim) makeRoom() bool {
	if !s.losses.on {
		return false
	}
	for _, q := range s.firsts.list[s.firsts.head:] {
		if !q.remake {
			continue
		}
		class := s.p.Phases[q.phase].Class
		if s.idleIn(class) > 0 {
			continue
		}
		last := int32(-1)
		for n := range s.slots {
			sr := &s.slots[n]
			if sr.at < 0 || n >= len(s.p.Slots) || s.p.Slots[n].Class != class {
				continue
			}
			a := &s.phases[sr.phase].running[sr.at]
			if !a.waits || s.phases[sr.phase].gates == 0 {
				last = -1
				break // it ends regardless of the others
			}
			if last < 0 || a.Start > s.phases[s.slots[last].phase].running[s.slots[last].at].Start {
				last = int32(n)
			}
		}
		if last >= 0 {
			return s.preempt(s.slots[last].phase, s.phases[s.slots[last].phase].running[s.slots[last].at])
		}
	}
	return false
}
