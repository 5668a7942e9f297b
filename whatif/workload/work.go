package workload

import (
	"math"

	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/causes/model"
	"straggler/schema"
	"straggler/stats"
)

// model computes how long each task should take given its data, how the tasks of its phase differ beyond that, and how slow
// each machine was.
//
// The duration of task i is work_i × ratio_i × factor(machine). work_i is what the regression of package causes/fit predicts
// for its data near them on a machine of factor 1, with the phase's usual waits; ratio_i is its individual deviation, which a
// copy draws anew (from the others of its phase). This is 'work × rate' of MANTRI §5.5 (t_new = processRate · locationFactor ·
// d + schedLag) with a constant part: tasks take some time whatever their data, and a rate per byte would call a short last
// split slow.
func (d *draft) model(m *model.Model) {
	d.machineFactors(m)
	for a := range d.Attempts {
		if row := d.attemptRow[a]; row.Ending == Killed && row.Finish != NoTime && d.end[a] < d.at(row.Finish) {
			d.Losers = append(d.Losers, int32(a))
		}
	}
	f := &phaseModel{draft: d, fit: m.NewPhaseFit()}
	var sample scatterSample
	for i := range d.Phases {
		f.work(i)
		f.scatter(&sample)
		d.phaseLag(&d.Phases[i])
	}
	d.Scatter = sample.estimate()
}

// worthNaming is the factor from which assumptions say that a machine differs from the others, the same as in package
// causes/machines.
const worthNaming = 1.15

// machineFactors stores each machine's factor: overall, and in the windows of time in which it was observed.
func (d *draft) machineFactors(m *model.Model) {
	for k := range d.Machines {
		x := &d.Machines[k]
		number, ok := d.rows.byName[x.Name]
		switch {
		case !ok:
			continue
		case int(number) < len(d.rows.Factors):
			x.Factor = float32(d.rows.Factors[number])
			continue
		}
		from := m.WindowAt(int64(number), schema.Time(d.Origin)).Number
		till := m.WindowAt(int64(number), schema.Time(d.Origin+d.cutoff)).Number
		differs := false
		for w := from; w <= till; w++ {
			at := machines.Window{Machine: int64(number), Number: w}
			if m.Machines.In(at).Phases == 0 && w < till {
				continue
			}
			mean, variance := m.Machines.Prior(at, machines.SufficientStats{})
			x.Factor, x.SD = float32(math.Exp(mean)), float32(math.Sqrt(variance))
			differs = differs || math.Abs(mean) >= math.Log(worthNaming)
			if from < till {
				start := int64(float64(w) * m.Machines.WindowS * 1e6)
				x.Windows = append(x.Windows, Window{d.at(start), d.at(start + int64(m.Machines.WindowS*1e6)), x.Factor, x.SD})
			}
		}
		if differs {
			d.notes.MachinesSlow++
		}
	}
}

// phaseModel fits phases, one after the other.
type phaseModel struct {
	*draft
	fit      *model.PhaseFit
	phase    fit.Phase
	attempts []int32 // of the tasks of the fit
}

