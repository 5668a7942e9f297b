package policy_test

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"straggler/ingest"
	"straggler/ingest/discover"
	"straggler/ingest/formats"
	"straggler/ingest/ingesttest"
	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/schedule"
	"straggler/whatif/workload"
	"straggler/whatif/workload/workloadtest"
)

// The policies keep indices and order statistics from one look to the next. These are their rules written down plainly:
// everything is worked out anew at every look, from all attempts of the phase.

// plainly is a policy by its rule for one look.
type plainly func(v *replay.View, do *replay.Actions) replay.Again

func (f plainly) Look(v *replay.View, do *replay.Actions) replay.Again { return f(v, do) }

// single returns the attempts of tasks that run in one attempt and were never copied, in order of task.
func single(v *replay.View) []replay.Running {
	out := slices.DeleteFunc(slices.Clone(v.Running()), func(a replay.Running) bool {
		return v.Copies(a.Task) > 1 || v.Launched(a.Task) > 0
	})
	slices.SortFunc(out, func(a, b replay.Running) int { return cmp.Compare(a.Task, b.Task) })
	return out
}

// took returns the durations of the attempts that succeeded, in order.
func took(v *replay.View) []float64 {
	var out []float64
	for _, d := range v.Done() {
		out = append(out, d.Took.Seconds())
	}
	slices.Sort(out)
	return out
}

func percentile(sorted []float64, q float64) float64 {
	n := int(math.Ceil(q*float64(len(sorted)) - 1e-9))
	return sorted[min(max(n, 1), len(sorted))-1]
}

// asked remembers the tasks that copies were asked for, by phase.
type asked map[string]bool

func (q asked) copy(v *replay.View, do *replay.Actions, task int32) {
	if key := fmt.Sprint(v.Phase(), task); !q[key] {
		q[key] = true
		do.QueueCopy(task)
	}
}

func plainMapReduce() replay.Policy {
	queued := asked{}
	return plainly(func(v *replay.View, do *replay.Actions) replay.Again {
		over := 0
		for t := range int32(v.Tasks()) {
			if v.Finished(t) {
				over++
			}
		}
		if v.Waiting() == 0 && float64(over) >= 0.95*float64(v.Tasks()) {
			for _, a := range single(v) {
				queued.copy(v, do, a.Task)
			}
		}
		return replay.Again{End: true, Launched: true}
	})
}

func plainDryad() replay.Policy {
	queued := asked{}
	return plainly(func(v *replay.View, do *replay.Actions) replay.Again {
		if v.Waiting() > 0 || len(v.Done()) == 0 {
			return replay.Again{End: true, Launched: true}
		}
		limit := replay.Seconds(percentile(took(v), 0.75))
		again := replay.Again{End: true}
		for _, a := range single(v) {
			if over := a.Start + limit + 1; over <= v.Now() {
				queued.copy(v, do, a.Task)
			} else if again.At == 0 || over < again.At {
				again.At = over
			}
		}
		return again
	})
}

// plainSpark looks at every check, as Spark does.
func plainSpark() replay.Policy {
	queued := asked{}
	const interval = 100 * replay.Millisecond
	return plainly(func(v *replay.View, do *replay.Actions) replay.Again {
		if v.Gang() || v.Tasks() == 1 {
			return replay.Again{}
		}
		if d := took(v); v.CheckAt(v.Now(), interval) == v.Now() && len(d) >= policy.SparkMinFinished(0.75, v.Tasks()) {
			limit := replay.Seconds(max(1.5*(d[(len(d)-1)/2]+d[len(d)/2])/2, 0.1))
			for _, a := range single(v) {
				if v.Elapsed(&a) > limit {
					queued.copy(v, do, a.Task)
				}
			}
		}
		return replay.Again{At: v.CheckAt(v.Now()+1, interval)}
	})
}

