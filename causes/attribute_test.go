package causes

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/causes/model"
	"straggler/schema"
)

// sums checks that the seconds of every outlier sum to its excess and that ranks agree with them.
func sums(t *testing.T, phases []*fit.Phase, rows []schema.Attribution) {
	t.Helper()
	sum, last := map[schema.Key]float64{}, map[schema.Key]schema.Attribution{}
	for _, r := range rows {
		sum[r.AttemptID] += r.Seconds
		if l := last[r.AttemptID]; r.Rank != l.Rank+1 || r.Rank > 1 && r.Seconds > l.Seconds {
			t.Errorf("attempt %d: rank %d with %g s after rank %d with %g s", r.AttemptID, r.Rank, r.Seconds, l.Rank, l.Seconds)
		}
		if r.Confidence.OK && (r.Rank != 1 || r.Cause == schema.UnexplainedCause || !(r.Confidence.V > 0 && r.Confidence.V < 1)) {
			t.Errorf("attempt %d rank %d: confidence %v", r.AttemptID, r.Rank, r.Confidence)
		}
		last[r.AttemptID] = r
	}
	n := 0
	for _, p := range phases {
		for i := range p.Tasks {
			task := &p.Tasks[i]
			if !task.Outlier() {
				continue
			}
			n++
			if d := sum[task.Attempt] - task.Excess; !(math.Abs(d) <= 1e-9*max(1, math.Abs(task.Excess))) {
				t.Errorf("attempt %d: its causes sum to %g, its excess is %g", task.Attempt, sum[task.Attempt], task.Excess)
			}
		}
	}
	if n != len(sum) {
		t.Errorf("%d outliers, %d attributed", n, len(sum))
	}
}

// Each single cause, injected into at most a fifth of the tasks of eight phases, is the verdict.
func TestEachCauseAlone(t *testing.T) {
	const slowMachine = 3
	for _, c := range []struct {
		want    schema.Cause
		perhaps schema.Cause // also accepted
		speed   float64      // of the slow machine
		work    func(i int) float64
		spoil   func(task *fit.Task, body *float64)
		is      func(task *fit.Task) bool
	}{
		{want: schema.DataSkew, work: func(i int) float64 {
			if i%20 == 3 {
				return 4
			}
			return 1
		}, is: func(t *fit.Task) bool { return t.Bytes > 2*64e6 }},
		{want: schema.BadMachine, speed: 2.2, is: func(t *fit.Task) bool { return t.Machine == slowMachine }},
		{want: schema.Transient, spoil: func(t *fit.Task, body *float64) {
			if t.Index%17 == 2 {
				*body *= 3
			}
		}, is: func(t *fit.Task) bool { return t.Index%17 == 2 }},
		{want: schema.GC, spoil: func(t *fit.Task, body *float64) {
			t.GC = 0.02
			if t.Machine == slowMachine {
				t.GC = 3
			}
		}, is: func(t *fit.Task) bool { return t.Machine == slowMachine }},
		{want: schema.Network, spoil: func(t *fit.Task, body *float64) {
			t.Remote, t.Wait = t.Bytes, 0.1
			if t.Machine == slowMachine {
				t.Wait = 3
			}
		}, is: func(t *fit.Task) bool { return t.Machine == slowMachine }},
		{want: schema.Scheduler, spoil: func(t *fit.Task, body *float64) {
			if t.Index%17 == 2 {
				t.Delay = 4
			}
		}, is: func(t *fit.Task) bool { return t.Index%17 == 2 }},
		{want: schema.Deserialize, spoil: func(t *fit.Task, body *float64) {
			if t.Index%17 == 2 {
				t.Convert = 4
			}
		}, is: func(t *fit.Task) bool { return t.Index%17 == 2 }},
		{want: schema.Spill, spoil: func(t *fit.Task, body *float64) {
			t.Spill = 0
			if t.Index%17 == 2 {
				t.Spill = 1e9 + 1e8*float64(t.Index%5)
				*body += t.Spill / 3e8
			}
		}, is: func(t *fit.Task) bool { return t.Index%17 == 2 }},
		{want: schema.LocalityMiss, spoil: func(t *fit.Task, body *float64) {
			if t.Index%11 == 2 {
				t.Away, t.Remote = 1, t.Bytes
				*body += 3
			}
		}, is: func(t *fit.Task) bool { return t.Index%11 == 2 }},
		{want: schema.Recompute, spoil: func(t *fit.Task, body *float64) { t.Recompute = t.Index%17 == 2 },
			is: func(t *fit.Task) bool { return t.Recompute }},
	} {
		t.Run(string(c.want), func(t *testing.T) {
			cl := causestest.New(10, 10)
			if c.speed > 0 {
				cl.Speed[slowMachine] = c.speed
			}
			var phases []*fit.Phase
			for range 8 {
				phases = append(phases, cl.Phase(120, 2, c.work, c.spoil))
			}
			rows := attributeAll(phases)
			sums(t, phases, rows)
			v := verdicts(rows)
			var n, right int
			for _, p := range phases {
				for i := range p.Tasks {
					task := &p.Tasks[i]
					r, out := v[task.Attempt]
					switch {
					case !out:
					case c.is(task):
						n++
						if r.Cause == c.want {
							right++
						}
					case r.Cause != schema.Startup && r.Cause != schema.Transient && r.Cause != schema.UnexplainedCause:
						t.Errorf("a task that nothing was done to is accused: %+v", r)
					}
				}
			}
			if n < 20 || right < n*97/100 {
				t.Errorf("%d of %d are right", right, n)
			}
		})
	}
}

