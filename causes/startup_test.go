package causes

import (
	"math"
	"strings"
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/causes/model"
	"straggler/schema"
)

// If the first tasks of a phase take three times as long on every machine, all of them are startup, and no others.
func TestStartup(t *testing.T) {
	c := causestest.New(21, 6)
	var phases []*fit.Phase
	for range 6 {
		phases = append(phases, c.Phase(120, 2, nil, func(t *fit.Task, body *float64) {
			if t.Index < 24 {
				*body *= 3
			}
		}))
	}
	n := 0
	for _, r := range attributeAll(phases) {
		if r.Rank != 1 {
			continue
		}
		if task := find(phases, r.AttemptID); task.Index >= 24 || r.Cause != schema.Startup || !r.Confidence.OK {
			t.Errorf("task %d: %s, confidence %+v", task.Index, r.Cause, r.Confidence)
		}
		n++
	}
	if n < 100 {
		t.Fatalf("%d outliers", n)
	}
}

// Tasks are away from their data on one machine and near it elsewhere, for instance because a machine holds few outputs:
// their extra time is attributed to the machine. If tasks on all machines are away, it is attributed to locality.
func TestAwayOnOneMachine(t *testing.T) {
	for _, one := range []bool{true, false} {
		c := causestest.New(26, 6)
		c.Slots = 2
		var phases []*fit.Phase
		for range 6 {
			phases = append(phases, c.Phase(72, 2, nil, func(t *fit.Task, body *float64) {
				if away := t.Index%6 == 1; one && t.Machine == 4 || !one && away {
					t.Away = 1
					*body *= 2
				}
			}))
		}
		want, n := schema.LocalityMiss, 0
		if one {
			want = schema.BadMachine
		}
		for _, r := range attributeAll(phases) {
			if task := find(phases, r.AttemptID); r.Rank == 1 && task.Away == 1 {
				if n++; r.Cause != want {
					t.Errorf("one machine %v: task %d on machine %d: %s", one, task.Index, task.Machine, r.Cause)
				}
			}
		}
		if n < 20 {
			t.Fatalf("one machine %v: %d outliers", one, n)
		}
	}
}

// A start slows all first tasks of a phase. On a machine that is slow too, so that its first tasks are outliers among first
// tasks, they are slow because of their machine; if it is only a little slow, they are not.
func TestStartOnASlowMachine(t *testing.T) {
	for _, factor := range []float64{1.15, 1.8} {
		c := causestest.New(27, 6)
		c.Slots = 2
		var phases []*fit.Phase
		for range 6 {
			phases = append(phases, c.Phase(72, 2, nil, func(t *fit.Task, body *float64) {
				if t.Index < 12 {
					*body *= 4
				}
				if t.Machine == 4 {
					*body *= factor
				}
			}))
		}
		found := map[bool]map[schema.Cause]int{true: {}, false: {}}
		for _, r := range attributeAll(phases) {
			if task := find(phases, r.AttemptID); r.Rank == 1 && task.Index < 12 {
				found[task.Machine == 4][r.Cause]++
			}
		}
		want := schema.Startup
		if factor > 1.5 {
			want = schema.BadMachine
		}
		if n := found[true][want]; n != 12 || len(found[true]) != 1 {
			t.Errorf("factor %g: the first tasks on the machine: %v", factor, found[true])
		}
		if n := found[false][schema.Startup]; n != 60 || len(found[false]) != 1 {
			t.Errorf("factor %g: the first tasks elsewhere: %v", factor, found[false])
		}
	}
}

// All first tasks of the phase compute for 2 s more, and load their code for 0.1 s. On machine 4 some are slow for a reason
// of their own that takes as long, within 5 %: the process collects, or the machine is 1.6 times as slow. That reason is the
// verdict, since it is what distinguishes them. If all first tasks collect, or it takes half as long as the start, or the
// machine is too little slower to make outliers by itself, the start is the verdict.
func TestStartBesideItsOwn(t *testing.T) {
	for _, c := range []struct {
		name          string
		body, convert float64 // of the first tasks: s more, and s
		gc            float64 // of those on machine 4
		elsewhere     float64 // of the others
		speed         float64 // of machine 4
		want          schema.Cause
	}{
		{"a collection", 2, 0.005, 1.95, 0, 1, schema.GC},
		{"all collect", 2, 0.005, 1.95, 1.95, 1, schema.Startup},
		{"a short collection", 2, 0.005, 0.9, 0, 1, schema.Startup},
		{"a slow machine that loads its code", 0, 1.45, 0, 0, 1.6, schema.BadMachine},
		{"a machine 1.4 times as slow", 0, 0.4, 0, 0, 1.4, schema.Startup},
		{"a machine as fast as the others", 0, 1.45, 0, 0, 1, schema.Startup},
	} {
		cluster := causestest.New(72, 6)
		cluster.Slots, cluster.Noise, cluster.Speed[4] = 2, 0.05, c.speed
		var phases []*fit.Phase
		for range 6 {
			phases = append(phases, cluster.Phase(72, 1, nil, func(t *fit.Task, body *float64) {
				if t.Index >= 12 {
					return
				}
				*body += c.body
				t.Convert = c.convert * cluster.Speed[t.Machine]
				if t.GC = c.elsewhere; t.Machine == 4 {
					t.GC = c.gc
				}
			}))
		}
		n := 0
		for _, r := range attributeAll(phases) {
			task := find(phases, r.AttemptID)
			if r.Rank != 1 || task.Index >= 12 || task.Machine != 4 {
				continue
			}
			if n++; r.Cause != c.want {
				t.Errorf("%s: task %d of %.2f s: %s, %+v: %s", c.name, task.Index, task.Duration, r.Cause, r.Seconds, r.Evidence)
			}
		}
		if n < 6 {
			t.Errorf("%s: %d outliers", c.name, n)
		}
	}
}