func plainHadoop(lag replay.Time) replay.Policy {
	return plainly(func(v *replay.View, do *replay.Actions) replay.Again {
		const heartbeat = 3 * replay.Second
		running := v.Running()
		switch {
		case v.Waiting() > 0 || len(running) == 0:
			return replay.Again{End: true, Launched: true}
		case v.JobReleased()+lag > v.Now():
			return replay.Again{At: v.JobReleased() + lag}
		case v.Free() == 0:
			return v.In(heartbeat)
		}
		scores := make([]float64, v.Tasks())
		for i := range running {
			scores[running[i].Task] = max(scores[running[i].Task], v.Progress(&running[i]))
		}
		sum := 0.0
		for t, score := range scores {
			if v.Finished(int32(t)) {
				score = 1
			}
			sum += score
		}
		var found []replay.Running
		for i := range running {
			if a := &running[i]; v.Copies(a.Task) == 1 && v.Progress(a) < sum/float64(v.Tasks())-0.2 {
				found = append(found, *a)
			}
		}
		slices.SortFunc(found, func(a, b replay.Running) int { return cmp.Compare(a.Task, b.Task) })
		capacity := 0
		for m := range v.Machines() {
			slots, _ := v.Load(int32(m))
			capacity += slots
		}
		load := float64(v.Unfinished()) / float64(capacity)
		for _, m := range v.FreeMachines(nil) {
			slots, used := v.Load(m)
			n := slices.IndexFunc(found, func(a replay.Running) bool { return a.Machine != m || v.Machines() == 1 })
			if n >= 0 && used < min(int(math.Ceil(load*float64(slots)-1e-9)), slots) {
				do.CopyOn(found[n].Task, m)
				found = slices.Delete(found, n, n+1)
			}
		}
		return v.In(heartbeat)
	})
}

// plainWait returns when LATE need not look: while tasks wait, while no task is old enough, and without a free slot.
func plainWait(v *replay.View, age replay.Time, early bool) (replay.Again, bool) {
	if v.Waiting() > 0 && !early {
		return replay.Again{End: true, Launched: true}, true
	}
	start := replay.Time(math.MaxInt64)
	for _, a := range single(v) {
		start = min(start, a.Start)
	}
	switch {
	case start == math.MaxInt64 && v.Waiting() > 0:
		return replay.Again{At: v.Now() + age, End: true}, true
	case start == math.MaxInt64:
		return replay.Again{End: true}, true
	case start+age > v.Now():
		return replay.Again{At: start + age}, true
	case v.Free() == 0 && v.Waiting() == 0:
		return v.In(replay.Second), true
	}
	return replay.Again{}, false
}

func plainLATE(early bool) func(age replay.Time) replay.Policy {
	return func(age replay.Time) replay.Policy {
		done := map[*any]map[int32]float64{} // by job (its memory): finished attempts by machine, as far as a look has seen them
		counted := map[int]int{}
		return plainly(func(v *replay.View, do *replay.Actions) replay.Again {
			if done[v.JobMemory()] == nil {
				done[v.JobMemory()] = map[int32]float64{}
			}
			for _, d := range v.Done()[counted[v.Phase()]:] {
				done[v.JobMemory()][d.Machine]++
			}
			counted[v.Phase()] = len(v.Done())
			if again, wait := plainWait(v, age, early); wait {
				return again
			}
			room := max(int(0.1*float64(v.Slots())+1e-9), 1) - v.Speculating() - v.Queued()
			if room <= 0 {
				return v.In(replay.Second)
			}
			var rates []float64
			for _, d := range v.Done() {
				rates = append(rates, 1/d.Took.Seconds())
			}
			nodes := make([]float64, v.Machines())
			for m, n := range done[v.JobMemory()] {
				nodes[m] = n
			}
			running := v.Running()
			left := map[int32]float64{}
			var order []replay.Running
			for i := range running {
				a := &running[i]
				if e := v.Elapsed(a).Seconds(); e > 0 {
					rates = append(rates, v.Progress(a)/e)
				}
				nodes[a.Machine] += v.Progress(a)
			}
			slices.Sort(rates)
			for _, a := range single(v) {
				if e := v.Elapsed(&a).Seconds(); e >= age.Seconds() && v.Progress(&a)/e < percentile(rates, 0.25) {
					left[a.Task] = policy.TimeLeft(v.Progress(&a), e)
					order = append(order, a)
				}
			}
			slices.SortStableFunc(order, func(a, b replay.Running) int { return cmp.Compare(left[b.Task], left[a.Task]) })
			if v.Waiting() > 0 {
				for _, a := range order[:min(room, len(order))] {
					do.CopyFirst(a.Task)
				}
				return v.In(replay.Second)
			}
			threshold := percentile(slices.Sorted(slices.Values(nodes)), 0.25)
			for _, m := range v.FreeMachines(nil) {
				if nodes[m] < threshold || room == 0 {
					continue
				}
				if n := slices.IndexFunc(order, func(a replay.Running) bool { return a.Machine != m }); n >= 0 {
					do.CopyOn(order[n].Task, m)
					order = slices.Delete(order, n, n+1)
					room--
				}
			}
			return v.In(replay.Second)
		})
	}
}

// settled are the options of Mantri's defaults in policies.md.
var settled = policy.Mantri{Alpha: 2, Gamma: 3, Delta: 0.25, Rho: 3, Report: 10, Restart: true, Copy: true, Longest: true}

