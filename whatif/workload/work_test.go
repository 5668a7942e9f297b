package workload_test

import (
	"math"
	"slices"
	"testing"

	"straggler/schema"
	"straggler/whatif/workload"
	"straggler/whatif/workload/workloadtest"
)

// worked returns the durations that a phase's data predicts for tasks with so many bytes that took so long.
func worked(bytes []int64, seconds []float64) []float64 {
	at := func(s float64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15).Add(s)) }
	t := &schema.Trace{
		Applications: []schema.Application{{ApplicationID: 1, Framework: "spark"}},
		Jobs:         []schema.Job{{JobID: 2, ApplicationID: 1, SubmitTime: at(0), FinishTime: at(1000)}},
		Phases:       []schema.Phase{{PhaseID: 3, JobID: 2, Kind: "map"}},
	}
	for n := range bytes {
		t.Attempts = append(t.Attempts, schema.Attempt{AttemptID: schema.Key(10 + n), PhaseID: 3, JobID: 2, ApplicationID: 1, Task: int64(n),
			Status: schema.Success, Machine: schema.Some("m"), StartTime: at(0), FinishTime: at(seconds[n]), InputBytes: schema.Some(bytes[n])})
	}
	var out []float64
	for _, task := range workload.Build(workloadtest.FromTrace(t)).Pools[0].Tasks {
		out = append(out, float64(task.Work))
	}
	return out
}

// A copy of a task that is slow for its data is as long as the original: its work must say so, also where the median
// task has next to nothing to read.
func TestWorkFollowsData(t *testing.T) {
	many := func(n int, v int64) []int64 { return slices.Repeat([]int64{v}, n) }
	took := func(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }
	for name, c := range map[string]struct {
		bytes   []int64
		seconds []float64
		want    map[int]float64 // predicted seconds of some tasks
	}{
		"nearly empty partitions": {append(many(24, 5562), 59906712, 59905539, 59905559, 11682770, 11682767, 5562),
			append(took(24, 2.9), 18.5, 18.2, 18.2, 6.5, 6.4, 1.8), map[int]float64{0: 2.9, 24: 18.3, 27: 5.9}},
		"empty partitions":           {append(many(10, 0), 100e6, 200e6, 300e6), append(took(10, 1), 2, 3, 4), map[int]float64{0: 1, 10: 2, 12: 4}},
		"one partition of many":      {append(many(20, 1e6), 50e6), append(took(20, 2), 12), map[int]float64{0: 2, 20: 12}},
		"one, and it is as fast":     {append(many(20, 1e6), 50e6), append(took(20, 2), 2), map[int]float64{0: 2, 20: 2}},
		"thrice the data, very slow": {append(many(20, 1e6), 3e6), append(took(20, 2), 40), map[int]float64{0: 2}},
		"time that is data":          {[]int64{1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6}, []float64{1, 2, 3, 4, 5, 6, 7}, map[int]float64{0: 1, 6: 7}},
		"time that is not":           {[]int64{1e6, 2e6, 3e6, 4e6, 5e6, 6e6, 7e6}, took(7, 3), map[int]float64{0: 3, 6: 3}},
	} {
		got := worked(c.bytes, c.seconds)
		for n, want := range c.want {
			if math.Abs(got[n]-want) > 0.1*want {
				t.Errorf("%s: task %d is predicted to take %.3g s, want %.3g s", name, n, got[n], want)
			}
		}
	}
}

// Windows of time in which a machine's speed may change are longer than an hour where there would be more than a thousand until
// the last attempt has ended: one that ends three centuries late makes them a thousandth of that.
func TestWindowsOfLongLog(t *testing.T) {
	const late = 1e10
	at := func(s float64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15).Add(s)) }
	tr := &schema.Trace{
		Applications: []schema.Application{{ApplicationID: 1, Framework: "spark"}},
		Jobs:         []schema.Job{{JobID: 2, ApplicationID: 1, SubmitTime: at(0), FinishTime: at(late)}},
		Phases:       []schema.Phase{{PhaseID: 3, JobID: 2, Kind: "map"}},
	}
	for n := range 40 {
		a := schema.Attempt{AttemptID: schema.Key(10 + n), PhaseID: 3, JobID: 2, ApplicationID: 1, Task: int64(n), Status: schema.Success,
			Machine: schema.Some([]string{"a", "b"}[n%2]), StartTime: at(0), FinishTime: at(20)}
		if n == 39 {
			a.FinishTime = at(late)
		}
		tr.Attempts = append(tr.Attempts, a)
	}
	for _, m := range workload.Build(workloadtest.FromTrace(tr)).Pools[0].Machines {
		if len(m.Windows) == 0 {
			t.Errorf("machine %s has no windows", m.Name)
		}
		for _, w := range m.Windows {
			if s := float64(w.Till-w.From) / 1e6; s < late/1000 {
				t.Errorf("machine %s has a window of %g s", m.Name, s)
			}
		}
	}
}
