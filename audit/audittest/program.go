// Package audittest makes runs for tests of audits: those of a program that does the same every night, with noise, and one of
// whose stages can be made worse.
//
// Start with program.go.
package audittest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"straggler/audit/measure"
	"straggler/stats"
)

// Program is an application that runs every night. Its noise is assumed to be as follows:
//
//   - a task takes its stage's normal time × exp(N(0, 0.08)): the spread of attempts in package synth's quiet cluster;
//   - a twelfth of a stage's tasks are slow every night, 1.5 to 4 × normal: skewed partitions are the same partitions;
//   - one task in 300 is slow by chance, 1.5 to 3 ×, another one each night;
//   - the whole night is slower or faster by exp(N(0, 0.03)), and each stage by exp(N(0, 0.01)) more;
//   - inputs grow and shrink by exp(N(0, 0.02)) a stage.
//
// Unlike adds further differences between nights.
type Program struct {
	Stages []Stage
	Unlike Unlike
	last   float64 // of the correlated noise
}

// Unlike describes differences between nights beyond small independent noise. The zero Unlike adds none.
type Unlike struct {
	Correlation float64 // between the speeds of nights that follow each other; their standard deviation is then 0.06
	Tails       int     // degrees of freedom of Student's t, of the speeds of nights and stages; 0: normal
	Drift       float64 // growth of all times from a night to the next
	Sizes       float64 // standard deviation of the logarithm of how many tasks a night has
}

// noise draws from a distribution of scale 1.
func (u Unlike) noise(r *rand.Rand) float64 {
	if u.Tails == 0 {
		return r.NormFloat64()
	}
	return Student(r, u.Tails)
}

// Student draws from Student's t with df degrees of freedom: a normal value divided by the root mean square of df others.
func Student(r *rand.Rand, df int) float64 {
	z, sum := r.NormFloat64(), 0.0
	for range df {
		x := r.NormFloat64()
		sum += x * x
	}
	return z / math.Sqrt(sum/float64(df))
}

// speed returns the logarithm of the time of a night relative to a normal one.
func (p *Program) speed(r *rand.Rand, n int) float64 {
	z := p.Unlike.noise(r)
	if c := p.Unlike.Correlation; c > 0 {
		p.last = c*p.last + math.Sqrt(1-c*c)*z
		return 0.06*p.last + p.Unlike.Drift*float64(n)
	}
	return 0.03*z + p.Unlike.Drift*float64(n)
}

// Stage is a stage of a program.
type Stage struct {
	normal float64
	slow   []float64 // × normal, a task
}

// NewProgram draws a program with a number of stages, of tasks/2 to 1.5 × tasks each.
func NewProgram(r *rand.Rand, stages, tasks int) Program {
	var p Program
	for range stages {
		s := Stage{normal: 1 + 9*r.Float64(), slow: make([]float64, tasks/2+r.IntN(tasks))}
		for i := range s.slow {
			s.slow[i] = 1
			if r.Float64() < 1.0/12 {
				s.slow[i] = 1.5 + 2.5*r.Float64()
			}
		}
		p.Stages = append(p.Stages, s)
	}
	return p
}

