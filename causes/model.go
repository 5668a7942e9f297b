package causes

import (
	"math"

	"straggler/schema"
)

// Model is what the phases of a store say together: each machine's speed by window of time, and how time depends on
// work in stages that are executed again and again.
type Model struct {
	windowS  float64
	names    []string    // of the machines, by number; may be missing
	racks    []string    // of the machines, by number; "" unknown; may be missing
	machines []testimony // by machine
	cpu      []testimony // by machine: of processor time, where logs have no other measure of work
	windows  map[machineWindow]*testimony
	stages   map[uint64]stage
	all      stage
	usual    twoGroup // how machines of this store differ
	slow     seenSlow
	own      slowness // how attempts of this store are slow by themselves
	generations
	rackSpeeds map[string][]float64      // ln(factor) of the machines of a rack, in order
	speeds     []float64                 // of all machines, in order
	calm       float64                   // of those that are slowed by nothing: the lower quartile
	lost       map[schema.Key]lostOutput // by the attempt that made it again
	gaps       map[schema.Key][]gap      // by phase: when outputs that it reads were lost and not yet made again
}

// stage pools the executions of one stage.
type stage struct {
	precision, elastic float64 // of the elasticity of its work: Σ 1/var, Σ estimate/var
	n, scatter         float64 // tasks, and Σ tasks·ln(sigma)
	spillW, spill      float64 // of the seconds a spilled byte: Σ 1/var, Σ estimate/var
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
	return &Learner{model: Model{windowS: windowS, windows: map[machineWindow]*testimony{}, stages: map[uint64]stage{}}}
}

// Hear takes a phase.
func (l *Learner) Hear(p *Phase) {
	h := l.bench.hear(p)
	l.add(&h, p)
}

// heard is what one phase says.
type heard struct {
	ok       bool
	stage    stage
	machines []heardMachine
	slow     seenSlow
}

type heardMachine struct {
	machine int64
	first   int32 // its first task, which says the window of time
	z, v    float64
	n       int
	cpu     heardCPU
}

// heardCPU is what a phase says about the processor time that a machine takes: ln(factor) and its variance.
type heardCPU struct {
	z, v float64
	ok   bool
}

// hear fits a phase by itself and sums up what it says.
func (b *bench) hear(p *Phase) heard {
	b.cpuOf = nil
	h := heard{ok: b.alone(p)}
	if !h.ok {
		return h
	}
	h.stage = b.asStage()
	h.slow = b.countSlow()
	var cpu map[int32]heardCPU
	b.hearCPU(func(k int32, z, v float64) {
		if cpu == nil {
			cpu = map[int32]heardCPU{}
		}
		cpu[k] = heardCPU{z, v, true}
	})
	h.machines = make([]heardMachine, 0, len(b.local.names))
	for k, machine := range b.local.names {
		if z, v, n := b.summary(int32(k)); n > 0 {
			h.machines = append(h.machines, heardMachine{machine: machine, first: b.local.tasks(int32(k))[0], z: z, v: v, n: n, cpu: cpu[int32(k)]})
		}
	}
	return h
}

// asStage is what the phase says about its stage.
func (b *bench) asStage() stage {
	n := float64(b.fit.n)
	s := stage{n: n, scatter: n * math.Log(b.fit.sigma)}
	if e, precision, ok := b.elasticity(); ok {
		s.precision, s.elastic = precision, e*precision
	}
	if c, v, ok := b.spilling(); ok {
		s.spillW, s.spill = 1/v, c/v
	}
	return s
}

// spilling is what a spilled byte took in this phase, with the variance that errors, attempts slow by themselves and
// different disks give it.
func (b *bench) spilling() (seconds, variance float64, ok bool) {
	f := &b.fit
	if f.fate[bySpill] != used {
		return 0, 0, false
	}
	var xx float64
	for _, i := range b.rows {
		xx += sq(b.x[bySpill][i] - f.mid[bySpill])
	}
	c := f.coef[bySpill]
	return c, sq(f.se[bySpill]) + b.own.share*(b.own.variance+sq(b.own.mean))*sq(f.base)/xx + sq(c/2), true
}

// add takes what a phase said. The order of the calls decides the last bits of the sums.
func (l *Learner) add(h *heard, p *Phase) {
	if !h.ok {
		return
	}
	m := &l.model
	m.pool(p.Signature, h.stage)
	m.slow.add(h.slow)
	for _, s := range h.machines {
		for int64(len(m.machines)) <= s.machine {
			m.machines = append(m.machines, testimony{})
			m.cpu = append(m.cpu, testimony{})
		}
		m.machines[s.machine].add(s.z, s.v, s.n)
		if s.cpu.ok {
			m.cpu[s.machine].add(s.cpu.z, s.cpu.v, 1)
		}
		key := machineWindow{s.machine, m.window(&p.Tasks[s.first])}
		t := m.windows[key]
		if t == nil {
			t = new(testimony)
			m.windows[key] = t
		}
		t.add(s.z, s.v, s.n)
	}
}

// Model is what was learnt. The Learner must not be used afterwards.
func (l *Learner) Model() *Model {
	m := &l.model
	m.own = m.slow.slowness()
	m.usual = machinePrior
	m.usual.spike = max(m.usual.spike, m.population())
	m.generations = findGenerations(m.machines)
	m.settleRacks()
	return m
}

// population is how much the machines differ as a whole, as a variance of ln(factor) beyond the errors of the figures:
// from the median absolute deviation, so that a few bad machines do not count. Generations of hardware do.
func (m *Model) population() float64 {
	var z, v []float64
	for k := range m.machines {
		if t := &m.machines[k]; t.phases >= leastPhases {
			mean, variance := t.mean()
			z, v = append(z, mean), append(v, variance)
		}
	}
	if len(z) < 4 {
		return 0
	}
	at := median(z)
	for i := range z {
		z[i] = math.Abs(z[i] - at)
	}
	s := madScale * median(z)
	return max(0, s*s-median(v))
}

func (m *Model) pool(signature uint64, s stage) {
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
	s.spillW += sign * t.spillW
	s.spill += sign * t.spill
}

// alone fits a phase by itself, without what is known of machines and of other executions. It is what the Learner
// hears, so that a phase's own part in the Model can be taken out again. It reports false when nothing can be fitted.
func (b *bench) alone(p *Phase) bool {
	b.load(p.Tasks)
	if len(b.rows) < 2 {
		return false
	}
	b.survey()
	b.solveAlone()
	return true
}

func (b *bench) solveAlone() {
	b.own = usualSlowness
	b.solve(nil, priors{work: prior{elasticity, 1 / (elasticitySD * elasticitySD)}, sigma: prior{sigmaGuess, sigmaPrior}})
}

// elasticity is the fitted one of the phase's work, with its precision; ok where work varies.
func (b *bench) elasticity() (e, precision float64, ok bool) {
	f := &b.fit
	for p := byBytes; p <= byCPU; p++ {
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

// priors are what the other phases say about one whose own part is given.
func (m *Model) priors(signature uint64, own stage) priors {
	return priors{work: m.work(signature, own), spill: m.spilling(own), sigma: m.scatter(signature, own)}
}

// spilling is the prior of the seconds a spilled byte, from all other phases; phases differ by half of it.
func (m *Model) spilling(own stage) prior {
	s := m.all
	s.add(own, -1)
	if own.spillW > 0 && s.spillW < 1e-6*own.spillW || !(s.spillW > 0) || !(s.spill > 0) {
		return prior{}
	}
	mean := s.spill / s.spillW
	return prior{mean, 1 / (1/s.spillW + sq(mean/2))}
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
