package replay

import "straggler/whatif/workload"

// hostsRun is the activity on hosts that virtual machines share, in a planned pool without a network. Active machines share a
// host equally, and active attempts share a machine equally (LATE §5.1.1), maps and reduces alike, since they use the same disk.
// Task times are given for the case that all machines are active, each with all slots of the task's class in use and none of the
// other class, so an attempt is
//
//	min(machines of the host / those that work, alone) · slots of its class on its machine / attempts that work on the machine
//
// times as fast as its machine's factor implies, where alone is the speedup of a machine that has its host to itself. Copying
// counts as activity.
type hostsRun struct {
	working []int32 // by host: machines that work
	busy    []int32 // by machine: attempts that work
	slots   []share // by slot
}

// share is the work of the attempt on a slot.
type share struct {
	on     bool
	before float64 // µs from its start until it works
	total  float64 // µs that the work takes at the machine's factor
	left   float64 // of it, at an instant
	at     int64
	speed  float64 // from then on
}

// sharing reports whether machines share hosts.
func (s *Sim) sharing() bool { return s.staged() && s.p.Stages.HostOf != nil }

func (s *Sim) resetHosts() {
	if !s.sharing() {
		return
	}
	h := &s.stages.hosts
	h.working, h.busy, h.slots = resize(h.working, len(s.p.Stages.Hosts)), resize(h.busy, len(s.p.Machines)), resize(h.slots, len(s.p.Slots))
	clear(h.working)
	clear(h.busy)
	clear(h.slots)
}

// work makes an attempt that has just got a slot, or its input, active from an instant on.
func (s *Sim) work(slot int32, r *Running, from int64) {
	if !s.sharing() {
		s.tree.set(slot, from+s.takes[slot])
		return
	}
	takes := float64(s.takes[slot])
	s.share(slot, r, share{on: true, before: float64(from - int64(r.Start)), total: takes, left: takes, at: from, speed: 1})
}

// copies makes the attempt on a slot copy, on machines that share hosts. When the upstream phases end, the last outputs remain
// to be copied.
func (s *Sim) copies(i, slot int32, r *Running) {
	x, st := &s.stages.hosts.slots[slot], &s.stages.slots[slot]
	all := float64(s.p.Stages.Fetch[s.p.Phases[i].FirstTask+r.Task]) * float64(s.p.Machines[r.Machine].Factor)
	last := 0.0
	if s.phases[i].gates == 0 && s.p.Phases[i].Gated > 0 && s.phases[i].opened >= int64(r.Start) {
		last = reportEvery * all
	}
	switch {
	case x.on: // the phases before have ended
		x.left, x.at = max(x.remaining(s.now), last), s.now
		s.goOn(slot, x.speed)
	case st.copied:
		s.share(slot, r, share{on: true, total: all, left: last, at: s.now, speed: 1})
	default:
		s.share(slot, r, share{on: true, total: all, left: all, at: int64(r.Start), speed: 1})
	}
}

// share makes an attempt active and recomputes the shares of its machine and its host.
func (s *Sim) share(slot int32, r *Running, x share) {
	h := &s.stages.hosts
	h.slots[slot] = x
	h.busy[r.Machine]++
	host := s.p.Stages.HostOf[r.Machine]
	switch {
	case host < 0:
		s.goOn(slot, 1)
	case h.busy[r.Machine] == 1:
		h.working[host]++
		s.reshare(host)
	default:
		s.reshareMachine(host, r.Machine)
	}
}

// rest ends the activity of a slot.
func (s *Sim) rest(slot, machine int32) {
	if !s.sharing() || !s.stages.hosts.slots[slot].on {
		return
	}
	h := &s.stages.hosts
	h.slots[slot] = share{}
	h.busy[machine]--
	host := s.p.Stages.HostOf[machine]
	switch {
	case host < 0:
	case h.busy[machine] == 0:
		h.working[host]--
		s.reshare(host)
	default:
		s.reshareMachine(host, machine)
	}
}

// reshare recomputes the shares of a host among its active machines.
func (s *Sim) reshare(host int32) {
	for _, m := range s.p.Stages.Hosts[host].Machines {
		if s.stages.hosts.busy[m] > 0 {
			s.reshareMachine(host, m)
		}
	}
}

// reshareMachine recomputes the shares of an active machine among its active attempts.
func (s *Sim) reshareMachine(host, m int32) {
	h, slots := &s.stages.hosts, s.p.Machines[m].Slots
	var ofClass [workload.Classes]float64
	for _, slot := range slots {
		ofClass[s.p.Slots[slot].Class]++
	}
	ofHost := min(float64(len(s.p.Stages.Hosts[host].Machines))/float64(h.working[host]), s.p.Stages.Alone[m])
	for _, slot := range slots {
		if h.slots[slot].on {
			s.goOn(slot, ofHost*ofClass[s.p.Slots[slot].Class]/float64(h.busy[m]))
		}
	}
}

// goOn continues the work of a slot at a new speed.
func (s *Sim) goOn(slot int32, speed float64) {
	x := &s.stages.hosts.slots[slot]
	x.left, x.at, x.speed = x.remaining(s.now), max(x.at, s.now), speed
	s.tree.set(slot, max(x.at+int64(x.left/speed+0.5), s.now))
}

// remaining returns the work left at an instant.
func (x *share) remaining(at int64) float64 {
	return max(x.left-float64(max(at-x.at, 0))*x.speed, 0)
}

// workDone returns the share of its work that an attempt has done; before it is active, the share of the time since its start.
func (s *Sim) workDone(a *Running, at int64) float64 {
	x := &s.stages.hosts.slots[a.slot]
	if !x.on || x.total <= 0 {
		return min(float64(at-int64(a.Start))/s.whole(a), 1)
	}
	return 1 - x.remaining(at)/(x.before+x.total)
}
