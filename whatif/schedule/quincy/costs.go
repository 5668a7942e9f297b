package quincy

import (
	"fmt"
	"math"
	"slices"
)

// Costs in the network are whole thousandths of the paper's unit.
const unit = 1000

// most is the largest cost of waiting, work or data: 8.6 million units, half a year of waiting at the paper's price. Higher
// costs are capped at it. pinned is the cost of the edge that a running task is on without preemption, which outweighs it.
const (
	most   = int64(1) << 33
	pinned = -8 * most
)

// complete sets the paper's prices if none were given.
func (p *Prices) complete() error {
	for _, x := range []struct {
		name   string
		value  *float64
		normal float64
	}{{"Wait", &p.Wait, 0.5}, {"RackGB", &p.RackGB, 1}, {"CoreGB", &p.CoreGB, 2}, {"Work", &p.Work, 1}, {"Preferred", &p.Preferred, 0.1}} {
		if *x.value == 0 {
			*x.value = x.normal
		}
		if !(*x.value > 0 && *x.value <= 1e6) {
			return fmt.Errorf("quincy: price %s of %g is not between 0 and a million", x.name, *x.value)
		}
	}
	return nil
}

// input holds the costs of a task's edges that depend on its data alone.
type input struct {
	bytes           int64
	machines, racks []Part // all that hold some of it; Bytes are exact
	cluster         int64  // cost of the worst machine of the cluster
}

// seconds returns the cost of some seconds at a price per second.
func seconds(s, price float64) int64 { return bounded(math.Floor(s * price * unit)) }

func bounded(cost float64) int64 { return int64(min(max(cost, -float64(most)), float64(most))) }

// moving returns the cost of running where machine and rack hold the given parts of an input: what the machine lacks comes from
// its rack, and what the rack lacks comes from other racks.
func (s *Scheduler) moving(bytes, machine, rack int64) int64 {
	gb := (float64(rack-machine)*s.o.RackGB + float64(bytes-rack)*s.o.CoreGB) / 1e9
	return bounded(math.Round(gb * unit))
}

// read copies an input, and computes what its racks hold and what the worst machine costs.
func (s *Scheduler) read(b *input, in Input) {
	b.bytes = max(in.Bytes, 0)
	b.machines, b.racks = b.machines[:0], b.racks[:0]
	for _, p := range in.Machines {
		if p.Where < 0 || p.Where >= len(s.machines) || p.Bytes <= 0 {
			continue
		}
		p.Bytes = min(p.Bytes, b.bytes)
		b.machines = append(b.machines, p)
		s.hold(b, int(s.rackOf[p.Where]), p.Bytes)
	}
	for _, p := range in.Racks {
		if p.Where >= 0 && p.Where < len(s.racks) && p.Bytes > 0 {
			s.hold(b, p.Where, min(p.Bytes, b.bytes))
		}
	}
	slices.SortFunc(b.machines, func(x, y Part) int { return x.Where - y.Where })
	slices.SortFunc(b.racks, func(x, y Part) int { return x.Where - y.Where })
	b.cluster = s.moving(b.bytes, 0, 0)
	if len(b.racks) == len(s.racks) {
		b.cluster = 0
		for _, p := range b.racks {
			b.cluster = max(b.cluster, s.rackCost(b, p.Where))
		}
	}
}

// hold records that a rack holds at least a number of bytes.
func (s *Scheduler) hold(b *input, rack int, bytes int64) {
	for k := range b.racks {
		if b.racks[k].Where == rack {
			b.racks[k].Bytes = max(b.racks[k].Bytes, bytes)
			return
		}
	}
	b.racks = append(b.racks, Part{rack, bytes})
}

// partOf returns how much a machine or rack in a list holds.
func partOf(list []Part, where int) int64 {
	for _, p := range list {
		if p.Where == where {
			return p.Bytes
		}
	}
	return 0
}

// machineCost returns the cost of moving a task's data to a machine.
func (s *Scheduler) machineCost(b *input, m int) int64 {
	return s.moving(b.bytes, partOf(b.machines, m), partOf(b.racks, int(s.rackOf[m])))
}

// rackCost returns that of the worst machine of a rack.
func (s *Scheduler) rackCost(b *input, r int) int64 {
	least, holders := int64(math.MaxInt64), 0
	for _, p := range b.machines {
		if int(s.rackOf[p.Where]) == r {
			least, holders = min(least, p.Bytes), holders+1
		}
	}
	if holders < len(s.inRack[r]) {
		least = 0
	}
	return s.moving(b.bytes, least, partOf(b.racks, r))
}

// preferred reports whether a machine or rack that holds that much of an input has an edge of its own.
func (s *Scheduler) preferred(b *input, held int64) bool {
	return float64(held) >= s.o.Preferred*float64(b.bytes)
}

// # Time
//
// A waiting task's edge to its unscheduled node costs ω × the seconds that it has waited; all those costs would change at every
// event. As one unit leaves every task, the optimum is the same if ω × now is subtracted from all edges of all tasks. Then
//   - to the unscheduled node a waiting task pays ω × (waited before − ready), which is constant;
//   - the data edges keep their costs, and −ω × now moves to the arcs from machines to the sink, one per machine;
//   - a running task pays ω × (waited − now) to the unscheduled node, and on its own machine the cost of its data minus the
//     work that it would lose; both fall, and these are the only edges of tasks that depend on time.
//
// Now is counted from a base that moves before these costs become large.

// waitCost returns the cost of a waiting task's edge to its unscheduled node.
func (s *Scheduler) waitCost(b *task) int64 { return seconds(b.waited-(b.ready-s.base), s.o.Wait) }

// stopCost returns the same for a running task.
func (s *Scheduler) stopCost(b *task) int64 { return seconds(b.waited-(s.now-s.base), s.o.Wait) }

// stayCost returns the cost of a running task's edge to its machine. It is one less than that of moving the data, so that a
// task that has just started is not moved for no gain.
func (s *Scheduler) stayCost(b *task) int64 {
	if !s.o.Preempt {
		return pinned
	}
	return s.machineCost(&b.input, int(b.on)) - seconds(s.now-b.started, s.o.Work) - 1
}

// reprice updates the costs in the network to the present.
func (s *Scheduler) reprice() {
	if s.now == s.priced {
		return
	}
	s.priced = s.now
	if (s.now-s.base)*s.o.Wait*unit > float64(most)/2 {
		s.rebase()
	}
	for m := range s.machines {
		s.network.SetCost(s.machines[m].out, s.slotCost())
	}
	if !s.o.Preempt {
		return
	}
	for _, t := range s.on {
		b := &s.tasks[t]
		s.network.SetCost(b.toUnscheduled, s.stopCost(b))
		s.network.SetCost(b.toOwn.arc, s.stayCost(b))
	}
}

// rebase moves the base to the present.
func (s *Scheduler) rebase() {
	s.base = s.now
	for t := range s.tasks {
		if b := &s.tasks[t]; b.on == waiting {
			s.network.SetCost(b.toUnscheduled, s.waitCost(b))
		} else if b.on >= 0 {
			s.network.SetCost(b.toUnscheduled, s.stopCost(b))
		}
	}
}

// slotCost returns the cost of the arcs from machines to the sink.
func (s *Scheduler) slotCost() int64 { return seconds(s.base-s.now, s.o.Wait) }