// Spark launches the next task of a slot a little before the logged end of the previous one: such a task is not among the
// first, and the time that a collection stopped it is gc.
func TestSecondWaveIsNotFirst(t *testing.T) {
	c := causestest.New(22, 6)
	var phases []*fit.Phase
	for range 6 {
		p := c.Phase(120, 2, nil, func(t *fit.Task, body *float64) {
			switch {
			case t.Index < 24:
				*body *= 3
			case t.Index < 48 && t.Machine == 3:
				t.GC = 4
			}
		})
		for i := range p.Tasks[24:] {
			s := &p.Tasks[24+i].Start
			s.V = s.V.Add(-0.05)
		}
		phases = append(phases, p)
	}
	n := 0
	for _, r := range attributeAll(phases) {
		task := find(phases, r.AttemptID)
		if r.Rank == 1 && task.GC > 0 {
			n++
			if r.Cause != schema.GC {
				t.Errorf("task %d collected for %g s: %s", task.Index, task.GC, r.Cause)
			}
		}
	}
	if n < 20 {
		t.Fatalf("%d outliers that collected", n)
	}
}

// An executor that replaces another runs its first tasks in four times the time, in a phase whose other executors are warm:
// that is due to its start and not to its machine. A machine that stays slow from then on is a bad machine.
func TestReplacementExecutor(t *testing.T) {
	for _, bad := range []bool{false, true} {
		c := causestest.New(23, 6)
		c.Slots = 2
		var phases []*fit.Phase
		for k := range 6 {
			cold := 0
			phases = append(phases, c.Phase(60, 2, nil, func(t *fit.Task, body *float64) {
				if k != 3 || t.Machine != 4 {
					return
				}
				if cold++; cold <= 2 {
					t.Cold = true
				}
				if bad || t.Cold {
					*body *= 5
				}
			}))
		}
		n := 0
		for _, r := range attributeAll(phases) {
			if r.Rank != 1 {
				continue
			}
			n++
			want := schema.Startup
			if bad {
				want = schema.BadMachine
			}
			if task := find(phases, r.AttemptID); task.Machine != 4 || r.Cause != want {
				t.Errorf("bad %v: task %d on machine %d, cold %v: %s", bad, task.Index, task.Machine, task.Cold, r.Cause)
			}
		}
		if n < 2 {
			t.Fatalf("%d outliers", n)
		}
	}
}

