package policy

import "straggler/whatif/replay"

// Watchful is Mantri that weighs every attempt at every look.
type Watchful struct{ mantri }

func NewWatchful(m Mantri) *Watchful { return &Watchful{mantri{Mantri: m}} }

func (w *Watchful) Look(v *replay.View, do *replay.Actions) replay.Again {
	if p, ok := (*v.Memory()).(*mantriPhase); ok {
		(&mantriLook{mantri: &w.mantri, p: p, v: v}).wakeAll()
	}
	return w.mantri.Look(v, do)
}

// Sleepy is Mantri that counts the attempts it lets sleep, and those that it wakes.
type Sleepy struct {
	mantri
	Slept, Woken int
}

func NewSleepy(m Mantri) *Sleepy { return &Sleepy{mantri: mantri{Mantri: m}} }

func (s *Sleepy) Look(v *replay.View, do *replay.Actions) replay.Again {
	var before []bool
	for i := range v.Running() {
		before = append(before, v.Asleep(i))
	}
	again := s.mantri.Look(v, do)
	for i, slept := range before {
		switch {
		case v.Asleep(i):
			s.Slept++
		case slept:
			s.Woken++
		}
	}
	return again
}

// InOrder returns the numbers of the tasks that gain so much, in the order in which Mantri deals with them.
func InOrder(gains []float64) []int32 {
	var m mantri
	for task, gain := range gains {
		m.found = append(m.found, mantriCase{gain: gain, task: int32(task)})
	}
	m.inOrder()
	var tasks []int32
	for _, c := range m.found {
		tasks = append(tasks, c.task)
	}
	return tasks
}

// Estimating is LATE that estimates the time left of every attempt at every look.
type Estimating struct{ late }

func NewEstimating(l LATE) *Estimating { return &Estimating{late{LATE: l}} }

func (e *Estimating) Look(v *replay.View, do *replay.Actions) replay.Again {
	phase, _ := e.count(v)
	phase.longest.varied = true
	return e.late.Look(v, do)
}

// Bounding is LATE that counts the looks at which bounds told which attempts have the longest time left, and those at which
// they did not; and those at which an earlier count of rates still tells that a rate is slow, and how often that is wrong.
type Bounding struct {
	late
	Decided, Undecided int
	Counted, Wrong     int
	counted            replay.Time // when the last count that was seen is no longer good
}

func NewBounding(l LATE) *Bounding { return &Bounding{late: late{LATE: l}} }

func (b *Bounding) Look(v *replay.View, do *replay.Actions) replay.Again {
	again := b.late.Look(v, do)
	if p, ok := (*v.Memory()).(*latePhase); ok && v.Waiting() > 0 && !p.longest.varied {
		if p.longest.scans > 0 {
			b.Undecided++
		} else if p.longest.old.n > 0 {
			b.Decided++
		}
		c, s := &p.longest.count, slowness{l: &b.late, v: v, phase: p}
		earlier := c.till == b.counted
		b.counted = c.till
		if earlier && c.rate > 0 && c.till >= v.Now() && s.few(c) {
			b.Counted++
			if !(c.rate < b.slowRate(v, p)) {
				b.Wrong++
			}
		}
	}
	return again
}

// Floor is what the targets of Mantri's attempts that sleep do not fall below.
type Floor struct{ target }

// Lower brings it under a target, and is whether it was lowered.
func (f *Floor) Lower(mean, likely, far, lag, delta float64, bytes bool) bool {
	return f.goUnder(target{paces{mean, likely, bytes}, far, lag, delta})
}

func (f *Floor) Numbers() [5]float64 { return [5]float64{f.mean, f.likely, f.far, f.lag, f.delta} }
