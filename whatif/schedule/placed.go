package schedule

import (
	"slices"

	"straggler/whatif/replay"
	"straggler/whatif/schedule/placement"
)

// placer spreads the tasks of a phase that reads other phases' outputs over the racks, so as to minimise the load of the busiest
// of their links (MANTRI §5.2). It plans when the phase's tasks first wait for slots, with the outputs that exist by then and
// equal bandwidth for all links of equal capacity (the paper's estimate for phases that are not short). A task goes to a rack of
// its plan as long as one has a slot, else, as in the paper, to the first free slot anywhere.
//
// Without a network, or for phases that read no others, it does nothing, and tasks start in the order of their launches.
type placer struct {
	plans map[int32][]int32 // by phase: tasks that each rack is still to get; nil: not placed
	left  []float64
	on    [][]int32 // machines of each rack
}

// mayStart reports whether a task of a phase may start on a machine.
func (p *placer) mayStart(c *replay.Cluster, phase, machine int32) bool {
	if p == nil {
		return true
	}
	plan := p.plan(c, phase)
	if plan == nil || plan[c.Rack(machine)] > 0 {
		return true
	}
	for rack, tasks := range plan {
		if tasks > 0 && p.hasSlot(c, phase, int32(rack)) {
			return false
		}
	}
	return true
}

// hasSlot reports whether a rack has a free slot for a phase.
func (p *placer) hasSlot(c *replay.Cluster, phase, rack int32) bool {
	class := c.Class(phase)
	return slices.ContainsFunc(p.on[rack], func(m int32) bool { return c.Free(m, class) > 0 && c.HasRoom(phase, m) })
}

// started removes a task from the plan: from its rack's part or, if that is used up, from the largest one.
func (p *placer) started(c *replay.Cluster, phase, machine int32) {
	if p == nil || p.plans[phase] == nil {
		return
	}
	plan := p.plans[phase]
	rack := c.Rack(machine)
	if plan[rack] == 0 {
		for r := range plan {
			if plan[r] > plan[rack] {
				rack = int32(r)
			}
		}
	}
	plan[rack] = max(plan[rack]-1, 0)
}

// plan returns how many tasks of a phase each rack is still to get, or nil for phases that are not placed.
func (p *placer) plan(c *replay.Cluster, phase int32) []int32 {
	if plan, ok := p.plans[phase]; ok {
		return plan
	}
	if p.plans == nil {
		p.plans = map[int32][]int32{}
	}
	p.plans[phase] = p.solve(c, phase)
	return p.plans[phase]
}

func (p *placer) solve(c *replay.Cluster, phase int32) []int32 {
	racks := c.Racks()
	if p.on == nil {
		p.on = make([][]int32, racks)
		for m := range int32(c.NumMachines()) {
			p.on[c.Rack(m)] = append(p.on[c.Rack(m)], m)
		}
	}
	p.left = c.Left(phase, p.left[:0])
	if len(p.left) == 0 || racks < 2 {
		return nil
	}
	x := placement.Problem{Up: make([]float64, racks), Down: make([]float64, racks), Slots: make([]int, racks)}
	for r := range x.Up {
		l := c.Link(int32(r))
		if l.UpCapacity <= 0 || l.DownCapacity <= 0 {
			return nil
		}
		x.Up[r], x.Down[r] = l.UpCapacity, l.DownCapacity
	}
	n := c.PhaseTasks(phase)
	share := make([]float64, racks) // of one task; where nothing is known the outputs will be everywhere alike
	known := 0.0
	for _, b := range p.left {
		known += b
	}
	for r := range share {
		if share[r] = p.left[r] / float64(n); known == 0 {
			share[r] = 1
		}
	}
	for range n {
		x.Input = append(x.Input, share)
	}
	room := 0
	for m := range int32(c.NumMachines()) {
		slots := c.MachineSlots(m, c.Class(phase))
		x.Slots[c.Rack(m)] += slots
		room += slots
	}
	if room < n { // several waves: each as the whole
		x.Slots = nil
	}
	found, err := placement.Solve(&x)
	if err != nil { // capacities and sizes are those of a plan that was checked
		return nil
	}
	plan := make([]int32, racks)
	for _, r := range found.Rack {
		plan[r]++
	}
	return plan
}