// Night runs the program once. The time by which a task of stage worse exceeds its normal time is multiplied by factor.
func (p *Program) Night(r *rand.Rand, n, worse int, factor float64) measure.Run {
	run := measure.Run{Group: "nightly", ID: fmt.Sprint("app-", n), Start: time.Date(2026, 1, 1+n, 0, 0, 0, 0, time.UTC).Format(time.RFC3339), Complete: true,
		Values: measure.Values{}, Causes: measure.Values{}, Machines: map[string]measure.Machine{}, JudgedMachines: 20}
	speed := math.Exp(p.speed(r, n))
	size := math.Exp(p.Unlike.Sizes * r.NormFloat64())
	attempts, slots, skew, squares := 0.0, 0.0, 0.0, 0.0
	for k, s := range p.Stages {
		d := make([]float64, max(3, int(size*float64(len(s.slow)))))
		own := speed * math.Exp(0.01*p.Unlike.noise(r))
		for i := range d {
			x := s.slow[i%len(s.slow)]
			if r.Float64() < 1.0/300 {
				x *= 1.5 + 1.5*r.Float64()
			}
			d[i] = own * s.normal * x * math.Exp(0.08*r.NormFloat64())
		}
		if k == worse {
			m := stats.Median(slices.Clone(d))
			for i := range d {
				if d[i] > m {
					d[i] = m + factor*(d[i]-m)
				}
			}
		}
		st := measured(d)
		st.Signature = measure.Signature{Job: "job", Stage: fmt.Sprintf("stage at Main.scala:%03d", k), Kind: "result"}
		in := math.Exp(0.02 * r.NormFloat64())
		st.Values.Set("input_skew", 4*in)
		if p.Unlike.Sizes > 0 {
			st.Values.Set("input_bytes", 128e6*float64(len(d)))
			run.Values.Set("input_bytes", run.Values["input_bytes"]+st.Values["input_bytes"])
		}
		run.Stages = append(run.Stages, st)
		attempts += float64(len(d))
		slots += st.Values["slot_s"]
		skew += st.Causes["data_skew"]
		squares += st.Values["excess_sq"]
		for _, name := range []string{"excess_s", "excess_sq", "lost_s"} {
			run.Values.Set(name, run.Values[name]+st.Values[name])
		}
		run.Values.Set("time_s", run.Values["time_s"]+st.Values["time_s"])
	}
	run.Values.Set("slot_s", slots)
	run.Values.Set("attempts", attempts)
	failed := 0.0
	for range int(attempts) {
		if r.Float64() < 0.002 {
			failed++
		}
	}
	run.Values.Set("failed", failed)
	run.Values.Set("recomputed", 0)
	run.Causes.Set("data_skew", skew)
	run.Squares = measure.Values{"data_skew": squares}
	return run
}

// measured returns the figures of stages.sql and phase_stats for tasks that run in this order on 80 slots.
func measured(d []float64) measure.Stage {
	st := measure.Stage{Values: measure.Values{}, Causes: measure.Values{}}
	sorted := slices.Clone(d)
	slices.Sort(sorted)
	m, n := stats.Median(slices.Clone(d)), len(d)
	var slot, excess, sq, outliers, lost float64
	free := make([]float64, 80) // a heap: the first is the smallest
	end, cut := 0.0, 0.0
	for _, x := range d {
		slot += x
		if x > m {
			excess += x - m
			sq += (x - m) * (x - m)
		}
		if x > 1.5*m {
			outliers++
			lost += x - m
		}
		cut = max(cut, free[0]+min(x, m))
		free[0] += x
		end = max(end, free[0])
		sink(free)
	}
	for name, v := range map[string]float64{"time_s": end, "tasks": float64(n), "median_s": m, "max_s": sorted[n-1], "slot_s": slot, "excess_s": excess, "excess_sq": sq,
		"outliers": outliers, "lost_s": end - cut, "slowdown_ratio": sorted[n-1] / m} {
		st.Values.Set(name, v)
	}
	st.Causes.Set("data_skew", lost)
	st.Longest = sorted[max(0, n-16):]
	return st
}

// sink restores the order of a heap whose first element has changed.
func sink(heap []float64) {
	for i := 0; ; {
		least := 2*i + 1
		if least >= len(heap) {
			return
		}
		if right := least + 1; right < len(heap) && heap[right] < heap[least] {
			least = right
		}
		if heap[i] <= heap[least] {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}

// Runs returns the first n nights of a program with three stages.
func Runs(n int) []measure.Run {
	r := rand.New(rand.NewPCG(3, 3))
	p := NewProgram(r, 3, 100)
	var runs []measure.Run
	for i := range n {
		runs = append(runs, p.Night(r, i, -1, 1))
	}
	return runs
}