// An executor that joined 40 s after the others of its application is slower for another 40 s or so, with decreasing effect:
// in the first tasks of its second stage too, this is due to its start and not to its machine. For an executor that was there
// from the beginning it is due to the machine.
func TestYoungExecutor(t *testing.T) {
	all := []string{"m0", "m1", "m2", "m3", "m4", "m5"}
	for _, young := range []bool{true, false} {
		c := causestest.New(28, len(all))
		c.Slots = 2
		var trace schema.Trace
		applications, jobs := schema.NewKeys(1, "applications"), schema.NewKeys(1, "jobs")
		phases, attempts := schema.NewKeys(1, "phases"), schema.NewKeys(1, "attempts")
		application, job := applications.Next(), jobs.Next()
		trace.Applications = append(trace.Applications, schema.Application{ApplicationID: application, NativeID: "a", Framework: "spark",
			Status: schema.RunSucceeded, TimeOrigin: "epoch"})
		trace.Jobs = append(trace.Jobs, schema.Job{JobID: job, ApplicationID: application, NativeID: "0", Status: schema.RunSucceeded})
		var joined schema.Time
		for k := range 8 {
			if k == 4 {
				joined = c.Now
			}
			addPhase(&trace, application, job, "stage", phases, attempts, c.Phase(60, 2, nil, func(t *fit.Task, body *float64) {
				if t.Machine == 4 && k >= 4 {
					*body *= 1 + 2*math.Exp(-t.Start.V.Sub(joined)/12)
				}
			}), all)
		}
		second := trace.Phases[5].PhaseID
		of := map[schema.Key]*schema.Attempt{}
		for i := range trace.Attempts {
			a := &trace.Attempts[i]
			a.Executor = schema.Some(a.Machine.V)
			if young && a.Machine.V == "m4" && a.StartTime.V >= joined {
				a.Executor.V = "late"
			}
			of[a.AttemptID] = a
		}
		want, n := schema.BadMachine, 0
		if young {
			want = schema.Startup
		}
		for _, r := range Attribute(&trace, outliersOf(&trace), 0) {
			a := of[r.AttemptID]
			if r.Rank != 1 || a.Machine.V != "m4" || a.PhaseID != second {
				continue
			}
			if n++; r.Cause != want {
				t.Errorf("young %v: task %d: %s: %s", young, a.Task, r.Cause, r.Evidence)
			}
		}
		if n < 2 {
			t.Errorf("young %v: %d outliers", young, n)
		}
	}
}

// Machine 4 has a new executor in every phase, whose first two of four tasks take three times as long: they are not
// observations of the machine, whose factor stays 1.
func TestColdTasksAreNoObservationOfTheirMachine(t *testing.T) {
	c := causestest.New(24, 6)
	c.Slots = 2
	l := model.NewLearner(3600, []string{"m0", "m1", "m2", "m3", "m4", "m5"}, nil)
	for range 12 {
		n := 0
		l.Observe(c.Phase(24, 2, nil, func(t *fit.Task, body *float64) {
			if t.Machine != 4 {
				return
			}
			if n++; n <= 2 {
				t.Cold = true
				*body *= 3
			}
		}))
	}
	z, _, _ := l.Model().Machines.Machines[4].Spread()
	if math.Abs(z) > 0.1 {
		t.Errorf("machine 4 takes e^%.2f times as long, want 1", z)
	}
}

// The first tasks of a new executor are outliers but not observations of its machine: they count neither among the attempts
// that its estimate is based on nor among the outliers of these, so that the latter are a share of the former.
func TestColdOutliersAreNoShareOfTheirMachine(t *testing.T) {
	c := causestest.New(25, 6)
	c.Slots = 2
	l := model.NewLearner(3600, []string{"m0", "m1", "m2", "m3", "m4", "m5"}, nil)
	var phases []*fit.Phase
	for range 12 {
		n := 0
		p := c.Phase(24, 2, nil, func(t *fit.Task, body *float64) {
			if t.Machine != 4 {
				return
			}
			if n++; n <= 3 {
				t.Cold = true
				*body *= 3
			}
		})
		l.Observe(p)
		phases = append(phases, p)
	}
	m := l.Model()
	a := NewAttributor(m)
	outliers := map[machines.Window]int64{}
	cold := 0
	for _, p := range phases {
		x, _ := a.attribute(p)
		for _, w := range x.outliers {
			outliers[w]++
		}
		for i := range p.Tasks {
			if p.Tasks[i].Slow && p.Tasks[i].Cold {
				cold++
			}
		}
	}
	for w, n := range outliers {
		if of := m.Machines.In(w).Attempts; n > of {
			t.Errorf("%d outliers among %d attempts that speak for machine %d", n, of, w.Machine)
		}
	}
	if cold < 20 {
		t.Errorf("%d cold outliers, want at least 20", cold)
	}
}

// Machine 4 has a new executor in the last phase, one task of which takes three times as long. In a store whose executors
// start slowly, its start is the cause; if fifty started as fast as they ran, and one attempt in twenty is slow by itself,
// the attempt itself is.
func TestStartsOfTheStore(t *testing.T) {
	for _, c := range []struct {
		slow bool
		want schema.Cause
	}{{true, schema.Startup}, {false, schema.Transient}} {
		cluster := causestest.New(25, 6)
		cluster.Slots = 2
		var phases []*fit.Phase
		for range 10 {
			phases = append(phases, cluster.Phase(60, 2, nil, func(t *fit.Task, body *float64) {
				if t.Index < 12 && t.Machine != 4 {
					t.Cold = true
					if c.slow {
						*body *= 3
					}
				} else if t.Index%20 == 17 {
					*body *= 3
				}
			}))
		}
		last := cluster.Phase(60, 2, nil, func(t *fit.Task, body *float64) {
			if t.Machine == 4 && t.Index < 6 {
				t.Cold = true
				*body *= 3
			}
		})
		for _, r := range attributeAll(append(phases, last)) {
			if task := find([]*fit.Phase{last}, r.AttemptID); r.Rank == 1 && task != nil && task.Cold && r.Cause != c.want {
				t.Errorf("starts are slow: %v; %s, want %s", c.slow, r.Cause, c.want)
			}
		}
	}
}

