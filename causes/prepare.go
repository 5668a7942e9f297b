package causes

import "math"

// prepare fits the phase with all that the others say.
func (a *Attributor) prepare(p *Phase) {
	b, m := &a.bench, a.model
	b.load(p.Tasks)
	b.cpuOf = nil
	b.survey()
	own := stage{}
	alone := len(b.rows) >= 2 && !a.lost(p)
	if alone {
		b.solveAlone()
		own = b.asStage()
	}
	a.prior.mean, a.prior.sd, a.prior.factor = a.prior.mean[:0], a.prior.sd[:0], a.prior.factor[:0]
	for k := range b.local.names {
		if !alone {
			c := a.cached(b.local.names[k], m.window(&p.Tasks[b.local.tasks(int32(k))[0]]))
			a.prior.mean = append(a.prior.mean, c.mean)
			a.prior.sd = append(a.prior.sd, c.sd)
			a.prior.factor = append(a.prior.factor, c.factor)
			continue
		}
		var t testimony
		if z, v, n := b.summary(int32(k)); n > 0 {
			t.add(z, v, n)
		}
		w := m.window(&p.Tasks[b.local.tasks(int32(k))[0]])
		mean, variance := m.prior(b.local.names[k], w, t)
		a.prior.mean = append(a.prior.mean, mean)
		a.prior.sd = append(a.prior.sd, math.Sqrt(variance))
		a.prior.factor = append(a.prior.factor, math.Exp(mean))
	}
	if cpu := a.cpuFactors(); alone || cpu != nil {
		b.cpuOf = cpu
		b.load(p.Tasks)
		b.survey()
	}
	b.own = m.own
	if len(b.rows) > 0 {
		b.solve(a.prior.factor, m.priors(p.Signature, own))
	}
	a.usual = a.usualMachine()
	a.measured()
}

// cpuFactors is what is known of the processor time that the phase's machines take, from other phases; nil where there are
// none, or where bytes or records measure work.
func (a *Attributor) cpuFactors() []float64 {
	b, m := &a.bench, a.model
	var out []float64
	b.hearCPU(func(k int32, z, v float64) {
		if out == nil {
			out = make([]float64, len(b.local.names))
			for i := range out {
				out[i] = 1
			}
		}
		if machine := b.local.names[k]; machine < int64(len(m.cpu)) {
			own := testimony{}
			own.add(z, v, 1)
			if t := m.cpu[machine].minus(own); t.phases > 0 {
				z, v, _ := t.spread()
				mean, _, _ := m.usual.posterior(z, v)
				out[k] = math.Exp(mean)
			}
		}
	})
	return out
}

// opinion is what is known of a machine in a window of time, no phase left out.
type opinion struct {
	window           int64
	mean, sd, factor float64
	phases           int64 // that spoke of it in the window
	ok               bool
}

// cached is the opinion of a machine; the last window of each machine is kept.
func (a *Attributor) cached(machine, window int64) opinion {
	for int64(len(a.opinions)) <= machine {
		a.opinions = append(a.opinions, opinion{})
	}
	c := &a.opinions[machine]
	if !c.ok || c.window != window {
		mean, variance := a.model.prior(machine, window, testimony{})
		*c = opinion{window, mean, math.Sqrt(variance), math.Exp(mean), a.model.heardIn(machine, window).phases, true}
	}
	return *c
}

// lost reports whether the phase's own part of what is known of its machines and its stage is lost in the rest, so
// that it need not be found and taken out.
func (a *Attributor) lost(p *Phase) bool {
	const many = 30
	m := a.model
	if n := m.stages[p.Signature].n; p.Signature != 0 && n < many*float64(len(a.bench.rows)) {
		return false
	}
	for k, machine := range a.bench.local.names {
		if machine >= int64(len(m.machines)) {
			return false
		}
		w := m.window(&p.Tasks[a.bench.local.tasks(int32(k))[0]])
		here := a.cached(machine, w).phases
		if here < many && here != m.machines[machine].phases || m.machines[machine].phases < many {
			return false
		}
	}
	return true
}

// usualMachine is the median, over the tasks, of what their machines are known to take. An excess is counted from the
// median task, so a machine is too.
func (a *Attributor) usualMachine() float64 {
	b := &a.bench
	b.tmp = b.tmp[:0]
	for _, i := range b.rows {
		if k := b.local.of[i]; k >= 0 {
			b.tmp = append(b.tmp, a.prior.mean[k])
		}
	}
	if len(b.tmp) == 0 {
		return 0
	}
	return median(b.tmp)
}

// measured finds the medians of the measured parts, and of the wait per remote byte.
func (a *Attributor) measured() {
	b := &a.bench
	for k := range b.part {
		a.mid[k] = b.medianOf(func(i int32) float64 { return b.part[k][i] })
	}
	a.rate = 0
	if a.mid[waiting] > 0 {
		a.rate = b.medianOf(func(i int32) float64 {
			if v := b.volume(int(i)); v > 0 {
				return b.part[waiting][i] / v
			}
			return nan
		})
	}
}

// medianOf is the median over the fitted tasks of what is known; 0 where nothing is. Most parts are 0 for all.
func (b *bench) medianOf(value func(i int32) float64) float64 {
	b.tmp = b.tmp[:0]
	same := true
	for _, i := range b.rows {
		if v := value(i); !math.IsNaN(v) {
			b.tmp = append(b.tmp, v)
			same = same && v == b.tmp[0]
		}
	}
	switch {
	case len(b.tmp) == 0:
		return 0
	case same:
		return b.tmp[0]
	}
	return median(b.tmp)
}

// volume is what a task fetched: remote bytes, or the input where they are not logged.
func (b *bench) volume(i int) float64 {
	if r := b.tasks[i].Remote; !math.IsNaN(r) {
		return r
	}
	return known(b.tasks[i].Bytes)
}
