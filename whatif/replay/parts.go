package replay

import (
	"math"

	"straggler/whatif/workload"
)

// The progress of an attempt of a planned pool that copies its input and then computes, where its phase has a CopyScore c (LATE
// §2.1: copying is the first third of the score of a reduce, and in each part the score is the share of the data that is
// processed):
//
//	c · share of the outputs that it has copied          while it copies
//	c + (1 − c) · what it reports of its computing       then
//
// partProgress is that at an instant.
func (s *Sim) partProgress(ph int32, a *Running, at int64) float64 {
	c := float64(s.p.Phases[ph].CopyScore)
	if s.stages.slots[a.slot].kind == copying {
		return c * s.copiedShare(ph, a, at)
	}
	x := s.computedShare(a, at)
	if a.curve >= 0 {
		return c + (1-c)*score(s.reported(a.curve), x, true)
	}
	return c + (1-c)*synthetic(x, s.noise(ph, a))
}

// copiedShare returns the share of the upstream outputs that an attempt has copied, at most those available.
func (s *Sim) copiedShare(ph int32, a *Running, at int64) float64 {
	there, all := 0.0, 0.0
	for _, q := range s.p.Phases[ph].Parents {
		there, all = there+float64(s.phases[q].over), all+float64(s.p.Phases[q].Tasks)
	}
	has := 1.0
	switch fetch := s.p.Stages.Fetch[s.p.Phases[ph].FirstTask+a.Task]; {
	case !s.sharing():
		has = float64(at-int64(a.Start)) / max(float64(fetch), 1)
	case s.stages.hosts.slots[a.slot].on:
		x := &s.stages.hosts.slots[a.slot]
		has = 1 - x.remaining(at)/max(x.total, 1)
	}
	return min(has, there/max(all, 1), 1)
}

// computedShare returns the share of its computing that an attempt has done.
func (s *Sim) computedShare(a *Running, at int64) float64 {
	if s.sharing() {
		x := &s.stages.hosts.slots[a.slot]
		if !x.on {
			return 0 // it waits in the queue of its machine
		}
		return 1 - x.remaining(at)/max(x.total, 1)
	}
	end := s.tree.end(a.slot)
	if end == workload.Forever {
		return 0
	}
	return min(max(1-float64(end-at)/max(float64(s.takes[a.slot]), 1), 0), 1)
}

// copyScore returns the CopyScore of the phase, or 0 if it has none.
func (v *View) copyScore() float64 {
	if v.s.observed != nil {
		return 0
	}
	return float64(v.s.p.Phases[v.ph].CopyScore)
}

// reachedInParts returns how long after its start an attempt reported a score, assuming a constant rate of copying and one of
// computing.
func (v *View) reachedInParts(a *Running, want float64) Time {
	c, elapsed := v.copyScore(), v.Elapsed(a)
	if v.s.stages.slots[a.slot].kind == copying {
		return min(Time(math.Round(want/max(v.Progress(a), want)*float64(elapsed))), elapsed)
	}
	copied := v.s.stages.slots[a.slot].read
	if want <= c {
		return Time(math.Round(want / c * float64(copied)))
	}
	x := max(v.s.computedShare(a, v.s.now), 1e-9)
	y := min(v.s.partShare(v.ph, a, want)/x, 1)
	return min(copied+Time(math.Round(y*float64(elapsed-copied))), elapsed)
}

// partShare returns the share of its computing after which an attempt reports a score.
func (s *Sim) partShare(ph int32, a *Running, want float64) float64 {
	c := float64(s.p.Phases[ph].CopyScore)
	part := max(want-c, 0) / max(1-c, 1e-9)
	if a.curve >= 0 {
		return shareAt(s.reported(a.curve), part)
	}
	return syntheticShare(part, s.noise(ph, a))
}

// spentInParts is reachedInParts for an attempt that is done.
func (v *View) spentInParts(d *Done, want float64) Time {
	c := v.copyScore()
	if want <= c {
		return Time(math.Round(want / c * float64(d.copied)))
	}
	x := (want - c) / max(1-c, 1e-9)
	if d.curve >= 0 {
		x = shareAt(v.s.reported(d.curve), x)
	}
	return d.copied + Time(math.Round(x*float64(d.Took-d.copied)))
}
