package policy

import (
	"math"
	"testing"

	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// looker looks at given instants.
type looker struct {
	at   []replay.Time
	look func(v *replay.View)
}

func (l *looker) Look(v *replay.View, _ *replay.Actions) replay.Again {
	if len(l.at) > 0 && v.Now() >= l.at[0] {
		l.at = l.at[1:]
		l.look(v)
	}
	if len(l.at) == 0 {
		return replay.Again{}
	}
	return replay.Again{At: l.at[0]}
}

// remainings returns t_rem of the last task of a phase at some instants, in seconds. All tasks but the last take 20 s.
func remainings(t *testing.T, last float64, reports []workload.Point, at ...replay.Time) (left []float64) {
	t.Helper()
	c := scenario.Cluster{Machines: scenario.Uniform(7, 1), Jobs: []scenario.Job{{Phases: []scenario.Phase{{}}}}}
	for n := range 7 {
		x := scenario.Task{Seconds: 20, Reports: reports}
		if n == 6 {
			x.Seconds = last
		}
		c.Jobs[0].Phases[0].Tasks = append(c.Jobs[0].Phases[0].Tasks, x)
	}
	m, p := &mantri{Mantri: mantriDefaults}, &mantriPhase{}
	var s replay.Sim
	s.Run(workload.Build(c.Rows()).Pools[0], replay.Options{Policy: &looker{at, func(v *replay.View) {
		l, a := mantriLook{mantri: m, p: p, v: v, delta: 2}, &v.Running()[0]
		l.count()
		left = append(left, l.remaining(a, v.Elapsed(a).Seconds()))
	}}})
	return left
}

// MANTRI equation 2: t_rem = elapsed · d/d_read + t_wrapup − elapsed. The tasks have read everything half-way, so that the
// others took 10 s after that. The last one takes 60 s; at 24 s it has read 0.8 of its input.
func TestWrapup(t *testing.T) {
	got := remainings(t, 60, []workload.Point{{At: 0.5, Score: 1}}, 24*replay.Second)
	if want := 24/0.8 + 10 - 24; len(got) != 1 || math.Abs(got[0]-want) > 1e-3 {
		t.Errorf("t_rem %v, want %g", got, want)
	}
}

// MANTRI §5.5: a task that has not reported for a while is taken to have stalled at its last report: 0.5 from 25 s to 75 s of
// 100. At 50 s it has 50 s left, and at 60 s 60 s, not an average with the smaller estimate before.
func TestStalled(t *testing.T) {
	got := remainings(t, 100, []workload.Point{{At: 0.25, Score: 0.5}, {At: 0.75, Score: 0.5}}, 50*replay.Second, 60*replay.Second)
	if len(got) != 2 || math.Abs(got[0]-50) > 1e-3 || math.Abs(got[1]-60) > 1e-3 {
		t.Errorf("t_rem %v, want 50 and 60", got)
	}
}