// decisions returns what a policy does on a pool: every attempt that ended or was killed, in that order, with its slot and
// instants.
func decisions(t *testing.T, s *replay.Sim, p *workload.Pool, pol replay.Policy, sched replay.Scheduler, seed int64) (spans []replay.Span) {
	t.Helper()
	out := s.Run(p, replay.Options{Policy: pol, Scheduler: sched, Seed: seed, Sigma: 0.1, Watch: func(x replay.Span) { spans = append(spans, x) }})
	if err := out.Err(); err != nil {
		t.Fatal(err)
	}
	return spans
}

// Same decisions as the plain rules, to the microsecond: on generated clusters and on real logs, as the logs' own schedulers
// launched their tasks, and on generated clusters under other schedulers.
func TestPlainRules(t *testing.T) {
	logs := logged(t)
	for _, x := range []struct {
		name  string
		plain func(age replay.Time) replay.Policy
		set   [2]string // an option that makes the policy what the plain rule says; age where it has no value
	}{
		{"mapreduce", ageless(plainMapReduce), [2]string{}}, {"dryad", ageless(plainDryad), [2]string{}},
		{"hadoop", plainHadoop, [2]string{"lag"}}, {"late", plainLATE(false), [2]string{"age"}}, {"late-early", plainLATE(true), [2]string{"age"}},
		{"spark3", ageless(plainSpark), [2]string{"efficiency", "0"}},
		{"mantri", ageless(func() replay.Policy { return plainMantri(settled) }), [2]string{}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			var s replay.Sim
			same := func(what string, p *workload.Pool, sched schedule.Scheduler, seed int64, age replay.Time) (copies int) {
				pol := byName(t, x.name)
				if name, value := x.set[0], x.set[1]; name != "" {
					pol = set(t, pol, name, cmp.Or(value, fmt.Sprint(age.Seconds())))
				}
				got, want := decisions(t, &s, p, pol.New(), sched.New(), seed), decisions(t, &s, p, x.plain(age), sched.New(), seed)
				for n := range min(len(got), len(want)) {
					if got[n] != want[n] {
						t.Fatalf("%s: attempt %d is %+v, by the plain rule %+v", what, n, got[n], want[n])
					}
					if got[n].Number > 0 {
						copies++
					}
				}
				if len(got) != len(want) {
					t.Fatalf("%s: %d attempts, by the plain rule %d", what, len(got), len(want))
				}
				return copies
			}
			ofLogs, generated, scheduled := 0, 0, 0
			for n, p := range logs { // tasks of seconds
				ofLogs += same(fmt.Sprint("log ", n), p, schedule.Scheduler{}, int64(n), replay.Second)
			}
			for seed := range int64(10) {
				generated += same(fmt.Sprint("seed ", seed), cluster(uint64(seed)+200, 10, 6).Pools[0], schedule.Scheduler{}, seed, 60*replay.Second)
			}
			for n, spec := range schedule.Specs() {
				sched, err := schedule.ByName(spec.Name)
				if err != nil {
					t.Fatal(err)
				}
				scheduled += same(spec.Name, sched.Pool(cluster(uint64(n)+300, 4, 6).Pools[0]), sched, int64(n), 60*replay.Second)
			}
			if t.Logf("%d copies on real logs, %d on generated clusters, %d under other schedulers", ofLogs, generated, scheduled); min(ofLogs, generated, scheduled) == 0 {
				t.Error("the law says nothing")
			}
		})
	}
}

// ageless returns a plain rule that knows no least age of the attempts that are copied.
func ageless(rule func() replay.Policy) func(replay.Time) replay.Policy {
	return func(replay.Time) replay.Policy { return rule() }
}

// logged returns the pools of some real logs: with slow machines, failures, lost outputs, executors that come and go, and
// speculation.
func logged(t *testing.T) []*workload.Pool {
	t.Helper()
	var pools []*workload.Pool
	for _, name := range []string{"bad-machine", "mixed-spec", "failures", "hard-loss", "dynamic-allocation"} {
		paths, err := filepath.Glob("../../testdata/labelled/" + name + "/app-*")
		if err != nil || len(paths) == 0 {
			t.Fatalf("no log %s: %v", name, err)
		}
		found, err := discover.Find(t.Context(), formats.All(), paths, discover.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range found.Inputs {
			r := ingesttest.Read(t, in.Format, in.Input, ingest.Limits{})
			pools = append(pools, workload.Build(workloadtest.FromTrace(&r.Trace)).Pools...)
		}
		if err := found.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return pools
}
