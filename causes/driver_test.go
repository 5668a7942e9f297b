package causes

import (
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
	"straggler/schema"
)

// A fifth of the tasks wait for blocks for 0.4 s. Where the driver stops for 1.2 s, those that end meanwhile end at the same time for it: their delay is the
// scheduler's. Where those that wait are delayed as long and end one by one, or together on one machine, it is the link's.
func TestDriverStops(t *testing.T) {
	const stop = 1.2
	for _, c := range []struct {
		name  string
		delay func(t *fit.Task, end float64) float64 // s after the start of the phase without it
		want  schema.Cause
	}{
		{"the driver stops", func(_ *fit.Task, end float64) float64 {
			if end > 4 && end < 4+stop {
				return 4 + stop - end
			}
			return 0
		}, schema.Scheduler},
		{"one by one", func(t *fit.Task, _ float64) float64 {
			if t.Wait > 0.1 {
				return 0.6 + 0.6*float64(t.Index%7)/7
			}
			return 0
		}, schema.Network},
		{"on one machine", func(t *fit.Task, end float64) float64 {
			if second := float64(int(end/stop)+1) * stop; t.Machine == 2 && t.Wait > 0.1 {
				return second - end
			}
			return 0
		}, schema.Network},
	} {
		cluster := causestest.New(43, 6)
		var phases []*fit.Phase
		for range 12 {
			from := cluster.Now
			phases = append(phases, cluster.Phase(240, 1, nil, func(t *fit.Task, body *float64) {
				if t.Wait, t.Remote = 0.01, 20e6; t.Index%5 == 0 {
					t.Wait = 0.4
				}
				t.Delay += c.delay(t, t.Start.V.Sub(from)+*body+t.Wait+t.Delay+t.Convert)
			}))
		}
		n := 0
		for _, r := range attributeAll(phases) {
			task := find(phases, r.AttemptID)
			if r.Rank != 1 || task.Wait < 0.4 || task.Delay < 0.6 || task.Delay > 0.9 { // longer ones are more than the wait is the reason for
				continue
			}
			if n++; r.Cause != c.want {
				t.Errorf("%s: task %d on machine %d: %s: %s", c.name, task.Index, task.Machine, r.Cause, r.Evidence)
			}
		}
		if n < 10 {
			t.Errorf("%s: %d outliers that were delayed", c.name, n)
		}
	}
}
