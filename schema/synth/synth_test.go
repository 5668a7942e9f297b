package synth

import (
	"cmp"
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"straggler/schema"
	"straggler/schema/laws"
)

// forAll makes every scenario with several seeds.
func forAll(t *testing.T, seeds uint64, check func(t *testing.T, o Options, trace *schema.Trace, truth *Truth)) {
	for _, s := range Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			for seed := range seeds {
				o := s.Make(seed)
				trace, truth, err := Generate(o)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				check(t, o, trace, truth)
			}
		})
	}
}

// TestTracesObeyTheSchema: every scenario passes validation.
func TestTracesObeyTheSchema(t *testing.T) {
	forAll(t, 6, func(t *testing.T, o Options, trace *schema.Trace, _ *Truth) {
		for i, v := range laws.Trace(trace) {
			if i == 5 {
				break
			}
			t.Errorf("seed %d: %v", o.Seed, v)
		}
		for i := range trace.Attempts {
			if a := &trace.Attempts[i]; a.Status == schema.Running {
				t.Fatalf("seed %d: attempt %s never ended", o.Seed, a.NativeID)
			}
		}
	})
}

// TestTruthSums: duration = base + Σ seconds by cause − cut for every attempt, and the truth is in the order of the rows.
func TestTruthSums(t *testing.T) {
	forAll(t, 3, func(t *testing.T, o Options, trace *schema.Trace, truth *Truth) {
		if len(truth.Attempts) != len(trace.Attempts) {
			t.Fatalf("%d truths of %d attempts", len(truth.Attempts), len(trace.Attempts))
		}
		for i := range trace.Attempts {
			a, h := &trace.Attempts[i], &truth.Attempts[i]
			if a.AttemptID != h.AttemptID {
				t.Fatalf("row %d is attempt %d, its truth is of %d", i, a.AttemptID, h.AttemptID)
			}
			if math.Abs(a.DurationS.V-h.ObservedS()) > 1e-9*(1+h.CutS+math.Abs(h.BaseS)) {
				t.Fatalf("seed %d attempt %s (%s): duration %v, truth says %v (%+v)", o.Seed, a.NativeID, a.Status, a.DurationS.V, h.ObservedS(), *h)
			}
			if h.CutS < 0 || a.Status == schema.Success && h.CutS != 0 {
				t.Fatalf("seed %d attempt %s (%s): cut %v", o.Seed, a.NativeID, a.Status, h.CutS)
			}
			if (h.Seconds(schema.Recompute) > 0) != a.Recompute {
				t.Fatalf("seed %d attempt %s: recompute %v, truth %v", o.Seed, a.NativeID, a.Recompute, h.Seconds(schema.Recompute))
			}
		}
	})
}

// TestSlotsAreNeverOversubscribed sweeps over each executor's attempts in time order.
func TestSlotsAreNeverOversubscribed(t *testing.T) {
	type place struct {
		app      schema.Key
		executor string
	}
	type change struct {
		at    schema.Time
		delta int64
	}
	forAll(t, 3, func(t *testing.T, o Options, trace *schema.Trace, _ *Truth) {
		changes := map[place][]change{}
		for i := range trace.Attempts {
			a := &trace.Attempts[i]
			at := place{a.ApplicationID, a.Executor.V}
			changes[at] = append(changes[at], change{a.StartTime.V, 1}, change{a.FinishTime.V, -1})
		}
		for i := range trace.Machines {
			m := &trace.Machines[i]
			all := changes[place{m.ApplicationID.V, m.Executor.V}]
			slices.SortFunc(all, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.delta, b.delta)) })
			busy := int64(0)
			for _, c := range all {
				if busy += c.delta; busy > m.Slots.V {
					t.Fatalf("seed %d: executor %s runs %d attempts in %d slots at %d", o.Seed, m.Executor.V, busy, m.Slots.V, c.at)
				}
				if c.at < m.AddedTime.V || m.RemovedTime.OK && c.at > m.RemovedTime.V {
					t.Fatalf("seed %d: executor %s works at %d, when it is not there", o.Seed, m.Executor.V, c.at)
				}
			}
		}
	})
}

