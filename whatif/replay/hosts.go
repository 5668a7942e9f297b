package replay

// hostsRun is what works on hosts that virtual machines share, in a planned pool without a network. As long as k of n machines of
// a host work, each is n/k times as fast as its factor says, and no faster than it is alone: those that work share in equal parts what
// the host has (LATE §5.1.1). The two attempts of a machine do not slow each other down: how long tasks take is said of machines with
// all their slots in use.
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

// sharing is whether machines share hosts.
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

// work lets the attempt that has just got a slot, or its input, work from an instant on.
func (s *Sim) work(slot int32, r *Running, from int64) {
	if !s.sharing() {
		s.tree.set(slot, from+r.done)
		return
	}
	h := &s.stages.hosts
	h.slots[slot] = share{on: true, before: float64(from - int64(r.Start)), total: float64(r.done), left: float64(r.done), at: from, speed: 1}
	h.busy[r.Machine]++
	host := s.p.Stages.HostOf[r.Machine]
	if host >= 0 && h.busy[r.Machine] == 1 {
		h.working[host]++
		s.reshare(host)
		return
	}
	s.goOn(slot, s.speed(r.Machine))
}

// rest ends the work of a slot.
func (s *Sim) rest(slot, machine int32) {
	if !s.sharing() || !s.stages.hosts.slots[slot].on {
		return
	}
	h := &s.stages.hosts
	h.slots[slot] = share{}
	h.busy[machine]--
	if host := s.p.Stages.HostOf[machine]; host >= 0 && h.busy[machine] == 0 {
		h.working[host]--
		s.reshare(host)
	}
}

// speed is how many times as fast as its factor says a machine is.
func (s *Sim) speed(machine int32) float64 {
	host := s.p.Stages.HostOf[machine]
	if host < 0 {
		return 1
	}
	all, working := len(s.p.Stages.Hosts[host].Machines), max(s.stages.hosts.working[host], 1)
	return min(float64(all)/float64(working), s.p.Stages.Alone[machine])
}

// reshare divides a host anew among the machines that work.
func (s *Sim) reshare(host int32) {
	for _, m := range s.p.Stages.Hosts[host].Machines {
		if s.stages.hosts.busy[m] == 0 {
			continue
		}
		speed := s.speed(m)
		for _, slot := range s.p.Machines[m].Slots {
			if s.stages.hosts.slots[slot].on {
				s.goOn(slot, speed)
			}
		}
	}
}

// goOn lets a slot's work go on at a speed.
func (s *Sim) goOn(slot int32, speed float64) {
	x := &s.stages.hosts.slots[slot]
	x.left, x.at, x.speed = x.remaining(s.now), max(x.at, s.now), speed
	s.tree.set(slot, max(x.at+int64(x.left/speed+0.5), s.now))
}

// remaining is what is left of the work at an instant.
func (x *share) remaining(at int64) float64 {
	return max(x.left-float64(max(at-x.at, 0))*x.speed, 0)
}

// workDone is the share of its work that an attempt has done; before it works, that of the time since its start.
func (s *Sim) workDone(a *Running, at int64) float64 {
	x := &s.stages.hosts.slots[a.slot]
	if !x.on || x.total <= 0 {
		return min(float64(at-int64(a.Start))/s.whole(a), 1)
	}
	return 1 - x.remaining(at)/(x.before+x.total)
}