// A machine is blamed in one phase on the evidence of its other tasks there, although it is healthy elsewhere; a single slow
// task on a healthy machine is not attributed to the machine.
func TestMachineSlowInOnePhase(t *testing.T) {
	c := causestest.New(11, 10)
	var phases []*fit.Phase
	for k := range 6 {
		c.Speed[5] = 1
		if k == 4 {
			c.Speed[5] = 2.2
		}
		phases = append(phases, c.Phase(120, 2, nil, func(t *fit.Task, body *float64) {
			if t.Machine == 7 && t.Index%3 == 0 && t.Index < 12 {
				*body *= 4
			}
		}))
	}
	for _, r := range attributeAll(phases) {
		if r.Rank != 1 {
			continue
		}
		task := find(phases, r.AttemptID)
		want := schema.Transient
		if task.Machine == 5 {
			want = schema.BadMachine
		}
		if task.Machine == 5 != (r.PhaseID == phases[4].ID) || r.Cause != want {
			t.Errorf("task %d of phase %d on machine %d: %s", task.Index, r.PhaseID, task.Machine, r.Cause)
		}
	}
}

func find(phases []*fit.Phase, attempt schema.Key) *fit.Task {
	for _, p := range phases {
		for i := range p.Tasks {
			if p.Tasks[i].Attempt == attempt {
				return &p.Tasks[i]
			}
		}
	}
	return nil
}

// Skew on a slow machine: 4 × the data at 2 × the time. Of ln 8, skew has two thirds and the machine one; the fixed part of
// the time reduces the share of skew.
func TestSkewOnASlowMachine(t *testing.T) {
	c := causestest.New(12, 10)
	c.Noise = 0.05
	c.Speed[2] = 2
	var phases []*fit.Phase
	for range 8 {
		phases = append(phases, c.Phase(120, 2, func(i int) float64 {
			if i%10 == 2 {
				return 4
			}
			return 1
		}, nil))
	}
	rows := attributeAll(phases)
	sums(t, phases, rows)
	share := map[schema.Cause]float64{}
	n := 0.0
	for _, r := range rows {
		if task := find(phases, r.AttemptID); task.Machine == 2 && task.Bytes > 2*64e6 {
			share[r.Cause] += r.Share.V
			if r.Rank == 1 {
				n++
			}
		}
	}
	skew, machine := math.Log(0.1+0.9*4)/math.Log(2*(0.1+0.9*4)), math.Log(2)/math.Log(2*(0.1+0.9*4))
	if d := share[schema.DataSkew]/n - skew; math.Abs(d) > 0.05 {
		t.Errorf("skew has %.3f of the excess, want %.3f", share[schema.DataSkew]/n, skew)
	}
	if d := share[schema.BadMachine]/n - machine; math.Abs(d) > 0.05 {
		t.Errorf("the machine has %.3f of the excess, want %.3f", share[schema.BadMachine]/n, machine)
	}
}

// A collection that stops a task which would have waited anyway overlaps: the log's 3 s are not all excess.
func TestGCOverlapsTheBody(t *testing.T) {
	c := causestest.New(13, 10)
	p := c.Phase(120, 2, nil, func(t *fit.Task, body *float64) {
		if t.Index%20 == 4 {
			t.GC, *body = 3, 0.5 // 1.5 s of the 2 s passed while it collected
		}
	})
	rows := attributeAll([]*fit.Phase{p})
	sums(t, []*fit.Phase{p}, rows)
	for _, r := range rows {
		if r.Rank == 1 && (r.Cause != schema.GC || r.Share.V > 1.1) {
			t.Errorf("%s has %.2f of the excess", r.Cause, r.Share.V)
		}
	}
}