// work fits phase i and computes the work and ratios of its tasks.
func (f *phaseModel) work(i int) {
	p := &f.Phases[i]
	p.FirstRatio, p.Far = int32(len(f.Ratios)), 1
	f.load(i)
	f.fit.Fit(&f.phase)
	g := &f.fit.Regression
	if g.Status[fit.ByAway] == fit.Used {
		p.Far = float32(1 + g.Coef[fit.ByAway]/g.Base)
	}
	p.Sigma = float32(g.Sigma)
	usual := f.usualParts()
	for t := p.FirstTask; t < p.FirstTask+p.Tasks; t++ {
		f.Tasks[t].Work = float32(usual.around(g.Base, g.Base))
	}
	for k, a := range f.attempts {
		at := &f.Attempts[a]
		t := &f.Tasks[at.Task]
		x := f.values(k)
		ran := usual.around(g.Predict(&x), g.Base)
		x[fit.ByFirst], x[fit.ByAway], x[fit.ByRemote] = 0, 0, g.Mid[fit.ByRemote]
		body := g.Predict(&x)
		t.Work, t.Slope = float32(usual.around(body, g.Base)), float32(slope(g, &x, body))
		if !at.Ok || at.Dur <= 0 || ran <= 0 {
			continue
		}
		ratio := float64(at.Dur) / 1e6 / (ran * float64(f.Machines[f.machineOf(at)].At(f.start[a])))
		if t.Ratio < 0 {
			t.Ratio = int32(len(f.Ratios)) - p.FirstRatio
			f.Ratios, f.RatioOf = append(f.Ratios, 0), append(f.RatioOf, 0)
		}
		f.Ratios[p.FirstRatio+t.Ratio], f.RatioOf[p.FirstRatio+t.Ratio] = float32(ratio), a
	}
	if p.Ratios = int32(len(f.Ratios)) - p.FirstRatio; p.Ratios < 2 {
		f.notes.SmallPhases++
	}
}

// load collects the attempts of phase i with known durations. Those that began before their parents ended are counted from
// then.
func (f *phaseModel) load(i int) {
	f.phase = fit.Phase{ID: f.Phases[i].Key, Signature: f.rows.signature(f.phaseRow[i]), Tasks: f.phase.Tasks[:0]}
	f.attempts = f.attempts[:0]
	for a := f.Phases[i].First; a < f.attemptsUpTo(i); a++ {
		row, at := f.attemptRow[a], &f.Attempts[a]
		t := f.rows.task(row)
		if at.Gated {
			t.Duration = float64(at.Dur) / 1e6
		}
		if math.IsNaN(t.Duration) {
			continue
		}
		t.Succeeded, t.Cut = at.Ok, t.Cut || t.Succeeded && !at.Ok
		f.phase.Tasks, f.attempts = append(f.phase.Tasks, t), append(f.attempts, a)
		task := &f.Tasks[at.Task]
		if at.Ok && at.Dur > 0 {
			task.Bytes, task.Records = row.Bytes, row.Records
		} else if task.Bytes < 0 {
			task.Bytes, task.Records = row.Bytes, row.Records
		}
	}
}

// slope returns how much ln(prediction) changes when all coefficients move by one standard error.
func slope(g *fit.Regression, x *[fit.Predictors]float64, body float64) (change float64) {
	if body <= 0 {
		return 0
	}
	for k := range x {
		if g.Status[k] == fit.Used {
			change += g.SE[k] * (x[k] - g.Mid[k]) / body
		}
	}
	return change
}

// values returns the predictors of the k-th attempt.
func (f *phaseModel) values(k int) (x [fit.Predictors]float64) {
	for p := range x {
		x[p] = f.fit.X[p][k]
	}
	return x
}

// usualParts are the medians of the parts of a phase's attempts besides their body.
type usualParts struct {
	data  float64 // waits for blocks and collections, which grow with the work
	fixed float64
}

func (f *phaseModel) usualParts() usualParts {
	of := func(part int) float64 {
		return f.fit.MedianOf(func(i int32) float64 { return f.fit.Part[part][i] })
	}
	return usualParts{of(fit.FetchWait) + of(fit.GC), of(fit.SchedulerDelay) + of(fit.Conversion)}
}

// around returns the time of a body with the usual parts, where the median task's body takes base.
func (u usualParts) around(body, base float64) float64 {
	if base <= 0 {
		return 0
	}
	return body + u.data*body/base + u.fixed
}

// phaseLag is the median lag of the phase's launches: the time between getting a slot and starting, also for copies.
func (d *draft) phaseLag(p *Phase) {
	lags := make([]float64, 0, p.Launches)
	for a := p.First; a < p.First+p.Launches; a++ {
		lags = append(lags, float64(d.Attempts[a].Lag))
	}
	if m := stats.Median(lags); m > 0 {
		p.CopyLag = int64(m)
	}
}
