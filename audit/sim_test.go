package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// program is an application as a cluster runs it every night. What is assumed of the noise:
//
//   - a task takes its stage's normal time × exp(N(0, 0.08)): the spread of attempts in package synth's quiet cluster;
//   - a twelfth of a stage's tasks are slow every night, 1.5 to 4 × normal: skewed partitions are the same partitions;
//   - one task in 300 is slow by chance, 1.5 to 3 ×, another one each night;
//   - the whole night is slower or faster by exp(N(0, 0.03)), and each stage by exp(N(0, 0.01)) more;
//   - inputs grow and shrink by exp(N(0, 0.02)) a stage.
type program struct {
	stages []simStage
}

type simStage struct {
	normal float64
	slow   []float64 // × normal, a task
}

func newProgram(r *rand.Rand, stages, tasks int) program {
	var p program
	for range stages {
		s := simStage{normal: 1 + 9*r.Float64(), slow: make([]float64, tasks/2+r.IntN(tasks))}
		for i := range s.slow {
			s.slow[i] = 1
			if r.Float64() < 1.0/12 {
				s.slow[i] = 1.5 + 2.5*r.Float64()
			}
		}
		p.stages = append(p.stages, s)
	}
	return p
}

// night runs the program once. What a task of stage worse takes above the normal time is multiplied by factor.
func (p *program) night(r *rand.Rand, n, worse int, factor float64) Run {
	run := Run{Group: "nightly", ID: fmt.Sprint("app-", n), Start: fmt.Sprintf("2026-01-%02dT00:00:00Z", n+1), Complete: true,
		Values: Values{}, Causes: Values{}, Machines: map[string]Machine{}, machines: 20}
	speed := math.Exp(0.03 * r.NormFloat64())
	attempts, slots, skew, squares := 0.0, 0.0, 0.0, 0.0
	for k, s := range p.stages {
		d := make([]float64, len(s.slow))
		own := speed * math.Exp(0.01*r.NormFloat64())
		for i, x := range s.slow {
			if r.Float64() < 1.0/300 {
				x *= 1.5 + 1.5*r.Float64()
			}
			d[i] = own * s.normal * x * math.Exp(0.08*r.NormFloat64())
		}
		if k == worse {
			m := median(slices.Clone(d))
			for i := range d {
				if d[i] > m {
					d[i] = m + factor*(d[i]-m)
				}
			}
		}
		st := simMeasure(d)
		st.Signature = Signature{Job: "job", Stage: fmt.Sprintf("stage at Main.scala:%03d", k), Kind: "result"}
		in := math.Exp(0.02 * r.NormFloat64())
		st.Values.set("input_skew", 4*in)
		run.Stages = append(run.Stages, st)
		attempts += float64(len(d))
		slots += st.Values["slot_s"]
		skew += st.Causes["data_skew"]
		squares += st.Values["excess_sq"]
		for _, name := range []string{"excess_s", "excess_sq", "lost_s"} {
			run.Values.set(name, run.Values[name]+st.Values[name])
		}
		run.Values.set("time_s", run.Values["time_s"]+st.Values["time_s"])
	}
	run.Values.set("slot_s", slots)
	run.Values.set("attempts", attempts)
	failed := 0.0
	for range int(attempts) {
		if r.Float64() < 0.002 {
			failed++
		}
	}
	run.Values.set("failed", failed)
	run.Values.set("recomputed", 0)
	run.Causes.set("data_skew", skew)
	run.Squares = Values{"data_skew": squares}
	return run
}

// simMeasure is what stages.sql and phase_stats say of tasks on 80 slots, in their order.
func simMeasure(d []float64) Stage {
	st := Stage{Values: Values{}, Causes: Values{}}
	sorted := slices.Clone(d)
	slices.Sort(sorted)
	m, n := median(sorted), len(d)
	var slot, excess, sq, outliers, lost float64
	free := make([]float64, 80)
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
		i := 0
		for k := range free {
			if free[k] < free[i] {
				i = k
			}
		}
		cut = max(cut, free[i]+min(x, m))
		free[i] += x
		end = max(end, free[i])
	}
	for name, v := range map[string]float64{"time_s": end, "tasks": float64(n), "median_s": m, "max_s": sorted[n-1], "slot_s": slot, "excess_s": excess, "excess_sq": sq,
		"outliers": outliers, "lost_s": end - cut, "slowdown_ratio": sorted[n-1] / m} {
		st.Values.set(name, v)
	}
	st.Causes.set("data_skew", lost)
	st.longest = sorted[max(0, n-16):]
	return st
}

// judged audits night k of a program after the nights before it.
func judged(runs []Run) *Night {
	b := &Baseline{Runs: runs[:len(runs)-1]}
	return night(runs[len(runs)-1:], b, DefaultConfig(), Options{})
}

// nights runs a program many times and audits each night after its history, which windows of it share.
func nights(seed uint64, programs, perProgram, history, tasks int, each func(p *program, runs []Run, r *rand.Rand)) {
	for k := range programs {
		r := rand.New(rand.NewPCG(seed, uint64(k)))
		p := newProgram(r, 3+r.IntN(12), tasks)
		var runs []Run
		for n := range perProgram + history {
			runs = append(runs, p.night(r, n, -1, 1))
			if n >= history {
				each(&p, slices.Clone(runs[n-history:]), r)
			}
		}
	}
}

// On nights like the others at most 1 % raise a false alarm.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ history, tasks int }{{5, 60}, {5, 700}, {12, 250}} {
		judgedNights, alarms := 0, 0
		byRule := map[string]int{}
		nights(1, 60, 15, c.history, c.tasks, func(_ *program, runs []Run, _ *rand.Rand) {
			judgedNights++
			n := judged(runs)
			if n.Failing > 0 {
				alarms++
				for _, f := range n.Findings() {
					byRule[f.Rule]++
				}
			}
		})
		t.Logf("%d runs of history, about %d tasks a stage: false alarms on %d of %d nights, by rule %v", c.history, c.tasks, alarms, judgedNights, byRule)
		if alarms*100 > judgedNights {
			t.Errorf("%d runs of history, about %d tasks a stage: false alarms on %d of %d nights, by rule %v", c.history, c.tasks, alarms, judgedNights, byRule)
		}
	}
}

// A stage whose lost time grows by a fifth is found, with five runs of history. How small a change can be seen
// depends on the number of slow tasks: the smaller stages are logged and not asserted.
func TestPower(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tasks int
		least float64
	}{{100, 0.05}, {300, 0.4}, {1500, 0.95}} {
		trials, found := 0, 0
		nights(2, 60, 5, 5, c.tasks, func(p *program, runs []Run, r *rand.Rand) {
			worse := r.IntN(len(p.stages))
			runs[5] = p.night(r, 99, worse, 1.2)
			runs[5].Start = "2026-06-01T00:00:00Z"
			trials++
			if slices.ContainsFunc(judged(runs).Findings(), func(f Finding) bool {
				return f.Rule == "stage_lost_time" && f.Status == New && *f.Stage == runs[5].Stages[worse].Signature
			}) {
				found++
			}
		})
		t.Logf("about %d tasks a stage: found %d of %d", c.tasks, found, trials)
		if float64(found) < c.least*float64(trials) {
			t.Errorf("about %d tasks a stage: found %d of %d", c.tasks, found, trials)
		}
	}
}
