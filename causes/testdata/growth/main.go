// Command growth attributes phases of as many tasks and machines as its arguments say: TestGrowth builds it with counters of
// its statements.
package main

import (
	"fmt"
	"os"

	"straggler/causes"
	"straggler/causes/causestest"
	"straggler/causes/fit"
	"straggler/causes/model"
)

func main() {
	var phases, tasks, machines int
	if _, err := fmt.Sscan(os.Args[1]+" "+os.Args[2]+" "+os.Args[3], &phases, &tasks, &machines); err != nil {
		panic(err)
	}
	c := causestest.New(3, machines)
	var all []*fit.Phase
	for range phases {
		all = append(all, phase(c, tasks, machines))
	}
	all = append(all, stopped(tasks, machines))
	l := model.NewLearner(3600, nil, nil)
	for _, p := range all {
		l.Observe(p)
	}
	a := causes.NewAttributor(l.Model())
	for _, p := range all {
		a.Attribute(p, nil)
	}
}

// phase has tasks of all kinds that take a way of their own: slow by themselves, by their work, a wait, a collection, their
// start or a late launch, cut short, and made again.
func phase(c *causestest.Cluster, tasks, machines int) *fit.Phase {
	return c.Phase(tasks, 2, func(int) float64 { return 1 + 0.3*c.Rng.Float64() }, func(t *fit.Task, body *float64) {
		t.CPU, t.Wait, t.GC = 0.5**body, 0.01, 0.01
		t.Cold = int(t.Index) < 2*machines
		switch c.Rng.IntN(25) {
		case 0:
			*body *= 3
		case 1:
			t.Bytes, t.Records = 4*t.Bytes, 4*t.Records
			*body *= 4
		case 2, 3:
			t.Wait = 4
		case 4:
			t.GC = 2
		case 5:
			t.Delay = 3
		case 6:
			t.Spill = 1e8
			*body += 3
		case 7:
			t.Succeeded, t.Cut = false, true
			*body *= 2
		case 8:
			t.Convert = 3
		case 9:
			t.Recompute, t.Succeeded = tasks > 100 && t.Index%50 == 0, true
		}
	})
}

// stopped has tasks that begin at once, of which those on every fifth machine end at once, when the driver goes on.
func stopped(tasks, machines int) *fit.Phase {
	c := causestest.New(4, machines)
	c.Slots = (tasks + machines - 1) / machines
	from := c.Now
	return c.Phase(tasks, 2, nil, func(t *fit.Task, body *float64) {
		t.Wait = 0.01
		switch end := t.Start.V.Sub(from) + *body; {
		case t.Machine%5 > 0:
			*body += 4 - end + c.Rng.Float64()
		case t.Index%3 == 0:
			t.Wait, t.Delay = 3, 4-end
		default:
			t.Delay = 7 - end - t.Wait
		}
	})
}