// TestDependenciesAreRespected: no attempt of a phase starts before its input is complete.
func TestDependenciesAreRespected(t *testing.T) {
	forAll(t, 3, func(t *testing.T, o Options, trace *schema.Trace, _ *Truth) {
		phases := map[schema.Key]*schema.Phase{}
		for i := range trace.Phases {
			phases[trace.Phases[i].PhaseID] = &trace.Phases[i]
		}
		for _, e := range trace.Edges {
			from, to := phases[e.FromPhase], phases[e.ToPhase]
			if to.StartTime.OK && from.FinishTime.V > to.StartTime.V && from.Status == schema.RunSucceeded {
				t.Fatalf("seed %d: phase %s.%d starts at %d, before phase %s.%d ends at %d", o.Seed, to.NativeID, to.Attempt, to.StartTime.V,
					from.NativeID, from.Attempt, from.FinishTime.V)
			}
		}
	})
}

// TestEveryTaskSucceedsOnce: a completed stage has, over its submissions, an output of every task; a task has a second one only
// if the first was lost or a failed submission finished it after all.
func TestEveryTaskSucceedsOnce(t *testing.T) {
	type stage struct {
		job    schema.Key
		native string
	}
	type task struct {
		stage
		task int64
	}
	forAll(t, 3, func(t *testing.T, o Options, trace *schema.Trace, _ *Truth) {
		stageOf, count, completed := map[schema.Key]stage{}, map[stage]int64{}, map[stage]bool{}
		failed := map[stage]int{}
		for _, p := range trace.Phases {
			s := stage{p.JobID, p.NativeID}
			stageOf[p.PhaseID] = s
			count[s] = max(count[s], p.TaskCount.V)
			if p.Status == schema.RunFailed {
				failed[s]++
			}
			completed[s] = completed[s] || p.Status == schema.RunSucceeded
		}
		wins, lost := map[task]int{}, map[task]int{}
		for i := range trace.Attempts {
			if a := &trace.Attempts[i]; a.Status == schema.Success {
				wins[task{stageOf[a.PhaseID], a.Task}]++
			}
		}
		for _, l := range trace.Losses {
			lost[task{stageOf[l.PhaseID], l.Task}]++
		}
		for s, n := range count {
			for k := range n {
				at := task{s, k}
				if completed[s] && (wins[at] < 1 || wins[at] > 1+lost[at]+failed[s]) {
					t.Fatalf("seed %d: task %d of stage %s has %d successes and %d losses", o.Seed, k, s.native, wins[at], lost[at])
				}
			}
		}
	})
}

// TestSlotsAreNotLeftFree: work-conserving; while a task of a submitted phase waits, all slots are taken. Checked on the
// scenario without faults, in which no submission ends early.
func TestSlotsAreNotLeftFree(t *testing.T) {
	o := Defaults()
	trace, _, err := Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	ends := map[schema.Time]bool{}
	for i := range trace.Attempts {
		ends[trace.Attempts[i].FinishTime.V] = true
	}
	for _, p := range trace.Phases {
		ends[p.SubmitTime.V] = true
	}
	for i := range trace.Attempts {
		if a := &trace.Attempts[i]; !ends[a.StartTime.V] {
			t.Fatalf("attempt %s starts at %d, when nothing ended and nothing was submitted", a.NativeID, a.StartTime.V)
		}
	}
}

func TestSameSeedSameTrace(t *testing.T) {
	for _, name := range []string{"mixed", "speculation", "nightly"} {
		s, ok := ByName(name)
		if !ok {
			t.Fatal(name)
		}
		a, ta, err := Generate(s.Make(5))
		if err != nil {
			t.Fatal(err)
		}
		b, tb, _ := Generate(s.Make(5))
		if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(ta, tb) {
			t.Errorf("%s: the same seed gives another trace", name)
		}
		o := s.Make(5)
		o.BatchRows = 7
		if c, tc, _ := Generate(o); !reflect.DeepEqual(a, c) || !reflect.DeepEqual(ta, tc) {
			t.Errorf("%s: the size of batches changes the trace", name)
		}
		if d, _, _ := Generate(s.Make(6)); reflect.DeepEqual(a.Attempts, d.Attempts) {
			t.Errorf("%s: another seed gives the same trace", name)
		}
	}
}

