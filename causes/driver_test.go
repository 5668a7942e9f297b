package causes

import (
	"testing"

	"straggler/causes/causestest"
	"straggler/causes/fit"
	"straggler/schema"
)

// A fifth of the tasks wait for blocks for 0.4 s. If the driver stops for 1.2 s, tasks that end meanwhile end at the same
// time according to it: their delay is the scheduler's. If the waiting tasks are delayed as long and end one by one, or
// together on a third of the machines or fewer, the link is the cause.
func TestDriverStops(t *testing.T) {
	const stops, stop = 2, 1.2 // s after the start of a phase, and for how long
	together := func(on int64) func(t *fit.Task, body *float64, end float64) {
		return func(t *fit.Task, body *float64, end float64) {
			switch {
			case t.Machine < on && end > stops && end < stops+stop:
				t.Delay += stops + stop - end
			case end > stops && end < stops+stop+0.2: // so that none of these ends meanwhile
				*body += stops + stop + 0.2 + 0.02*float64(t.Index%50) - end
			}
		}
	}
	for _, c := range []struct {
		name     string
		machines int
		delay    func(t *fit.Task, body *float64, end float64) // s after the start of the phase without it
		want     schema.Cause
	}{
		{"the driver stops", 6, together(6), schema.Scheduler},
		{"one by one", 6, func(t *fit.Task, _ *float64, _ float64) {
			if t.Wait > 0.1 {
				t.Delay += 0.6 + 0.6*float64(t.Index%7)/7
			}
		}, schema.Network},
		{"while others end", 6, func(t *fit.Task, _ *float64, end float64) {
			if t.Wait > 0.1 && end > stops && end < stops+stop {
				t.Delay += stops + stop - end
			}
		}, schema.Network},
		{"on one machine of six", 6, together(1), schema.Network},
		{"on two of six, several tasks on each", 6, together(2), schema.Network},
		{"on two of three", 3, together(2), schema.Network},
		{"on four of twelve", 12, together(4), schema.Network},
		{"on six of twelve", 12, together(6), schema.Scheduler},
		{"on forty of 120, of which a sample is asked", 120, together(40), schema.Network},
		{"on 48 of 120", 120, together(48), schema.Scheduler},
	} {
		cluster := causestest.New(43, c.machines)
		var phases []*fit.Phase
		for range max(2, 180/c.machines) {
			from := cluster.Now
			phases = append(phases, cluster.Phase(40*c.machines, 1, nil, func(t *fit.Task, body *float64) {
				if t.Wait, t.Remote = 0.01, 20e6; t.Index%5 == 0 {
					t.Wait = 0.4
				}
				c.delay(t, body, t.Start.V.Sub(from)+*body+t.Wait+t.Delay+t.Convert)
			}))
		}
		n, wrong := 0, 0
		for _, r := range attributeAll(phases) {
			task := find(phases, r.AttemptID)
			// longer delays have other causes than the wait
			if r.Rank != 1 || task.Wait < 0.4 || task.Delay < 0.6 || task.Delay > 0.9 {
				continue
			}
			if n++; r.Cause != c.want {
				if wrong++; wrong <= 3 {
					t.Errorf("%s: task %d on machine %d: %s: %s", c.name, task.Index, task.Machine, r.Cause, r.Evidence)
				}
			}
		}
		if n < 10 || wrong > 0 {
			t.Errorf("%s: %d outliers that were delayed, %d wrong", c.name, n, wrong)
		}
	}
}
