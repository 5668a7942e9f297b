package causes

import (
	"cmp"
	"slices"

	"straggler/schema"
)

// lostOutput is an output that was lost and recomputed.
type lostOutput struct {
	task       int64
	machine    string      // where it was; "" unknown
	time       schema.Time // when the loss was noticed; 0 unknown
	detectedBy schema.Key  // the attempt that failed to read it; 0: none
	restored   schema.Time // when it was there again; 0 unknown
}

// gap is a time in which an input was missing.
type gap struct{ from, to schema.Time }

// losses are the outputs that were lost and recomputed.
type losses struct {
	outputs map[schema.Key]lostOutput // by the attempt that recomputed it
	gaps    map[schema.Key][]gap      // by phase: times at which outputs that it reads were missing
}

// add records a lost output and the attempt that recomputed it.
func (m *losses) add(again schema.Key, o lostOutput) {
	if m.outputs == nil {
		m.outputs = map[schema.Key]lostOutput{}
	}
	m.outputs[again] = o
}

// addGap records the time from the loss of an output that a phase reads until it was recomputed; unknown times are 0.
func (m *losses) addGap(reader schema.Key, lost, restored schema.Time) {
	if lost == 0 || restored <= lost {
		return
	}
	if m.gaps == nil {
		m.gaps = map[schema.Key][]gap{}
	}
	m.gaps[reader] = append(m.gaps[reader], gap{lost, restored})
}

// joinGaps merges overlapping gaps once all have been added.
func (m *losses) joinGaps() {
	for phase, gaps := range m.gaps {
		m.gaps[phase] = joined(gaps)
	}
}

// overlapS returns how many seconds of a time span fall into gaps, which are sorted and disjoint.
func overlapS(gaps []gap, from, to schema.Time) (s float64) {
	for _, g := range gaps {
		if a, b := max(g.from, from), min(g.to, to); a < b {
			s += b.Sub(a)
		}
	}
	return s
}

// joined sorts gaps and merges those that touch.
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

// recomputeSentence describes the chain of events: which output was lost, on which machine, who noticed, and when it was
// restored.
func (a *Attributor) recomputeSentence(w *words, e *Evidence, s *split) {
	e.Value, e.N = s.task.Duration, 0
	w.say("recomputed the output of task ").int(s.task.Index).say(", which had been lost")
	l, ok := a.losses.outputs[s.task.Attempt]
	if ok && l.machine != "" {
		w.say(" on ").say(l.machine)
	}
	if ok && l.detectedBy != 0 {
		w.say("; attempt ").int(l.detectedBy).say(" had failed to read it")
	}
	if ok && l.time != 0 && l.restored > l.time {
		w.say("; it was available again ").seconds(l.restored.Sub(l.time)).say(" after the loss was noticed")
	}
	w.say(": all of its ").seconds(s.task.Duration).say(" are repeated work")
}
