package causes

import (
	"cmp"
	"slices"

	"straggler/schema"
)

// lostOutput is an output that was lost and made again.
type lostOutput struct {
	task     int64
	machine  string      // where it was; "" unknown
	time     schema.Time // when the loss was noticed; 0 unknown
	noticed  schema.Key  // the attempt that failed to read it; 0: none
	restored schema.Time // when it was there again; 0 unknown
}

// gap is a time in which an input was missing.
type gap struct{ from, to schema.Time }

// lose notes an output that was lost, the attempt that made it again, and a phase that reads it; 0: none.
func (m *Model) lose(again schema.Key, o lostOutput, reader schema.Key) {
	if m.lost == nil {
		m.lost, m.gaps = map[schema.Key]lostOutput{}, map[schema.Key][]gap{}
	}
	m.lost[again] = o
	if reader != 0 && o.time != 0 && o.restored > o.time {
		m.gaps[reader] = append(m.gaps[reader], gap{o.time, o.restored})
	}
}

// joinGaps ends the notes.
func (m *Model) joinGaps() {
	for phase, gaps := range m.gaps {
		m.gaps[phase] = joined(gaps)
	}
}

// overlapS is how many seconds of a time fall into gaps, which are in order and apart.
func overlapS(gaps []gap, from, to schema.Time) (s float64) {
	for _, g := range gaps {
		if a, b := max(g.from, from), min(g.to, to); a < b {
			s += b.Sub(a)
		}
	}
	return s
}

// joined puts gaps in order and joins those that touch.
func joined(gaps []gap) []gap {
	slices.SortFunc(gaps, func(a, b gap) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	out := gaps[:0]
	for _, g := range gaps {
		if n := len(out); n > 0 && g.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, g.to)
			continue
		}
		out = append(out, g)
	}
	return out
}

// wait gives recompute what a reader spent while outputs that it reads were missing (MANTRI §4.1: tasks that wait until
// the output is regenerated), as far as nothing else explains it. Frameworks that log how long tasks wait for blocks let
// a reader fail that misses one, so what they log is the network's.
func (a *Attributor) wait(s *split) {
	gaps := a.model.gaps[s.task.Phase]
	if len(gaps) == 0 || !s.task.Start.OK || a.bench.waitKnown() {
		return
	}
	missing := overlapS(gaps, s.task.Start.V, s.task.Start.V.Add(s.task.Duration))
	if s.seconds[ofGap] = min(missing, max(0, s.seconds[ofItself])); s.seconds[ofGap] > 0 {
		s.seconds[ofItself] -= s.seconds[ofGap]
		s.sd[ofGap] = 0.1 * s.seconds[ofGap]
	}
}

// sayRedone tells the chain: which output was lost, on which machine, who noticed, and when it was there again.
func (a *Attributor) sayRedone(w *words, e *Evidence, s *split) {
	e.Value, e.N = s.task.Duration, 0
	w.say("made the output of task ").int(s.task.Index).say(" again, which had been lost")
	l, ok := a.model.lost[s.task.Attempt]
	if ok && l.machine != "" {
		w.say(" on ").say(l.machine)
	}
	if ok && l.noticed != 0 {
		w.say("; attempt ").int(l.noticed).say(" had failed to read it")
	}
	if ok && l.time != 0 && l.restored > l.time {
		w.say("; its readers had it again ").seconds(l.restored.Sub(l.time)).say(" after the loss was noticed")
	}
	w.say(": all of its ").seconds(s.task.Duration).say(" are work done twice")
}