// TestStreamsAreApart: a fault in one subsystem does not change the draws of the others.
func TestStreamsAreApart(t *testing.T) {
	quiet := Defaults()
	_, before, err := Generate(quiet)
	if err != nil {
		t.Fatal(err)
	}
	cold := quiet // delays of zero length draw from the scheduler's stream and change nothing else
	cold.Faults.Scheduler = Scheduler{Probability: 1, DelayS: Only(0)}
	cold.Faults.Transient = Transient{Probability: 1, Factor: Only(1)}
	cold.Faults.GC = GC{Machines: 3, Phases: 1, Factor: Only(0)}
	_, after, err := Generate(cold)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before.Attempts, after.Attempts) {
		t.Error("draws of one subsystem shift those of another")
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, spoil := range map[string]func(*Options){
		"no applications":   func(o *Options) { o.Applications = 0 },
		"no machines":       func(o *Options) { o.Cluster.Machines = 0 },
		"no slots":          func(o *Options) { o.Cluster.Slots = 0 },
		"backward range":    func(o *Options) { o.Work.TaskS = Range{2, 1} },
		"NaN":               func(o *Options) { o.Work.TaskS = Only(math.NaN()) },
		"no tasks":          func(o *Options) { o.Shape.Tasks = Only(0) },
		"too many tasks":    func(o *Options) { o.Shape.Tasks = Only(1 << 31) },
		"no spill rate":     func(o *Options) { o.Faults.Spill.Probability = 1 },
		"certain failure":   func(o *Options) { o.Faults.Failure.Probability = 1 },
		"no check interval": func(o *Options) { o.Speculation = &Speculation{} },
	} {
		o := Defaults()
		spoil(&o)
		if _, _, err := Generate(o); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestStreamStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Stream(ctx, Defaults(), func(*Batch) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	stop := errors.New("enough")
	calls := 0
	o := Defaults()
	o.BatchRows = 10
	if err := Stream(context.Background(), o, func(*Batch) error { calls++; return stop }); !errors.Is(err, stop) || calls != 1 {
		t.Errorf("after %d calls: %v", calls, err)
	}
}

// A number of tasks is shared among the runs of a scenario that is one program.
func TestWithTasksKeepsNights(t *testing.T) {
	nightly, _ := ByName("nightly")
	for _, n := range []int64{50, 2000, 60_000} {
		trace, _, err := Generate(nightly.Make(3).WithTasks(n))
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(len(trace.Attempts)) / float64(n); len(trace.Applications) != 14 || got < 0.5 || got > 2 {
			t.Errorf("%d tasks: %d nights, %d attempts", n, len(trace.Applications), len(trace.Attempts))
		}
	}
}

func TestWithTasks(t *testing.T) {
	for _, n := range []int64{1, 1000, 30_000} {
		trace, _, err := Generate(Defaults().WithTasks(n))
		if err != nil {
			t.Fatal(err)
		}
		if got := int64(len(trace.Attempts)); got < n/2 || got > 2*n {
			t.Errorf("asked for %d tasks, got %d", n, got)
		}
	}
}

// TestMedian compares the running median with sorting.
func TestMedian(t *testing.T) {
	var m median
	var all []int64
	d := random(7)
	for i := range 500 {
		v := int64(d.of(i).intn(forNoise, 40))
		m.add(v)
		all = append(all, v)
		slices.Sort(all)
		if want := float64(all[(len(all)-1)/2]+all[len(all)/2]) / 2; m.value() != want {
			t.Fatalf("after %d: median %v, want %v", i+1, m.value(), want)
		}
	}
}

// TestDice checks moments: 20 000 draws, five standard errors.
func TestDice(t *testing.T) {
	const n = 20_000
	var u, z, zz, p float64
	for i := range n {
		d := random(1).of(i)
		u += d.uniform(forNoise)
		x := d.normal(forNoise)
		z += x
		zz += x * x
		p += float64(d.poisson(forLoss, 2.5))
	}
	for _, c := range []struct {
		name          string
		got, want, sd float64
	}{{"uniform", u / n, 0.5, math.Sqrt(1. / 12)}, {"normal", z / n, 0, 1}, {"normal²", zz / n, 1, math.Sqrt2}, {"poisson", p / n, 2.5, math.Sqrt(2.5)}} {
		if math.Abs(c.got-c.want) > 5*c.sd/math.Sqrt(n) {
			t.Errorf("%s: mean %v, want %v", c.name, c.got, c.want)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	for _, c := range []struct {
		name string
		o    Options
	}{{"huge", HugePhase(1, 500_000)}, {"mixed",
		Scenarios()[slices.IndexFunc(Scenarios(), func(s Scenario) bool { return s.Name == "mixed" })].Make(1).WithTasks(200_000)},
		{"speculation", Scenarios()[slices.IndexFunc(Scenarios(), func(s Scenario) bool { return s.Name == "speculation" })].Make(1).WithTasks(200_000)}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if err := Stream(context.Background(), c.o, func(batch *Batch) error { n += len(batch.Trace.Attempts); return nil }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "attempts/s")
		})
	}
}
