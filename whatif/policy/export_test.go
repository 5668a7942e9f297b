package policy

import "straggler/whatif/replay"

// Watchful is Mantri that weighs every attempt at every look.
type Watchful struct{ mantri }

func NewWatchful(m Mantri) *Watchful { return &Watchful{mantri{Mantri: m}} }

func (w *Watchful) Look(v *replay.View, do *replay.Actions) replay.Again {
	if p, ok := (*v.Memory()).(*mantriPhase); ok {
		w.wakeAll(v, p)
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
	running := v.Running()
	for i := range running {
		before = append(before, asleep(&running[i]))
	}
	again := s.mantri.Look(v, do)
	for i, slept := range before {
		switch {
		case asleep(&running[i]):
			s.Slept++
		case slept:
			s.Woken++
		}
	}
	return again
}
