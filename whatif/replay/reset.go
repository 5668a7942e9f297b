package replay

import (
	"math"
	"slices"

	"straggler/whatif/workload"
)

// reset prepares a replay. It reuses memory of the one before.
func (s *Sim) reset(p *workload.Pool, o Options) {
	s.p, s.o, s.now = p, o, 0
	s.view.s = s
	all := len(p.Slots) + p.Direct
	s.tree.reset(all)
	s.timers, s.ready, s.soon = s.timers[:0], s.ready[:0], s.soon[:0]
	s.firsts.reset()
	s.queue.reset()
	s.clones = s.clones[:0]
	s.visits = s.visits[:0]
	s.held = s.held[:0]
	s.fresh, s.due, s.busy, s.speculating, s.avoided = s.fresh[:0], s.due[:0], 0, 0, nil
	clear(s.unfinished[:])
	s.slots, s.takes = resize(s.slots, all), resize(s.takes, all)
	for n := range s.slots {
		s.slots[n] = slotRun{at: -1, next: -1}
		if n < len(p.Slots) {
			s.slots[n].kept = keptOf(p, n)
		}
	}
	for c := range s.free {
		s.free[c].reset(len(p.Slots))
	}
	for n := range p.Slots {
		if p.Slots[n].From > 0 {
			s.slots[n].gone = true
			s.timers.push(timerOf(p.Slots[n].From, slotAdded, int32(n)))
		} else {
			s.free[p.Slots[n].Class].add(int32(n))
		}
		if p.Slots[n].Till < workload.Forever {
			s.timers.push(timerOf(p.Slots[n].Till, slotRemoved, int32(n)))
		}
	}
	s.tasks = resize(s.tasks, len(p.Tasks))
	for n := range s.tasks {
		s.tasks[n] = taskRun{last: -1, slot: -1}
	}
	s.places = s.places[:0]
	s.dones = resize(s.dones, len(p.Tasks))
	s.phases = resize(s.phases, len(p.Phases))
	for n := range s.phases {
		ph, q := &s.phases[n], &p.Phases[n]
		s.keep(ph)
		*ph = phaseRun{
			queueRun: queueRun{head: -1}, anchors: q.Anchors, gates: q.Gated, turns: ph.turns[:0],
			done: s.dones[q.FirstTask : q.FirstTask : q.FirstTask+q.Tasks],
		}
	}
	s.jobs = resize(s.jobs, len(p.Jobs))
	for n := range s.jobs {
		s.jobs[n] = jobRun{phases: p.Jobs[n].Phases, released: -1, parked: s.jobs[n].parked[:0]}
	}
	s.solo = resize(s.solo, p.Solos)
	clear(s.solo)
	s.out.Jobs = resize(s.out.Jobs, len(p.Jobs))
	clear(s.out.Jobs)
	s.out = Outcome{Jobs: s.out.Jobs}
	if s.scheduled() {
		s.resetSched()
		if p.Stages != nil {
			s.resetStages()
		}
	}
	s.resetLosses()
}

func resize[T any](v []T, n int) []T {
	if cap(v) >= n {
		return v[:n]
	}
	return slices.Concat(v[:cap(v)], make([]T, n-cap(v)))
}

var nan32 = float32(math.NaN())
