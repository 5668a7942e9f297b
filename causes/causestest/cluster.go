// Package causestest makes phases of known times and faults, for tests of the model of causes. Start with cluster.go.
package causestest

import (
	"math"
	"math/rand/v2"

	"straggler/causes/fit"
	"straggler/schema"
	"straggler/stats"
)

// Cluster makes phases of tasks whose times are (fixed + perByte·bytes) × machine × noise, and faults on
// top of it that are known.
type Cluster struct {
	Rng      *rand.Rand
	machines int
	Slots    int // of a machine
	Noise    float64
	Speed    []float64 // factor of each machine
	Now      schema.Time
	next     schema.Key
}

// New makes a cluster of machines that are alike, with four slots each.
func New(seed uint64, machines int) *Cluster {
	c := &Cluster{Rng: rand.New(rand.NewPCG(seed, 1)), machines: machines, Slots: 4, Noise: 0.1, Now: 1_700_000_000_000_000, next: 1}
	for range machines {
		c.Speed = append(c.Speed, 1)
	}
	return c
}

// Phase runs n tasks of about body seconds each; work gives the relative input of each task and spoil may change it
// before it runs.
func (c *Cluster) Phase(n int, body float64, work func(i int) float64, spoil func(t *fit.Task, body *float64)) *fit.Phase {
	p := &fit.Phase{ID: c.next, Tasks: make([]fit.Task, n)}
	free := make([]schema.Time, c.machines*c.Slots) // each slot
	for i := range free {
		free[i] = c.Now
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
		t := fit.Task{Attempt: c.next + schema.Key(i), Phase: p.ID, Index: int64(i), Machine: int64(slot % c.machines),
			Start: schema.Some(free[slot]), Succeeded: true, Excess: math.NaN(), Bytes: math.Round(w * 64e6), Records: math.Round(w * 1e6),
			Remote: 0, Written: 1e6, CPU: math.NaN(), Away: 0, Delay: 0.01, Convert: 0.005}
		b := body * (0.1 + 0.9*w) * c.Speed[t.Machine] * math.Exp(c.Noise*c.Rng.NormFloat64())
		if spoil != nil {
			spoil(&t, &b)
		}
		t.Duration = b + fit.Known(t.Wait) + fit.Known(t.GC) + fit.Known(t.Delay) + fit.Known(t.Convert)
		free[slot] = free[slot].Add(t.Duration)
		p.Tasks[i] = t
	}
	c.next += schema.Key(n)
	for _, f := range free {
		c.Now = max(c.Now, f)
	}
	DetectIn(p)
	return p
}

// DetectIn marks the outliers of a phase as detect does.
func DetectIn(p *fit.Phase) {
	var d []float64
	for i := range p.Tasks {
		if p.Tasks[i].Succeeded {
			d = append(d, p.Tasks[i].Duration)
		}
	}
	m := stats.Median(d)
	for i := range p.Tasks {
		t := &p.Tasks[i]
		t.Slow, t.Excess = false, math.NaN()
		switch {
		case t.Recompute:
			t.Excess = t.Duration
		case t.Duration > 1.5*m:
			t.Slow, t.Excess = true, t.Duration-m
		}
	}
}
