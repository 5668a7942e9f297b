package causes

import "math"

// Model is what the phases of a store say together: each machine's speed by window of time, and how time depends on
// work in stages that are executed again and again.
type Model struct {
	windowS  float64
	machines []testimony // by machine
	windows  map[machineWindow]testimony
	stages   map[uint64]stage
	all      stage
}

// stage pools the executions of one stage.
type stage struct {
	precision, elastic float64 // of the elasticity of its work: Σ 1/var, Σ estimate/var
	n, scatter         float64 // tasks, and Σ tasks·ln(sigma)
}

// maxStages bounds the memory for names; stages beyond it are judged on their own.
const maxStages = 1 << 20

// Learner hears phases, in any order, and makes the Model of them.
type Learner struct {
	model Model
	bench bench
}

// NewLearner takes the length of the windows in which a machine's speed may change; 0 = one window.
func NewLearner(windowS float64) *Learner {
	return &Learner{model: Model{windowS: windowS, windows: map[machineWindow]testimony{}, stages: map[uint64]stage{}}}
}

// Hear takes a phase.
func (l *Learner) Hear(p *Phase) {
	b, m := &l.bench, &l.model
	if !b.alone(p) {
		return
	}
	e, pr, ok := b.elasticity()
	m.pool(p.Signature, stage{pr, e * pr, float64(b.fit.n), float64(b.fit.n) * math.Log(b.fit.sigma)}, ok)
	for k := range b.local.names {
		machine := b.local.names[k]
		z, v, n := b.summary(int32(k))
		if n == 0 {
			continue
		}
		for int64(len(m.machines)) <= machine {
			m.machines = append(m.machines, testimony{})
		}
		m.machines[machine].add(z, v, n, 1)
		key := machineWindow{machine, m.window(&p.Tasks[b.local.tasks(int32(k))[0]])}
		t := m.windows[key]
		t.add(z, v, n, 1)
		m.windows[key] = t
	}
}

// Model is what was learnt. The Learner must not be used afterwards.
func (l *Learner) Model() *Model { return &l.model }

func (m *Model) pool(signature uint64, s stage, ok bool) {
	if !ok {
		s.precision, s.elastic = 0, 0
	}
	m.all.add(s, 1)
	if signature == 0 {
		return
	}
	t, seen := m.stages[signature]
	if !seen && len(m.stages) >= maxStages {
		return
	}
	t.add(s, 1)
	m.stages[signature] = t
}

func (s *stage) add(t stage, sign float64) {
	s.precision += sign * t.precision
	s.elastic += sign * t.elastic
	s.n += sign * t.n
	s.scatter += sign * t.scatter
}

// alone fits a phase by itself, without what is known of machines and of other executions. It is what the Learner
// hears, so that a phase's own part in the Model can be taken out again. It reports false when nothing can be fitted.
func (b *bench) alone(p *Phase) bool {
	b.load(p.Tasks)
	if len(b.rows) < 2 {
		return false
	}
	b.survey()
	b.solve(nil, prior{elasticity, 1 / (elasticitySD * elasticitySD)}, prior{sigmaGuess, sigmaPrior})
	return true
}

// elasticity is the fitted one of the phase's work, with its precision; ok where work varies.
func (b *bench) elasticity() (e, precision float64, ok bool) {
	f := &b.fit
	for p := byBytes; p <= byWritten; p++ {
		if f.fate[p] == used && f.mid[p] > 0 {
			s := f.mid[p] / f.base
			return f.coef[p] * s, 1 / max(1e-6, f.se[p]*s*f.se[p]*s), true
		}
	}
	return 0, 0, false
}

// between is how much an elasticity differs from one execution of a stage to the next.
const between = 0.15

// work is the prior of a phase's elasticity: that of the other executions of its stage, where there are any.
func (m *Model) work(signature uint64, own stage) prior {
	s := m.stages[signature]
	s.add(own, -1)
	if signature == 0 || s.precision < 1e-6 {
		return prior{elasticity, 1 / (elasticitySD * elasticitySD)}
	}
	p0 := 1 / (elasticitySD * elasticitySD)
	mean := (s.elastic + p0*elasticity) / (s.precision + p0)
	return prior{mean, 1 / (1/(s.precision+p0) + between*between)}
}

// scatter is the prior of a phase's sigma: that of its stage, else of all phases.
func (m *Model) scatter(signature uint64, own stage) prior {
	s := m.stages[signature]
	s.add(own, -1)
	if signature == 0 || s.n < 8 {
		s = m.all
		s.add(own, -1)
	}
	if s.n < 8 {
		return prior{sigmaGuess, sigmaPrior}
	}
	return prior{math.Exp((s.scatter + 8*math.Log(sigmaGuess)) / (s.n + 8)), sigmaPrior}
}