// Without any measure of work, skew cannot be distinguished from chance, and the evidence says so.
func TestCannotTellWithoutWork(t *testing.T) {
	p := causestest.New(14, 10).Phase(80, 2, nil, func(t *fit.Task, body *float64) {
		t.Bytes, t.Records, t.Written = nan, nan, nan
		if t.Index%20 == 4 {
			*body *= 4
		}
	})
	rows := attributeAll([]*fit.Phase{p})
	sums(t, []*fit.Phase{p}, rows)
	for _, r := range rows {
		if r.Rank == 1 && r.Cause != schema.UnexplainedCause {
			t.Errorf("%s is named without any evidence: %s", r.Cause, r.Evidence)
		}
	}
}

// If a whole phase ran on one machine, what its tasks have in common is evidence neither against the machine nor for it; if
// others ran in it too, it may be.
func TestOneMachineAlone(t *testing.T) {
	for _, count := range []int{1, 2} {
		p := causestest.New(15, count).Phase(40, 2, nil, func(t *fit.Task, body *float64) {
			if t.Index == 7 {
				*body *= 4
			}
		})
		l := model.NewLearner(3600, nil, nil)
		l.Observe(p)
		a := NewAttributor(l.Model())
		a.prepare(p)
		s := a.comparer.Compare(&a.phase.Fitter, 7, 0, 0.01, machines.PhasePrior)
		if alone := s[machines.SlowInPhase].Weight == 0; alone != (count == 1) {
			t.Errorf("%d machines: that one is slow in this phase has the weight %g", count, s[machines.SlowInPhase].Weight)
		}
		if sum := s[machines.AsKnown].Weight + s[machines.SlowInPhase].Weight; math.Abs(sum-1) > 0.01 {
			t.Errorf("%d machines: the hypotheses about the whole phase weigh %g", count, sum)
		}
	}
}

