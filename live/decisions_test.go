package live_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"straggler/live"
	"straggler/live/livetest"
	"straggler/live/rest"
	"straggler/live/sparkrest"
	"straggler/schema"
	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/workload"
	"straggler/whatif/workload/workloadtest"
)

// decided is a decision about a task, identified by its own ids.
type decided struct {
	policy string
	stage  string
	task   int64
	verb   replay.Verb
}

// watched follows a server until its application ends, polling at intervals, and calls do with every frame.
func watched(tb testing.TB, s *livetest.Server, every float64, policies []policy.Policy, do func(*live.Frame)) *live.State {
	tb.Helper()
	c, err := rest.New(s.URL, sparkrest.API, rest.Options{Pause: time.Nanosecond, Share: 1})
	if err != nil {
		tb.Fatal(err)
	}
	src := sparkrest.NewSource(c, "")
	w := live.New(live.Options{Policies: policies})
	var last *live.State
	for now := s.Start() + 1; ; now = now.Add(every) {
		now = min(now, s.End())
		s.Set(now)
		st, err := src.Poll(context.Background())
		if err != nil {
			tb.Fatal(err)
		}
		st.Now, st.Read = now, 0 // no time passes between two polls
		do(update(tb, w, st))
		last = st
		if st.Ended {
			return last
		}
	}
}

func chosen(tb testing.TB, names ...string) []policy.Policy {
	tb.Helper()
	ps, err := policy.Choose(names, nil, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return ps
}

// recorder lets a policy observe a replay in which none of its decisions is carried out.
type recorder struct {
	replay.Policy
	own  replay.Actions
	seen func(replay.Decision)
}

func (r *recorder) Look(v *replay.View, _ *replay.Actions) replay.Again {
	r.own = replay.Actions{}
	again := r.Policy.Look(v, &r.own)
	for _, d := range r.own.Decisions(v) {
		r.seen(d)
	}
	return again
}

// replayed returns the decisions of a policy in the unchanged replay of a log, with the time of the first of each.
func replayed(tb testing.TB, t *schema.Trace, p policy.Policy) map[decided]schema.Time {
	tb.Helper()
	w := workload.Build(workloadtest.FromTrace(t))
	out := map[decided]schema.Time{}
	for _, pool := range w.Pools {
		tasks := tasksOf(t, pool)
		var sim replay.Sim
		o := sim.Run(pool, replay.Options{Policy: &recorder{Policy: p.New(), seen: func(d replay.Decision) {
			if d.Phase < 0 {
				return
			}
			x := decided{p.Name, stageOf(t, pool.PhaseKey(d.Phase)), tasks[d.Phase][d.Task], d.Verb}
			if _, ok := out[x]; !ok {
				out[x] = schema.Time(pool.Origin + int64(d.At))
			}
		}}})
		if err := o.Err(); err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

// tasksOf returns the tasks of a pool's phases by their index there, in ascending order.
func tasksOf(t *schema.Trace, pool *workload.Pool) [][]int64 {
	byKey := map[schema.Key][]int64{}
	for i := range t.Attempts {
		a := &t.Attempts[i]
		byKey[a.PhaseID] = append(byKey[a.PhaseID], a.Task)
	}
	out := make([][]int64, len(pool.Phases))
	for i := range pool.Phases {
		list := byKey[pool.Phases[i].Key]
		slices.Sort(list)
		out[i] = slices.Compact(list)
	}
	return out
}

func stageOf(t *schema.Trace, key schema.Key) string {
	for i := range t.Phases {
		if p := &t.Phases[i]; p.PhaseID == key {
			return fmt.Sprintf("%s.%d", p.NativeID, p.Attempt)
		}
	}
	return ""
}

// polled returns the decisions of policies that observe the same application through a server.
func polled(tb testing.TB, t *schema.Trace, every, heartbeat float64, policies []policy.Policy) map[decided]schema.Time {
	tb.Helper()
	s := livetest.New(tb, t)
	s.Heartbeat = heartbeat
	return polledOf(tb, s, every, policies)
}

func polledOf(tb testing.TB, s *livetest.Server, every float64, policies []policy.Policy) map[decided]schema.Time {
	tb.Helper()
	out := map[decided]schema.Time{}
	watched(tb, s, every, policies, func(f *live.Frame) {
		for _, d := range f.Decisions {
			for _, task := range d.Of {
				x := decided{d.Policy, fmt.Sprintf("%s.%d", d.Stage, d.StageTry), task, d.Verb}
				if _, ok := out[x]; !ok {
					out[x] = d.At
				}
			}
		}
	})
	return out
}

// Policies that use durations make the same decisions about a recorded application through a server as in its replay: about
// the same tasks, at the same times. One in twenty may differ, and of fewer one, because a log does not give the order of events
// within a millisecond, and a replay assigns a slot before its attempt starts. Tasks that end before the next poll are not reported.
func TestDecisionsOfTheReplay(t *testing.T) {
	const every = 0.2
	ps := chosen(t, "dryad", "mapreduce", "spark")
	for _, name := range []string{"transient", "bad-machine", "skew", "mixed", "clean"} {
		trace := livetest.Log(t, livetest.Labelled(t, name))
		ends := endsOf(trace)
		got := polled(t, trace, every, 0, ps)
		want := map[decided]schema.Time{}
		for _, p := range ps {
			for d, at := range replayed(t, trace, p) {
				want[d] = at
			}
		}
		same, missed, late := 0, 0, 0
		for d, at := range want {
			when, ok := got[d]
			switch {
			case !ok && ends[taskID{d.stage, d.task}].Sub(at) <= every:
			case !ok:
				missed++
				t.Logf("%s: not decided: %v at %v, %.1f s before its end", name, d, at, ends[taskID{d.stage, d.task}].Sub(at))
			case abs(when.Sub(at)) > 0.15:
				late++
				t.Logf("%s: %v %.3f s after the replay", name, d, when.Sub(at))
			default:
				same++
			}
		}
		more := 0
		for d := range got {
			if _, ok := want[d]; !ok {
				more++
				t.Logf("%s: decided only live: %v", name, d)
			}
		}
		t.Logf("%s: %d the same, %d missed, %d at another time, %d only live", name, same, missed, late, more)
		if other := missed + late + more; other > max(1, (same+other)/20) {
			t.Errorf("%s: %d of %d decisions are those of the replay", name, same, same+other)
		}
	}
}

type taskID struct {
	stage string
	task  int64
}

func endsOf(t *schema.Trace) map[taskID]schema.Time {
	ends := map[taskID]schema.Time{}
	for i := range t.Attempts {
		a := &t.Attempts[i]
		id := taskID{stageOf(t, a.PhaseID), a.Task}
		ends[id] = max(ends[id], a.FinishTime.V)
	}
	return ends
}

func abs(x float64) float64 { return max(x, -x) }
