package laws

import "straggler/schema"

// Cycles finds cycles among edges that are added component by component. It holds one component in memory.
type Cycles struct {
	component schema.Key
	job       schema.Key // of an edge of the component
	next      map[schema.Key][]schema.Key
	from      []schema.Key // the keys of next, in the order of the edges
}

// Add adds an edge. A new component ends the previous one.
func (c *Cycles) Add(e *EdgeOfPhases, report Report) {
	if c.next != nil && e.Component != c.component {
		c.End(report)
	}
	if c.next == nil {
		c.component, c.job, c.next = e.Component, e.JobID, map[schema.Key][]schema.Key{}
	}
	if c.next[e.FromPhase] == nil {
		c.from = append(c.from, e.FromPhase)
	}
	c.next[e.FromPhase] = append(c.next[e.FromPhase], e.ToPhase)
}

// End reports one cycle of the component, if there is one, and discards its edges.
func (c *Cycles) End(report Report) {
	state := make(map[schema.Key]int8)
	for _, phase := range c.from {
		if cyclic(c.next, state, phase) {
			report.add("edges", c.job, "from_phase", EdgeOnce, "phase %d depends on itself", phase)
			break
		}
	}
	*c = Cycles{}
}

// cyclic walks depth first from a phase, without recursion because a log may contain very long chains. state: 1 = on the
// current path, 2 = done.
func cyclic(next map[schema.Key][]schema.Key, state map[schema.Key]int8, from schema.Key) bool {
	if state[from] == 2 {
		return false
	}
	type frame struct {
		phase schema.Key
		child int
	}
	path := []frame{{from, 0}}
	state[from] = 1
	for len(path) > 0 {
		top := &path[len(path)-1]
		if top.child == len(next[top.phase]) {
			state[top.phase] = 2
			path = path[:len(path)-1]
			continue
		}
		to := next[top.phase][top.child]
		top.child++
		if state[to] == 1 {
			return true
		}
		if state[to] == 0 {
			state[to] = 1
			path = append(path, frame{to, 0})
		}
	}
	return false
}
