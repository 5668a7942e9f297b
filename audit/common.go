package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"straggler/audit/measure"
	"straggler/schema"
	"straggler/sharing"
)

// common counts the tasks of tonight that are slow relative to the history by what they have in common.
type common struct {
	tasks *sharing.Tasks
	names map[schema.Key]string // of stages
}

func newCommon() *common { return &common{sharing.New(), map[schema.Key]string{}} }

// add counts the tasks of a stage.
func (c *common) add(s *measure.Stage, limit float64) {
	type group struct{ dimension, value string }
	type count struct{ tasks, slow float64 }
	counts := map[group]count{}
	for i := range s.Shared {
		x := &s.Shared[i]
		n := counts[group{x.Dimension, x.Value}]
		n.tasks += float64(x.Tasks)
		if x.Seconds() > limit {
			n.slow += float64(x.Tasks)
		}
		counts[group{x.Dimension, x.Value}] = n
	}
	all := counts[group{sharing.Stage, ""}]
	if all.tasks == 0 {
		return
	}
	c.names[s.ApplicationKey] = s.Signature.String()
	order := func(a, b group) int {
		return cmp.Or(cmp.Compare(a.dimension, b.dimension), cmp.Compare(a.value, b.value))
	}
	for _, g := range slices.SortedFunc(maps.Keys(counts), order) {
		n := counts[g]
		if n.tasks == 0 { // of a table or path
			n = all
		}
		c.tasks.Add(s.ApplicationKey, g.dimension, g.value, n.tasks, n.slow)
	}
}

// describe adds to s what the slow tasks have in common, and the racks whose machines are slow together. Such a rack explains the
// slow tasks at least as well as any machine, node or source, and at least two of its machines ran tasks.
func (c *common) describe(s *Slowness, machines []SlowMachine, usuals map[int]*usual) {
	s.InCommon = append([]sharing.Feature{}, c.tasks.Shared(c.names)...)
	s.Tasks, s.SlowTasks = c.tasks.Count()
	i := slices.IndexFunc(s.InCommon, func(f sharing.Feature) bool { return f.OfTasks() })
	if i < 0 || s.InCommon[i].Dimension != sharing.Rack {
		return
	}
	for _, rack := range s.InCommon[i].Values {
		of := SlowMachine{Rack: rack}
		n := 0
		for k := range machines {
			if m := &machines[k]; m.Rack == rack {
				n++
				of.Tasks, of.excess, of.parts = of.Tasks+m.Tasks, of.excess+m.excess, append(of.parts, m.parts...)
			}
		}
		if n >= 2 {
			of.asRack = fmt.Sprintf(", with all of its %d machines", n)
			of.sum()
			of.judge(base(machines), usuals)
			s.racks = append(s.racks, of)
		}
	}
}
