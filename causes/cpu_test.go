package causes

import (
	"math"
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
	"straggler/causes/model"
	"straggler/schema"
)

// processorPhases returns phases of a cluster in which slow attempts compute more. In the last phase, one task of machine 0 takes
// three times as long, and the other one there 1.9 times; its processor time is as given, relative to the usual.
func processorPhases(seed uint64, cpu float64) []*fit.Phase {
	c := causestest.New(seed, 8)
	c.Slots = 2
	var phases []*fit.Phase
	for range 12 {
		phases = append(phases, c.Phase(48, 4, nil, func(t *fit.Task, body *float64) {
			t.CPU = 0.6 * *body * math.Exp(0.05*c.Rng.NormFloat64())
			if t.Index%16 == 3 {
				t.CPU *= 3
				*body *= 3
			}
		}))
	}
	last := c.Phase(16, 4, nil, func(t *fit.Task, body *float64) {
		t.CPU = 0.6 * *body * math.Exp(0.05*c.Rng.NormFloat64())
		if t.Machine == 0 {
			*body *= 1.9
		}
		if t.Index == 0 {
			t.CPU *= cpu
			*body *= 1.6
		}
	})
	return append(phases, last)
}

// secondsOf returns the seconds of the first task of the last phase by cause.
func secondsOf(phases []*fit.Phase) map[schema.Cause]float64 {
	l := model.NewLearner(3600, nil, nil)
	for _, p := range phases {
		l.Observe(p)
	}
	last := phases[len(phases)-1]
	out := map[schema.Cause]float64{}
	for _, r := range NewAttributor(l.Model()).Attribute(last, nil) {
		if r.AttemptID == last.Tasks[0].Attempt {
			out[r.Cause] = r.Seconds
		}
	}
	return out
}

// With equal durations, the processor time decides between a machine that keeps its tasks from the processor and a task that
// computes more: usual processor time is evidence for the machine, more for the task.
func TestProcessorTimeDecides(t *testing.T) {
	var starved, computed, cases float64
	for seed := range uint64(20) {
		usual, more := secondsOf(processorPhases(seed, 1)), secondsOf(processorPhases(seed, 3))
		if len(usual) == 0 || len(more) == 0 {
			continue
		}
		cases++
		starved += usual[schema.BadMachine]
		computed += more[schema.BadMachine]
		if usual[schema.Transient] > more[schema.Transient] {
			t.Errorf("seed %d: %.1f s are the task's own at the usual processor time, %.1f s at three times it", seed, usual[schema.Transient], more[schema.Transient])
		}
	}
	t.Logf("the machine takes %.1f s at the usual processor time, %.1f s at three times it", starved, computed)
	if cases < 15 || starved < 1.3*computed {
		t.Errorf("%g cases; the machine takes %.1f s at the usual processor time, and %.1f s at three times it", cases, starved, computed)
	}
}

// If processor time is the only measure of work, the speed of a machine's processor is uncertain, and time not due to the
// machine is due to its task's work.
func TestWorkByProcessorTimeIsUncertain(t *testing.T) {
	c := causestest.New(63, 6)
	var phases []*fit.Phase
	for range 3 {
		phases = append(phases, c.Phase(48, 2, nil, func(task *fit.Task, body *float64) {
			task.Bytes, task.Records, task.Written = math.NaN(), math.NaN(), math.NaN()
			if task.Index == 30 {
				*body *= 2.5
			}
			task.CPU = *body
		}))
	}
	l := model.NewLearner(3600, nil, nil)
	for _, p := range phases {
		l.Observe(p)
	}
	a := NewAttributor(l.Model())
	a.prepare(phases[0])
	s := a.split(30)
	sd := a.phase.CPUFactorSD[a.phase.Machines.Of[30]]
	if work := s.errors[ofCPU][cpuSource]; !(s.seconds[ofCPU] > 0) || !(sd > 0.01) || work > -0.8*sd*s.seconds[ofCPU] ||
		math.Abs(s.errors[ofMachine][cpuSource]+work) > 1e-9 {
		t.Errorf("%.2f s are work; by the machine's factor ± %.3f it is %.3f s and the machine %.3f s more", s.seconds[ofCPU], sd, work,
			s.errors[ofMachine][cpuSource])
	}
}
