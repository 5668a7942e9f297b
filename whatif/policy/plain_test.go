package policy_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
)

// The policies keep indices and order statistics from one look to the next. These are their rules written down plainly:
// everything is worked out anew at every look, from all attempts of the phase.

// plainly is a policy by its rule for one look.
type plainly func(v *replay.View, do *replay.Actions) replay.Again

func (f plainly) Look(v *replay.View, do *replay.Actions) replay.Again { return f(v, do) }

// single are the attempts of tasks that run in one attempt and were never copied, in order of task.
func single(v *replay.View) []replay.Running {
	out := slices.DeleteFunc(slices.Clone(v.Running()), func(a replay.Running) bool {
		return v.Copies(a.Task) > 1 || v.Launched(a.Task) > 0
	})
	slices.SortFunc(out, func(a, b replay.Running) int { return cmp.Compare(a.Task, b.Task) })
	return out
}

// took are the durations of the attempts that succeeded, in order.
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
		return replay.Again{End: true}
	})
}

func plainDryad() replay.Policy {
	queued := asked{}
	return plainly(func(v *replay.View, do *replay.Actions) replay.Again {
		if v.Waiting() > 0 || len(v.Done()) == 0 {
			return replay.Again{End: true}
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

func plainHadoop() replay.Policy {
	return plainly(func(v *replay.View, do *replay.Actions) replay.Again {
		if again, wait := plainWait(v, false); wait {
			return again
		}
		sum := 0.0
		for t := range int32(v.Tasks()) {
			if v.Finished(t) {
				sum++
			}
		}
		running := v.Running()
		for i := range running {
			if running[i].Number == 0 {
				sum += v.Progress(&running[i])
			}
		}
		var found []int32
		for i := range running {
			if a := &running[i]; v.Copies(a.Task) == 1 && v.Elapsed(a) >= 60*replay.Second && v.Progress(a) < sum/float64(v.Tasks())-0.2 {
				found = append(found, a.Task)
			}
		}
		slices.Sort(found)
		for _, t := range found[:min(v.Free(), len(found))] {
			do.Copy(t)
		}
		return v.In(replay.Second)
	})
}

// plainWait is when LATE and Hadoop need not look: while tasks wait, while no task is old enough, and without a free slot.
func plainWait(v *replay.View, early bool) (replay.Again, bool) {
	if v.Waiting() > 0 && !early {
		return replay.Again{End: true}, true
	}
	start := replay.Time(math.MaxInt64)
	for _, a := range single(v) {
		start = min(start, a.Start)
	}
	switch {
	case start == math.MaxInt64:
		return replay.Again{End: true}, true
	case start+60*replay.Second > v.Now():
		return replay.Again{At: start + 60*replay.Second}, true
	case v.Free() == 0 && v.Waiting() == 0:
		return v.In(replay.Second), true
	}
	return replay.Again{}, false
}

func plainLATE(early bool) func() replay.Policy {
	return func() replay.Policy {
		done := map[int]map[int32]float64{} // finished attempts of a job by machine, as far as a look has seen them
		counted := map[int]int{}
		return plainly(func(v *replay.View, do *replay.Actions) replay.Again {
			if done[v.Job()] == nil {
				done[v.Job()] = map[int32]float64{}
			}
			for _, d := range v.Done()[counted[v.Phase()]:] {
				done[v.Job()][d.Machine]++
			}
			counted[v.Phase()] = len(v.Done())
			if again, wait := plainWait(v, early); wait {
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
			for m, n := range done[v.Job()] {
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
				if e := v.Elapsed(&a).Seconds(); e >= 60 && v.Progress(&a)/e < percentile(rates, 0.25) {
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

// Same decisions as the plain rules, to the microsecond, on generated clusters.
func TestPlainRules(t *testing.T) {
	var s replay.Sim
	for _, x := range []struct {
		name  string
		plain func() replay.Policy
		set   [][2]string
	}{
		{"mapreduce", plainMapReduce, nil}, {"dryad", plainDryad, nil}, {"hadoop", plainHadoop, nil},
		{"late", plainLATE(false), nil}, {"late-early", plainLATE(true), nil}, {"spark3", plainSpark, [][2]string{{"efficiency", "0"}}},
	} {
		pol := byName(t, x.name)
		for _, o := range x.set {
			pol = set(t, pol, o[0], o[1])
		}
		copies := int32(0)
		for seed := range uint64(10) {
			p := cluster(seed+200, 10, 6).Pools[0]
			record := func(pol replay.Policy) (spans []replay.Span) {
				s.Run(p, replay.Options{Policy: pol, Seed: int64(seed), Sigma: 0.1, Watch: func(x replay.Span) { spans = append(spans, x) }})
				return spans
			}
			got, want := record(pol.New()), record(x.plain())
			for n := range min(len(got), len(want)) {
				if got[n] != want[n] {
					t.Fatalf("%s seed %d: attempt %d is %+v, by the plain rule %+v", x.name, seed, n, got[n], want[n])
				}
				if got[n].Number > 0 {
					copies++
				}
			}
			if len(got) != len(want) {
				t.Fatalf("%s seed %d: %d attempts, by the plain rule %d", x.name, seed, len(got), len(want))
			}
		}
		if copies == 0 {
			t.Errorf("%s made no copies, so that this says nothing", x.name)
		}
	}
}
