package replay_test

import (
	"fmt"
	"math"
	"testing"

	"straggler/schema"
	"straggler/whatif/replay"
	"straggler/whatif/workload"
	"straggler/whatif/workload/workloadtest"
)

// reported returns a job of reduces on machines of their own, with what each had reported.
func reported(reduces ...reduce) *schema.Trace {
	const second = 1_000_000
	t := &schema.Trace{
		Applications: []schema.Application{{ApplicationID: 1, Framework: "mapreduce"}},
		Jobs:         []schema.Job{{JobID: 2, ApplicationID: 1, SubmitTime: schema.Some(schema.Time(0))}},
		Phases:       []schema.Phase{{PhaseID: 3, JobID: 2, NativeID: "reduce", Kind: "reduce", SubmitTime: schema.Some(schema.Time(0))}},
	}
	last := 0.0
	for n, r := range reduces {
		id := schema.Key(10 + n)
		machine := fmt.Sprint("m", n)
		t.Machines = append(t.Machines, schema.Machine{Machine: machine, Slots: schema.Some(int64(1))})
		t.Attempts = append(t.Attempts, schema.Attempt{
			AttemptID: id, PhaseID: 3, JobID: 2, ApplicationID: 1, Task: int64(n), Machine: schema.Some(machine), Status: schema.Success,
			StartTime: schema.Some(schema.Time(r.start * second)), FinishTime: schema.Some(schema.Time((r.start + r.took) * second)),
		})
		for _, p := range r.points {
			t.Progress = append(t.Progress, schema.Progress{
				AttemptID: id, Time: schema.Time((r.start + p[0]) * second), Progress: p[1], Source: schema.Reported,
			})
		}
		last = max(last, r.start+r.took)
	}
	t.Jobs[0].FinishTime = schema.Some(schema.Time(last * second))
	return t
}

// reduce starts and takes so many seconds, and reported scores so many seconds after its start.
type reduce struct {
	start, took float64
	points      [][2]float64
}

// watcher notes the progress of running attempts every second.
type watcher struct{ seen map[string]float64 }

func (w *watcher) Look(v *replay.View, do *replay.Actions) replay.Again {
	for _, a := range v.Running() {
		w.seen[fmt.Sprintf("%d at %.0f", a.Task, v.Now().Seconds())] = v.Progress(&a)
		if at, ok := v.Reached(&a, 0.5); ok {
			w.seen[fmt.Sprintf("%d half", a.Task)] = at.Seconds()
		}
	}
	for _, d := range v.Done() {
		w.seen[fmt.Sprintf("%d spent", d.Task)] = v.Spent(&d, 0.5).Seconds()
	}
	return replay.Again{At: v.Now() + replay.Second, End: true}
}

// Policies see the progress that the log reports: here that of the task of LATE §4.2, 5 %/s up to a half and 1 %/s from
// there, and no random number is drawn for it. A task without reports keeps its synthetic one.
func TestReportedProgress(t *testing.T) {
	twoParts := [][2]float64{{10, 0.5}, {60, 1}}
	w := workload.Build(workloadtest.FromTrace(reported(reduce{0, 60, twoParts}, reduce{10, 60, twoParts}, reduce{0, 60, nil})))
	if w.Notes.Reported != 2 || w.Notes.Attempts != 3 {
		t.Errorf("%d of %d attempts have reports", w.Notes.Reported, w.Notes.Attempts)
	}
	look := &watcher{seen: map[string]float64{}}
	var s replay.Sim
	out := s.Run(w.Pools[0], replay.Options{Policy: look, Seed: 1})
	if out.Err() != nil || out.Jobs[0].Took != 70_000_000 {
		t.Errorf("took %d µs: %v", out.Jobs[0].Took, out.Err())
	}
	for what, want := range map[string]float64{
		"0 at 5": 0.25, "0 at 10": 0.5, "0 at 20": 0.6, "0 at 59": 0.99, "1 at 20": 0.5, "1 at 30": 0.6, "2 at 30": 0.5,
		"0 half": 10, "1 half": 10, "2 half": 30, "0 spent": 10, "1 spent": 10, "2 spent": 30,
	} {
		if got, ok := look.seen[what]; !ok || math.Abs(got-want) > 1e-5 {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	w = workload.Build(workloadtest.FromTrace(reported(reduce{0, 60, twoParts})))
	if out := s.Run(w.Pools[0], replay.Options{Policy: look, Seed: 1, Sigma: 0.3}); out.Drew {
		t.Error("progress that the log reports was drawn")
	}
}

// Reports out of the attempt's time, that go back, or of attempts that are not there are left out.
func TestReportedProgressDamaged(t *testing.T) {
	trace := reported(reduce{10, 60, [][2]float64{{-5, 0.1}, {20, 0.5}, {30, 0.4}, {40, 0.9}, {70, 1}}}, reduce{0, 60, [][2]float64{{30, math.NaN()}}})
	trace.Progress = append(trace.Progress, schema.Progress{AttemptID: 99, Time: 1, Progress: 0.5, Source: schema.Reported},
		schema.Progress{AttemptID: 11, Time: 30_000_000, Progress: 0.9, Source: schema.Synthetic})
	w := workload.Build(workloadtest.FromTrace(trace))
	look := &watcher{seen: map[string]float64{}}
	var s replay.Sim
	s.Run(w.Pools[0], replay.Options{Policy: look, Seed: 1})
	for what, want := range map[string]float64{"0 at 20": 0.25, "0 at 30": 0.5, "0 at 40": 0.7, "0 at 50": 0.9, "1 at 30": 0.5} {
		if got := look.seen[what]; math.Abs(got-want) > 1e-5 {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
}
