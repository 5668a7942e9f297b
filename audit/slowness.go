package audit

import (
	"cmp"
	"math"
	"slices"

	"straggler/audit/measure"
	"straggler/schema"
	"straggler/sharing"
	"straggler/stats"
)

// Slowness describes how much longer tonight's tasks took than those of the same stages in the history, where, and what they
// spent the time on.
type Slowness struct {
	Factor *float64 `json:"factor"` // of all tasks: time over what is usual, 1 = as usual
	Shared bool     `json:"shared"` // nearly all machines are slow: what they share is
	// processor, disk, network or shared; empty if nothing is slow, or if the log does not show it
	Kind     string        `json:"kind,omitempty"`
	Waited   *float64      `json:"waited_share"` // of the time more than usual, waiting for input
	Machines []SlowMachine `json:"machines"`     // slowest first; the first mostListed

	Tasks     int64 `json:"tasks"`      // of stages with a history, as far as the log says what they have in common
	SlowTasks int64 `json:"slow_tasks"` // of these, slower than usual
	// what the slow tasks have in common and others do not, the best explanation first
	InCommon []sharing.Feature `json:"in_common"`

	took  float64
	racks []SlowMachine
}

// Words describes what the slow tasks have in common; empty if the tasks took hardly longer than usual.
func (s *Slowness) Words() []string {
	if s == nil || s.Factor == nil || *s.Factor < Worth && len(s.racks) == 0 {
		return nil
	}
	return sharing.Words(s.InCommon, s.Tasks, s.SlowTasks, s.took)
}

// Worth is the least factor of all tasks worth mentioning.
const Worth = 1.1

// SlowMachine compares one machine with the history of the stages whose tasks it ran.
type SlowMachine struct {
	Machine string   `json:"machine"`
	Node    string   `json:"node,omitempty"` // physical machine, where the machine is a container or slot of one
	Rack    string   `json:"rack,omitempty"`
	Tasks   int64    `json:"tasks"`
	Factor  *float64 `json:"factor"` // time of its tasks over what is usual for their stages
	// probability of so many slow tasks, given the history and the slowdown common to the other machines
	P *float64 `json:"p_value"`

	factor, excess float64
	// the factor, times that of the wait for input if that grew: machines that share a disk with a bad one are as slow, but
	// wait less
	rank      float64
	p, beyond float64 // by rank among the tasks of the history, and with a tail beyond the slowest of them
	asUsual   float64 // p, were the tasks of all machines as usual
	parts     []part
	asRack    string // of a rack: that all of its machines are
}

// mostListed bounds the machines of the output.
const mostListed = 20

// slowness compares the parts of tonight's run with the history.
func slowness(r *measure.Run, history []*measure.Run, matches *measure.Matches) (*Slowness, []SlowMachine) {
	const least = 2 // nights that make a history
	byMachine, usuals := map[string]*SlowMachine{}, map[int]*usual{}
	common := newCommon()
	total, usually := 0.0, 0.0
	for i := range r.Stages {
		s := &r.Stages[i]
		var past []*measure.Stage
		for _, h := range history {
			if t := matches.Stage(h, s); t != nil {
				past = append(past, t)
			}
		}
		if len(past) < least || len(s.Parts) == 0 {
			continue
		}
		u := usualOf(past, s)
		if !(u.time > 0) {
			continue
		}
		usuals[i] = &u
		common.add(s, u.slow())
		for _, q := range s.Parts {
			m := byMachine[q.Machine]
			if m == nil {
				m = &SlowMachine{Machine: q.Machine, Node: schema.Node(q.Machine), Rack: q.Rack}
				byMachine[q.Machine] = m
			}
			p := u.part(q)
			p.stage = i
			m.Tasks += q.Tasks
			m.excess += p.tasks * p.extra
			m.parts = append(m.parts, p)
			total, usually = total+p.tasks*p.usual*p.ratio, usually+p.tasks*p.usual
		}
	}
	if usually == 0 {
		return nil, nil
	}
	var machines []SlowMachine
	for _, name := range sortedKeys(byMachine) {
		m := byMachine[name]
		m.sum()
		machines = append(machines, *m)
	}
	others := base(machines)
	for i := range machines {
		machines[i].judge(others, usuals)
	}
	slices.SortStableFunc(machines, func(a, b SlowMachine) int { return cmp.Compare(b.rank, a.rank) })
	out := &Slowness{Factor: number(total / usually), Machines: machines[:min(len(machines), mostListed)]}
	out.Shared = others > slowPart && len(machines) >= leastShared
	common.describe(out, machines, usuals)
	slow := slowOnes(machines)
	out.Kind, out.took = kindOf(slow, out.Shared, len(out.racks) > 0), r.Values["time_s"]
	if extra, waited, _ := spent(slow); extra > 0 {
		out.Waited = number(waited / extra)
	}
	return out, machines
}

