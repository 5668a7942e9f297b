package workload

import (
	"cmp"
	"slices"

	"straggler/schema"
	"straggler/whatif/heap"
)

// place assigns to every attempt the slot that it ran on: of the free slots of its executor, the one that became free last. The
// number of slots is the one that the log declares or, without a declaration, the largest number that the executor used at once.
func (d *draft) place(rows []*schema.Machine) {
	groups := d.slotGroups(rows)
	d.claim = make([]int64, len(d.Attempts))
	byGroup := make([][]int32, len(groups.list))
	for a := range d.Attempts {
		g := groups.of(d.attemptRow[a])
		for int(g) >= len(byGroup) {
			byGroup = append(byGroup, nil)
		}
		byGroup[g] = append(byGroup[g], int32(a))
	}
	measured := true
	for g := range groups.list {
		if len(byGroup) > g {
			d.placeGroup(&groups.list[g], byGroup[g])
		}
		measured = measured && !groups.list[g].declared
	}
	d.Limit = len(d.Slots)
	switch {
	case measured:
		d.Limit = d.bind(slices.Concat(d.slotted()...), true)
	case len(d.Applications) > 1:
		for j, attempts := range d.slotted() {
			d.Jobs[j].Limit = int32(d.bind(attempts, false))
		}
	}
	for a := len(d.Attempts) - 1; a >= 0; a-- {
		t := &d.Tasks[d.Attempts[a].Task]
		t.Machine = groups.list[groups.of(d.attemptRow[a])].machine
	}
}

// slotGroup is the slots of one executor, or of a machine, or of machines that the log does not name.
type slotGroup struct {
	machine    int32
	declared   bool
	slots      int
	from, till int64
}

type slotGroups struct {
	list    []slotGroup
	index   map[[2]int32]int32
	machine map[int32]int32 // of names, index into Pool.machines
	d       *draft
}

func (d *draft) slotGroups(rows []*schema.Machine) *slotGroups {
	g := &slotGroups{index: map[[2]int32]int32{}, machine: map[int32]int32{}, d: d}
	for _, m := range rows {
		if m.Slots.Or(0) <= 0 {
			continue
		}
		n := g.add(d.rows.Intern(m.Machine), d.rows.internNull(m.Executor))
		s := &g.list[n]
		s.slots, s.declared = max(s.slots, int(m.Slots.V)), true
		s.from, s.till = -Forever, Forever
		if m.AddedTime.OK {
			s.from = d.at(int64(m.AddedTime.V))
		}
		if m.RemovedTime.OK {
			s.till = d.at(int64(m.RemovedTime.V))
		}
	}
	return g
}

func (g *slotGroups) add(machine, executor int32) int32 {
	key := [2]int32{machine, executor}
	if n, ok := g.index[key]; ok {
		return n
	}
	m, ok := g.machine[machine]
	if !ok {
		m = int32(len(g.d.Machines))
		name := ""
		if machine >= 0 {
			name = g.d.rows.Names[machine]
		}
		g.d.Machines = append(g.d.Machines, MachineOf(name))
		g.machine[machine] = m
	}
	n := int32(len(g.list))
	g.list = append(g.list, slotGroup{machine: m, from: -Forever, till: Forever})
	g.index[key] = n
	return n
}

// MachineOf returns a machine without slots that is like the others.
func MachineOf(name string) Machine { return Machine{Name: name, Factor: 1} }

// of returns the group that an attempt ran in: that of its executor, else that of its machine as a whole.
func (g *slotGroups) of(a *LoggedAttempt) int32 {
	if n, ok := g.index[[2]int32{a.Machine, a.Executor}]; ok {
		return n
	}
	if n, ok := g.index[[2]int32{a.Machine, -1}]; ok && g.list[n].declared {
		return n
	}
	return g.add(a.Machine, a.Executor)
}

// placeGroup places the attempts of one executor. An executor that had gone before the first job arrived has no slot in the pool.
func (d *draft) placeGroup(g *slotGroup, attempts []int32) {
	if g.till <= 0 && len(attempts) == 0 {
		return
	}
	slices.SortFunc(attempts, func(a, b int32) int { return cmp.Or(cmp.Compare(d.start[a], d.start[b]), cmp.Compare(a, b)) })
	placed := 0
	if g.declared {
		d.colour(attempts, g.slots, true, func(int32, int32, int64) { placed++ })
	}
	// If more than a twentieth of their time is beyond the declared slots, the declaration does not limit them. A count
	// of attempts would not show that: under load a framework writes down ends so late that many short attempts overlap.
	if over := len(attempts) - placed; g.declared && (over < 3 || d.beyond(attempts, g.slots) <= 0.05) {
		d.notes.DeclaredSlots += g.slots
		d.notes.OverSlots += over
	} else {
		g.declared, g.slots = false, d.colour(attempts, 0, true, nil)
		d.notes.MeasuredSlots += g.slots
	}
	n := g.slots
	if !g.declared {
		n = 0
	}
	base := int32(len(d.Slots))
	d.ExecutorSlots = max(d.ExecutorSlots, g.slots)
	for range g.slots {
		d.Machines[g.machine].Slots = append(d.Machines[g.machine].Slots, int32(len(d.Slots)))
		d.Slots = append(d.Slots, Slot{Machine: g.machine, Executor: base, From: g.from, Till: max(g.till, 0)})
	}
	for _, a := range attempts {
		d.claim[a] = d.readyAt(a)
	}
	d.colour(attempts, n, true, func(a, s int32, free int64) {
		d.keepSlot(a, base+s, free)
	})
}

