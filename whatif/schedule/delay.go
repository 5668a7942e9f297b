package schedule

import (
	"math"

	"straggler/whatif/replay"
)

// Delay is delay scheduling (FAIR §4.2): a job that has no task for a machine near its data is passed over, and the next
// job is asked. Having waited T1 it may start tasks on another machine of the data's rack, and T2 later anywhere. Starting
// a task nearer than that takes it back to the level of the task. The wait begins when the job is first passed over and
// ends with its next start. With both times 0 nobody waits: the head of the line is served.
type Delay struct {
	T1 float64 `option:"t1" unit:"s" doc:"how long a job waits for a machine that has its data"`
	T2 float64 `option:"t2" unit:"s" doc:"how much longer it waits for a rack that has it"`
}

// delayDefaults are the waits of FAIR §4.2 and §6.2.1.
var delayDefaults = Delay{T1: 15, T2: 15}

// ExpectedGain is the seconds that a task gains by waiting up to w seconds for a local slot, where such slots come once
// every t seconds (Poisson) and running elsewhere costs d seconds more: (1 − e^(−w/t)) · (d − t) (FAIR §4.3.1).
func ExpectedGain(w, t, d float64) float64 { return -math.Expm1(-w/t) * (d - t) }

// LocalWithin is the chance that at least one of n slots comes free within a share of the tasks' length, each at an
// instant of its own: 1 − (1 − share)^n (FAIR §4.2).
func LocalWithin(share float64, n int) float64 { return 1 - math.Pow(1-share, float64(n)) }

// waiting is how a job waits.
type waiting struct {
	level   replay.Level
	since   replay.Time // when it was passed over first
	skipped bool
}

// most is the farthest level at which a job may start a task now.
func (d *Delay) most(w *waiting, now replay.Time) replay.Level {
	waited := replay.Time(0)
	if w.skipped {
		waited = now - w.since
	}
	t1, t2 := replay.Seconds(d.T1), replay.Seconds(d.T2)
	switch {
	case w.level == replay.OffRack, w.level == replay.RackLocal && waited >= t2, waited >= t1+t2:
		return replay.OffRack
	case w.level == replay.RackLocal, waited >= t1:
		return replay.RackLocal
	}
	return replay.NodeLocal
}

// next is when the job may go farther than now; 0: at no time.
func (d *Delay) next(w *waiting, now replay.Time) replay.Time {
	t1, t2 := replay.Seconds(d.T1), replay.Seconds(d.T2)
	switch d.most(w, now) {
	case replay.NodeLocal:
		return w.since + t1
	case replay.RackLocal:
		if w.level == replay.RackLocal {
			return w.since + t2
		}
		return w.since + t1 + t2
	}
	return 0
}
