package causes

import (
	"math"
	"math/rand/v2"

	"straggler/schema"
)

// A cluster of these tests: phases of tasks whose times are (fixed + perByte·bytes) × machine × noise, and faults on
// top of it that are known.
type cluster struct {
	rng      *rand.Rand
	machines int
	slots    int // of a machine
	noise    float64
	speed    []float64 // factor of each machine
	now      schema.Time
	next     schema.Key
}

func newCluster(seed uint64, machines int) *cluster {
	c := &cluster{rng: rand.New(rand.NewPCG(seed, 1)), machines: machines, slots: 4, noise: 0.1, now: 1_700_000_000_000_000, next: 1}
	for range machines {
		c.speed = append(c.speed, 1)
	}
	return c
}

// phase runs n tasks of about body seconds each; work gives the relative input of each task and spoil may change it
// before it runs.
func (c *cluster) phase(n int, body float64, work func(i int) float64, spoil func(t *Task, body *float64)) *Phase {
	p := &Phase{ID: c.next, Tasks: make([]Task, n)}
	free := make([]schema.Time, c.machines*c.slots) // each slot
	for i := range free {
		free[i] = c.now
	}
	for i := range p.Tasks {
		slot := i % len(free)
		for s := range free {
			if free[s] < free[slot] {
				slot = s
			}
		}
		w := 1.0
		if work != nil {
			w = work(i)
		}
		t := Task{Attempt: c.next + schema.Key(i), Phase: p.ID, Index: int64(i), Machine: int64(slot % c.machines),
			Start: schema.Some(free[slot]), Succeeded: true, Excess: nan, Bytes: math.Round(w * 64e6), Records: math.Round(w * 1e6),
			Remote: 0, Written: 1e6, CPU: nan, Away: 0, Delay: 0.01, Convert: 0.005}
		b := body * (0.1 + 0.9*w) * c.speed[t.Machine] * math.Exp(c.noise*c.rng.NormFloat64())
		if spoil != nil {
			spoil(&t, &b)
		}
		t.Duration = b + known(t.Wait) + known(t.GC) + known(t.Delay) + known(t.Convert)
		free[slot] = free[slot].Add(t.Duration)
		p.Tasks[i] = t
	}
	c.next += schema.Key(n)
	for _, f := range free {
		c.now = max(c.now, f)
	}
	detectIn(p)
	return p
}

// detectIn marks the outliers of a phase as detect does.
func detectIn(p *Phase) {
	var d []float64
	for i := range p.Tasks {
		if p.Tasks[i].Succeeded {
			d = append(d, p.Tasks[i].Duration)
		}
	}
	m := median(d)
	for i := range p.Tasks {
		t := &p.Tasks[i]
		t.Slow, t.Excess = false, nan
		switch {
		case t.Recompute:
			t.Excess = t.Duration
		case t.Duration > 1.5*m:
			t.Slow, t.Excess = true, t.Duration-m
		}
	}
}

// attributeAll learns from all phases and attributes each.
func attributeAll(phases []*Phase) []schema.Attribution {
	l := NewLearner(3600)
	for _, p := range phases {
		l.Hear(p)
	}
	a := l.Model().NewAttributor()
	var rows []schema.Attribution
	for _, p := range phases {
		rows = a.Attribute(p, rows)
	}
	return rows
}

// verdicts are the rows of rank 1 by attempt.
func verdicts(rows []schema.Attribution) map[schema.Key]schema.Attribution {
	out := map[schema.Key]schema.Attribution{}
	for _, r := range rows {
		if r.Rank == 1 {
			out[r.AttemptID] = r
		}
	}
	return out
}