// beyond returns the share of the time of attempts, in order of start, during which more of them ran than there are slots.
func (d *draft) beyond(attempts []int32, slots int) float64 {
	ends := make([]int64, len(attempts))
	for i, a := range attempts {
		ends[i] = max(d.end[a], d.start[a])
	}
	slices.Sort(ends)
	over, all, running, at := 0.0, 0.0, 0, int64(0)
	pass := func(to int64, change int) {
		all += float64(running) * float64(to-at)
		over += float64(max(running-slots, 0)) * float64(to-at)
		at, running = to, running+change
	}
	for _, end := range ends {
		for len(attempts) > 0 && d.start[attempts[0]] < end {
			pass(d.start[attempts[0]], 1)
			attempts = attempts[1:]
		}
		pass(end, -1)
	}
	return over / max(all, 1)
}

// freed is a slot that comes free; a heap of them is in order of time.
type freed struct {
	at   int64
	slot int32
	last bool // its last attempt took no time: the slot is not used again in the same instant
}

// Before orders them by when they came free.
func (f freed) Before(g freed) bool {
	if f.at != g.at {
		return f.at < g.at
	}
	if f.last != g.last {
		return g.last
	}
	return f.slot < g.slot
}

// overlap bounds how far an attempt may begin before the end of the one that had its slot, absolutely and as a share of its
// duration: frameworks reuse a slot when the result is announced, and log the end when they have processed it.
const (
	overlapMost  = 1_000_000
	overlapShare = 0.1
)

// colour assigns attempts, in order of start, to n slots, always taking the slot that became free last, and reports each
// attempt's slot and since when it was free; if late is set, that may be a little after the attempt's start. Attempts that find
// no free slot are passed over. With n = 0 there are as many slots as needed, and it returns their number.
func (d *draft) colour(attempts []int32, n int, late bool, report func(a, slot int32, free int64)) int {
	var idle []freed // the slot that came free last is at the end
	for s := n - 1; s >= 0; s-- {
		idle = append(idle, freed{at: -Forever, slot: int32(s)})
	}
	var busy heap.Heap[freed]
	opened := int32(n)
	for _, a := range attempts {
		start := d.start[a]
		for len(busy) > 0 && (busy[0].at < start || busy[0].at == start && !busy[0].last) {
			idle = append(idle, busy.Pop())
		}
		if late && len(idle) == 0 && len(busy) > 0 && d.handsOn(busy[0], a) {
			idle = append(idle, busy.Pop())
		}
		if len(idle) == 0 {
			if n > 0 {
				continue
			}
			idle = append(idle, freed{at: -Forever, slot: opened})
			opened++
		}
		f := idle[len(idle)-1]
		idle = idle[:len(idle)-1]
		if report != nil {
			if f.last {
				f.at++
			}
			report(a, f.slot, f.at)
		}
		busy.Push(freed{at: max(d.end[a], start), slot: f.slot, last: d.end[a] <= start})
	}
	return int(opened)
}

// handsOn reports whether the slot of an attempt that has not ended yet can be the one that attempt a ran on.
func (d *draft) handsOn(f freed, a int32) bool {
	early := f.at - d.start[a]
	return !f.last && d.Attempts[a].Fork < 0 && early <= overlapMost && float64(early) <= overlapShare*float64(d.end[a]-d.start[a])
}

// keepSlot records that attempt a ran on a slot that had become free at an instant: it claimed the slot then, or when it became
// ready, whichever was later.
func (d *draft) keepSlot(a, s int32, free int64) {
	sl := &d.Slots[s]
	sl.From = min(sl.From, d.start[a]) // a log may announce an executor after its first task
	free = max(free, sl.From)
	d.Attempts[a].Slot = s
	d.claim[a] = max(free, min(d.readyAt(a), d.start[a]))
	sl.Till = max(sl.Till, d.claim[a]+1)
}

// readyAt returns when an attempt could have been launched, had there been a slot.
func (d *draft) readyAt(a int32) int64 {
	at := &d.Attempts[a]
	p := d.prev[a]
	switch {
	case p < 0:
		return d.released[d.Tasks[at.Task].Phase]
	case d.Attempts[p].Fork == a:
		return d.start[p] + at.Ready
	}
	return d.end[p] + at.Ready
}

// bind returns the largest number of attempts that ran at once. That is taken as a limit: of the pool, if the log does not
// declare the slots; of a job, if applications share a cluster that gives each a part of it. A claim is then also bound to the
// end of the attempt that made room for it.
func (d *draft) bind(attempts []int32, late bool) int {
	slices.SortFunc(attempts, func(a, b int32) int { return cmp.Or(cmp.Compare(d.start[a], d.start[b]), cmp.Compare(a, b)) })
	n := d.colour(attempts, 0, late, func(a, _ int32, free int64) { d.claim[a] = max(d.claim[a], free) })
	return max(n, 1)
}

// slotted returns the attempts that use a slot, by job.
func (d *draft) slotted() [][]int32 {
	out := make([][]int32, len(d.Jobs))
	for a := range d.Attempts {
		if d.Attempts[a].Slot >= 0 {
			j := d.Phases[d.Tasks[d.Attempts[a].Task].Phase].Job
			out[j] = append(out[j], int32(a))
		}
	}
	return out
}
