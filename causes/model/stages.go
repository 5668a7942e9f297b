package model

import (
	"math"

	"github.com/cespare/xxhash/v2"

	"straggler/causes/fit"
)

// Stage holds the sufficient statistics of the executions of one stage.
type Stage struct {
	ElasticityW, Elasticity float64 // of the elasticity of its work: Σ 1/variance, Σ estimate/variance
	N, LogSigma             float64 // tasks, and Σ tasks·ln(sigma)
	SpillW, Spill           float64 // of the seconds a spilled byte: Σ 1/variance, Σ estimate/variance
}

// Signature identifies a stage by its program, kind and name; 0 if the program has no name.
func Signature(program, kind, name string) uint64 {
	if program == "" {
		return 0
	}
	return xxhash.Sum64String(program + "/" + kind + "/" + name)
}

const (
	maxStages         = 1 << 20 // bounds the memory for stages; phases of stages beyond it are fitted without history
	betweenExecutions = 0.15    // standard deviation of an elasticity from one execution of a stage to the next
	leastTasks        = 8       // of a stage, for its scatter to be used; also the weight of the prior
)

func (m *Model) pool(signature uint64, s Stage) {
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

func (s *Stage) add(t Stage, sign float64) {
	s.ElasticityW += sign * t.ElasticityW
	s.Elasticity += sign * t.Elasticity
	s.N += sign * t.N
	s.LogSigma += sign * t.LogSigma
	s.SpillW += sign * t.SpillW
	s.Spill += sign * t.Spill
}

// Priors returns the priors for a phase, from all other phases; own is its own contribution, as fitted alone.
func (m *Model) Priors(signature uint64, own Stage) fit.Priors {
	return fit.Priors{Work: m.elasticity(signature, own), Spill: m.spillCost(own), Sigma: m.sigma(signature, own)}
}

// elasticity returns the elasticity of the other executions of the stage, if there are any.
func (m *Model) elasticity(signature uint64, own Stage) fit.Prior {
	s := m.stages[signature]
	s.add(own, -1)
	p := fit.WorkPrior
	if signature == 0 || s.ElasticityW < 1e-6 {
		return p
	}
	w := s.ElasticityW + p.Precision
	return fit.Prior{Mean: (s.Elasticity + p.Precision*p.Mean) / w, Precision: 1 / (1/w + betweenExecutions*betweenExecutions)}
}

// spillCost returns the spill cost of all other phases; phases differ by half of it.
func (m *Model) spillCost(own Stage) fit.Prior {
	s := m.all
	s.add(own, -1)
	if own.SpillW > 0 && s.SpillW < 1e-6*own.SpillW || !(s.SpillW > 0) || !(s.Spill > 0) {
		return fit.Prior{}
	}
	mean := s.Spill / s.SpillW
	return fit.Prior{Mean: mean, Precision: 1 / (1/s.SpillW + mean*mean/4)}
}

// sigma returns the scatter of the stage, or else of all phases.
func (m *Model) sigma(signature uint64, own Stage) fit.Prior {
	s := m.stages[signature]
	s.add(own, -1)
	if signature == 0 || s.N < leastTasks {
		s = m.all
		s.add(own, -1)
	}
	if s.N < leastTasks {
		return fit.SigmaPrior
	}
	return fit.Prior{Mean: math.Exp((s.LogSigma + leastTasks*math.Log(fit.SigmaPrior.Mean)) / (s.N + leastTasks)), Precision: fit.SigmaPrior.Precision}
}