// leastShared is the number of machines from which a common slowdown is attributed to what they share instead of to one of
// them.
const leastShared = 3

// sum sums up the parts of a machine.
func (m *SlowMachine) sum() {
	sum, weight, waits, tasks := 0.0, 0.0, 0.0, 0.0
	for _, p := range m.parts {
		sum += p.tasks * p.usual * math.Log(p.ratio)
		weight += p.tasks * p.usual
		waits += p.tasks * math.Log(p.waits)
		tasks += p.tasks
	}
	m.factor = math.Exp(sum / weight)
	m.rank = m.factor * math.Exp(max(0, waits/tasks))
	m.Factor = number(m.factor)
}

// judge tests whether the machine is slow given the slowdown common to all machines, which is due to none of them. The p-values
// of the parts are combined by Fisher's method.
func (m *SlowMachine) judge(others float64, usuals map[int]*usual) {
	fisher, further, usually := 0.0, 0.0, 0.0
	for _, p := range m.parts {
		u := usuals[p.stage]
		rank, beyond := u.chance(p.ratio*u.work/others, int64(p.tasks))
		fisher -= 2 * math.Log(rank)
		further -= 2 * math.Log(beyond)
		rank, _ = u.chance(p.ratio*u.work, int64(p.tasks))
		usually -= 2 * math.Log(rank)
	}
	n := len(m.parts)
	m.p, m.beyond = stats.ChiSquaredSurvival(fisher, n), stats.ChiSquaredSurvival(further, n)
	m.asUsual = stats.ChiSquaredSurvival(usually, n)
	m.P = number(m.p)
}

// sharedChance returns the p-value of the hypothesis that the tasks of all machines are as usual: Simes' (1986) for several tests
// of one hypothesis.
func sharedChance(machines []SlowMachine) float64 {
	var p []float64
	for i := range machines {
		p = append(p, machines[i].asUsual)
	}
	slices.Sort(p)
	least := 1.0
	for i, x := range p {
		least = min(least, x*float64(len(p))/float64(i+1))
	}
	return least
}

// base returns the lower quartile of the factors of machines, at least 1: if it is large, something that they share is slow (a
// data source, the network, the time of day), and a machine is slow only relative to it. It is a quartile because samples are
// small: of four machines one is as fast as usual by chance, and two slow ones may be a rack.
func base(machines []SlowMachine) float64 {
	if len(machines) == 0 {
		return 1
	}
	v := make([]float64, len(machines))
	for i := range machines {
		v[i] = machines[i].factor
	}
	slices.Sort(v)
	return max(1, v[len(v)/4])
}

// slowOnes returns the machines that are slower than the others, or all machines if none is.
func slowOnes(machines []SlowMachine) []SlowMachine {
	var out []SlowMachine
	for i := range machines {
		if machines[i].factor > slowPart*base(machines) {
			out = append(out, machines[i])
		}
	}
	if len(out) == 0 {
		return machines
	}
	return out
}
