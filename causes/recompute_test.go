package causes

import (
	"strings"
	"testing"

	"straggler/schema"
)

func TestGaps(t *testing.T) {
	g := joined([]gap{{50e6, 60e6}, {10e6, 20e6}, {15e6, 30e6}, {30e6, 31e6}, {55e6, 58e6}})
	if len(g) != 2 || g[0] != (gap{10e6, 31e6}) || g[1] != (gap{50e6, 60e6}) {
		t.Fatalf("%v", g)
	}
	for _, c := range []struct {
		from, to schema.Time
		want     float64
	}{{0, 5e6, 0}, {0, 12e6, 2}, {20e6, 55e6, 16}, {0, 100e6, 31}, {31e6, 50e6, 0}} {
		if got := overlapS(g, c.from, c.to); got != c.want {
			t.Errorf("%d to %d overlaps by %g s, want %g", c.from, c.to, got, c.want)
		}
	}
}

// A map's output is lost while reducers run that do not log how long they wait (Hadoop's do not). Time until it was
// recomputed that nothing else explains is recomputation; all of the map's second attempt is, and its evidence describes the
// chain.
func TestReadersWait(t *testing.T) {
	at := schema.Time(1e15)
	trace := &schema.Trace{
		Applications: []schema.Application{{ApplicationID: 1}},
		Jobs:         []schema.Job{{JobID: 1, ApplicationID: 1}},
		Phases:       []schema.Phase{{PhaseID: 1, JobID: 1, Kind: "map"}, {PhaseID: 2, JobID: 1, Kind: "reduce"}},
		Edges:        []schema.Edge{{JobID: 1, FromPhase: 1, ToPhase: 2}},
		Losses: []schema.Loss{{PhaseID: 1, Task: 3, AttemptID: schema.Some[schema.Key](4), Machine: schema.Some("node7"), Time: schema.Some(at.Add(105)),
			DetectedBy: schema.Some[schema.Key](102), RecomputedBy: schema.Some[schema.Key](50)}},
	}
	add := func(id, phase schema.Key, task int64, start, duration float64) *schema.Attempt {
		trace.Attempts = append(trace.Attempts, schema.Attempt{AttemptID: id, PhaseID: phase, JobID: 1, ApplicationID: 1, Task: task, Status: schema.Success,
			Machine: schema.Some("node" + string(rune('0'+id%8))), StartTime: schema.Some(at.Add(start)), FinishTime: schema.Some(at.Add(start + duration)),
			DurationS: schema.Some(duration), InputBytes: schema.Some[int64](64e6)})
		return &trace.Attempts[len(trace.Attempts)-1]
	}
	for i := range schema.Key(20) {
		add(i+1, 1, int64(i), 0, 10+0.1*float64(i%5))
		add(i+101, 2, int64(i), 100+60*float64(i/10), 10+0.1*float64(i%5))
	}
	trace.Attempts[3].DurationS.V = 10
	add(50, 1, 3, 120, 10).Recompute = true
	for i := range trace.Attempts {
		if a := &trace.Attempts[i]; a.AttemptID == 102 || a.AttemptID == 115 {
			a.DurationS.V = 40 // one ran while the output was missing, from 105 to 130; the other from 160 on
			a.FinishTime.V = a.StartTime.V.Add(40)
		}
	}
	v := verdicts(Attribute(trace, outliersOf(trace), 0))
	for id, want := range map[schema.Key]schema.Cause{50: schema.Recompute, 102: schema.Recompute, 115: schema.Transient} {
		if v[id].Cause != want {
			t.Errorf("attempt %d is %+v, want %s", id, v[id], want)
		}
	}
	for _, words := range []string{"task 3", "node7", "attempt 102", "25.0 s after"} {
		if !strings.Contains(v[50].Evidence, words) {
			t.Errorf("%q is not in %s", words, v[50].Evidence)
		}
	}
}