// The first tasks of executors may be slow because of their start or their work. Durations are of three kinds: proportional
// to the input, independent of it, and both proportional and three times as long at the start. If the later tasks, or the
// first ones of other executors, differ in their work, the cause can be determined; if all that read more started first and
// nothing else differs, it cannot, and the evidence says why.
func TestStartOrWork(t *testing.T) {
	const cannot = schema.UnexplainedCause
	for _, c := range []struct {
		name  string
		work  func(i int) float64 // of 120 tasks; the first 24 are cold
		flat  bool                // time does not depend on it
		start float64             // factor of the cold tasks
		want  schema.Cause        // of those with the most work
	}{
		{"all that read more began first; it is their work", func(i int) float64 { return 1 + early(i) }, false, 1, cannot},
		{"all that read more began first; it is their start", func(i int) float64 { return 1 + early(i) }, true, 1.9, cannot},
		{"those that began first read hardly more", func(i int) float64 { return 1 + 0.1*early(i) }, false, 3, schema.Startup},
		{"the later ones differ, and take as long as they read", func(i int) float64 { return 0.5 + float64(i%10)/10 + early(i) }, false, 1, schema.DataSkew},
		{"the later ones differ, and take as long whatever they read", func(i int) float64 { return 0.5 + float64(i%10)/10 + early(i) }, true, 3, schema.Startup},
		{"other first ones read the usual, and are fast", func(i int) float64 { return 1 + 2*early(i)*float64(i%2) }, false, 1, schema.DataSkew},
		{"other first ones read the usual, and are as slow", func(i int) float64 { return 1 + 2*early(i)*float64(i%2) }, true, 3, schema.Startup},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := causestest.New(71, 6)
			most := 0.0
			p := cluster.Phase(120, 2, c.work, func(task *fit.Task, body *float64) {
				w := c.work(int(task.Index))
				if c.flat {
					*body /= 0.1 + 0.9*w
				}
				if task.Index < 24 {
					task.Cold = true
					*body *= c.start
					most = max(most, task.Bytes)
				}
			})
			n, wrong := 0, 0
			for _, r := range attributeAll([]*fit.Phase{p}) {
				task := find([]*fit.Phase{p}, r.AttemptID)
				if r.Rank != 1 || !task.Cold || task.Bytes < most*0.9 {
					continue
				}
				n++
				if r.Cause != c.want {
					wrong++
					t.Logf("task %d: %s, %s", task.Index, r.Cause, r.Evidence)
				} else if told := strings.Contains(r.Evidence, "its work and the start of its process cannot be separated"); told != (c.want == cannot) || told && r.Confidence.OK {
					t.Errorf("confidence %+v, %s", r.Confidence, r.Evidence)
				}
			}
			if n < 3 || 10*wrong > n {
				t.Errorf("%d of %d verdicts are not %s", wrong, n, c.want)
			}
		})
	}
}

func early(i int) float64 {
	if i < 24 {
		return 1
	}
	return 0
}

// A new executor's first two tasks read three times as much as all others of the phase, and take 2.8 times as long. The time
// per byte is known only from other executions of the stage: if these show how the time grows with the input, the input is
// the cause.
func TestStartOrWorkByOtherExecutions(t *testing.T) {
	for _, c := range []struct {
		others int
		want   schema.Cause
	}{{0, schema.UnexplainedCause}, {4, schema.DataSkew}} {
		cluster := causestest.New(72, 6)
		var phases []*fit.Phase
		for range c.others {
			p := cluster.Phase(120, 2, func(i int) float64 { return 0.4 + float64(i%13)/10 }, nil)
			p.Signature = 5
			phases = append(phases, p)
		}
		n := 0
		last := cluster.Phase(120, 2, nil, func(task *fit.Task, body *float64) {
			if task.Machine == 3 && task.Index >= 48 && n < 2 {
				n++
				task.Cold = true
				task.Bytes, task.Records = 3*task.Bytes, 3*task.Records
				*body *= 2.8
			}
		})
		last.Signature = 5
		for _, r := range attributeAll(append(phases, last)) {
			if task := find([]*fit.Phase{last}, r.AttemptID); r.Rank == 1 && task != nil && task.Cold && r.Cause != c.want {
				t.Errorf("%d other executions: %s, want %s: %s", c.others, r.Cause, c.want, r.Evidence)
			}
		}
	}
}