// For small, empty, uniform or unusual phases, sums hold and nothing panics.
func TestStrangePhases(t *testing.T) {
	one := func(d ...float64) *fit.Phase {
		p := &fit.Phase{ID: 1}
		for i, x := range d {
			p.Tasks = append(p.Tasks, fit.Task{Attempt: schema.Key(i + 1), Phase: 1, Index: int64(i), Machine: int64(i%3) - 1, Duration: x, Succeeded: true,
				Excess: nan, Bytes: nan, Remote: nan, Records: nan, Written: nan, Spill: nan, CPU: nan, Away: nan, Wait: nan, GC: nan, Delay: nan, Convert: nan})
		}
		causestest.DetectIn(p)
		return p
	}
	huge := one(1e300, 1e300, 3e300, 1e300)
	fast := one(1e-300, 1e-300, 5e-300, 1e-300)
	bytes := one(1, 1, 1, 9)
	for i := range bytes.Tasks {
		bytes.Tasks[i].Bytes = math.MaxInt64
	}
	failed := one(1, 1, 1, 9, 8)
	failed.Tasks[3].Succeeded, failed.Tasks[3].Cut = false, true
	none := one(1, 5, 9)
	for i := range none.Tasks {
		none.Tasks[i].Succeeded = false
	}
	parts := one(1, 1, 1, 9)
	parts.Tasks[3].GC, parts.Tasks[3].Wait, parts.Tasks[3].Delay = 50, 60, math.Inf(1)
	for i, p := range []*fit.Phase{one(), one(1), one(1, 2), one(1, 1, 4), one(2, 2, 2, 2, 2), one(0, 0, 0, 0, 3), one(0, 0, 0), huge,
		fast, bytes, failed, none, parts} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			rows := attributeAll([]*fit.Phase{p})
			sums(t, []*fit.Phase{p}, rows)
			for _, r := range rows {
				if math.IsNaN(r.Seconds) || math.IsInf(r.Seconds, 0) {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}

// Causes with too few seconds are added to the verdict. If the verdict thereby loses its lead, the other becomes the verdict,
// and the sum is preserved.
func TestDropSmall(t *testing.T) {
	lines := dropSmall([]line{{cause: schema.GC, seconds: 5.1}, {cause: schema.Network, seconds: 5}, {cause: schema.Spill, seconds: 0.3, errors: gradient{0.01}},
		{cause: schema.BadMachine, seconds: -0.4, errors: gradient{1}}}, 10)
	want := []line{{cause: schema.Network, seconds: 5}, {cause: schema.GC, seconds: 4.7}, {cause: schema.Spill, seconds: 0.3, errors: gradient{0.01}}}
	if len(lines) != len(want) {
		t.Fatalf("%+v", lines)
	}
	for i, w := range want {
		if l := lines[i]; l.cause != w.cause || math.Abs(l.seconds-w.seconds) > 1e-12 {
			t.Errorf("line %d is %+v, want %+v", i, l, w)
		}
	}
}

// A single partition with eight times the data is fitted as well as the others.
func TestFitBelievesALoneFatTask(t *testing.T) {
	p := causestest.New(8, 10).Phase(60, 2, func(i int) float64 {
		if i == 20 {
			return 8
		}
		return 1
	}, nil)
	rows := verdicts(attributeAll([]*fit.Phase{p}))
	if v := rows[p.Tasks[20].Attempt]; v.Cause != "data_skew" || v.Share.V < 0.8 {
		t.Errorf("the fat task is %s by %.2f", v.Cause, v.Share.V)
	}
}

// A machine of two slots is slow for a while in the middle of a phase. As few tasks ran beside each other then, those before
// and after are evidence too. The processor time stays the same, and the evidence says so; for a machine that is always slow
// it does not.
func TestMachineSlowForAWhile(t *testing.T) {
	c := causestest.New(41, 6)
	c.Slots = 2
	var phases []*fit.Phase
	for k := range 4 {
		phases = append(phases, c.Phase(144, 2, nil, func(t *fit.Task, body *float64) {
			t.CPU = *body
			if k == 1 && t.Machine == 4 && t.Index >= 60 && t.Index < 100 {
				*body *= 2.5
			}
		}))
	}
	n, named := 0, 0
	for _, r := range attributeAll(phases) {
		if r.Rank != 1 {
			continue
		}
		n++
		if r.Cause == schema.BadMachine {
			named++
		}
		if !strings.Contains(r.Evidence, "processor time was as usual") {
			t.Errorf("%s: %s", r.Cause, r.Evidence)
		}
	}
	if n < 4 || named < n-1 {
		t.Errorf("%d of %d outliers are the machine's", named, n)
	}
}

// A spell in which a machine of two slots is slow begins, or ends, in the middle of a phase: if it begins there, only the
// tasks after it are evidence, and if it ends there, only those before. Each spell lasts for three or four tasks; most are
// found.
func TestSpellBeginsAnywhere(t *testing.T) {
	n, named := 0, 0
	for seed := range uint64(8) {
		c := causestest.New(50+seed, 6)
		c.Slots = 2
		var phases []*fit.Phase
		for k := range 4 {
			phases = append(phases, c.Phase(144, 2, nil, func(t *fit.Task, body *float64) {
				if from := 40 + 10*int64(seed); k == 1 && t.Machine == 4 && t.Index >= from && t.Index < from+34 {
					*body *= 2.5
				}
			}))
		}
		for _, r := range attributeAll(phases) {
			if r.Rank == 1 {
				if n++; r.Cause == schema.BadMachine {
					named++
				}
			}
		}
	}
	if n < 20 || 10*named < 7*n {
		t.Errorf("%d of %d outliers are the machine's", named, n)
	}
}

// In a phase that spans four windows of health, a machine that is slow in the second of them only is bad then, and healthy in
// the others, for its tasks as for its health.
func TestLongPhaseIsSplitByWindows(t *testing.T) {
	const window = 60
	c := causestest.New(42, 6)
	c.Slots = 2
	c.Now = 0
	slow := func(t *fit.Task) bool { return t.Machine == 4 && fit.WindowOf(t.Start, window) == 1 }
	p := c.Phase(1440, 2, nil, func(t *fit.Task, body *float64) {
		if slow(t) {
			*body *= 2
		}
	})
	l := model.NewLearner(window, nil, nil)
	l.Observe(p)
	m := l.Model()
	for w := range int64(4) {
		of := m.Machines.In(machines.Window{Machine: 4, Number: w})
		if z, _, _ := of.Spread(); (z > 0.5) != (w == 1) || of.Phases != 1 {
			t.Errorf("window %d: %g by %d phases", w, z, of.Phases)
		}
	}
	n, first := 0, 0
	for _, r := range NewAttributor(m).Attribute(p, nil) {
		if r.Rank != 1 {
			continue
		}
		task := find([]*fit.Phase{p}, r.AttemptID)
		if n++; slow(task) && r.Cause != schema.BadMachine {
			t.Errorf("task %d in window %d: %s", task.Index, fit.WindowOf(task.Start, window), r.Cause)
		}
		if r.Cause == schema.Startup {
			first++
		}
	}
	if n < 20 || first > 0 {
		t.Errorf("%d outliers, %d of them startup", n, first)
	}
}
