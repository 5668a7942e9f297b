package replay

import (
	"math"
	"slices"

	"straggler/whatif/workload"
)

// Sharing decides which of the copies of its input a clone of a later phase reads (DOLLY §4).
type Sharing uint8

const (
	Shared Sharing = iota // contention cloning: all clones read the output that finished first, concurrently
	// contention avoidance cloning: the k-th clone reads the outputs of the k-th clones of upstream tasks
	Exclusive
	Patient // delay assignment: exclusive copies that become available within a wait, the others shared
)

// Reading is how the clones of a phase read the outputs of upstream phases. How long a clone waits, and what it shares, depends
// on when the upstream clones would have ended, which the simulator knows and the policy does not.
type Reading struct {
	Sharing    Sharing
	Wait       Time    // of Patient: how long a clone waits for a copy of its own, from the end of the first one (ω)
	Contention float64 // relative increase of the time of a task that reads all of its input under contention
}

// cloneEnds are when the first clone of a task ended and when another would have, had it not been killed.
type cloneEnds struct{ first, other int64 }

// keepCloneEnds records by rank when the attempts that lose against a task's first clone would have ended, for the clones of
// later phases. Losers are killed at once, so they hold no slots.
func (s *Sim) keepCloneEnds(ph, task int32) {
	run := &s.phases[ph]
	var ends [8]int64
	list := ends[:0]
	for slot := s.task(s.p.Phases[ph].FirstTask + task).slot; slot >= 0; slot = s.slots[slot].next {
		if end := s.tree.end(slot); end < workload.Forever {
			list = append(list, end)
		}
	}
	slices.Sort(list)
	for rank, end := range list {
		if rank == len(run.cloneEnds) {
			run.cloneEnds = append(run.cloneEnds, nil)
		}
		run.cloneEnds[rank] = append(run.cloneEnds[rank], cloneEnds{s.now, end})
	}
}

// waitsFor returns how long clone number rank (0: the original) of a phase that starts now waits for its input, and how much
// longer it takes because it shares that.
func (s *Sim) waitsFor(i, rank int32) (wait int64, slower float64) {
	r := s.phases[i].reading
	if r == nil || len(s.p.Phases[i].Parents) == 0 {
		return 0, 1
	}
	if r.Sharing == Shared {
		return 0, 1 + r.Contention
	}
	if rank == 0 { // it has the first copy of every input to itself
		return 0, 1
	}
	all, shared := 0, 0
	for _, q := range s.p.Phases[i].Parents {
		all += int(s.p.Phases[q].Tasks)
		var ends []cloneEnds
		if up := s.phases[q].cloneEnds; int(rank) <= len(up) {
			ends = up[rank-1]
		}
		shared += int(s.p.Phases[q].Tasks) - len(ends) // copies of this rank never existed
		for _, t := range ends {
			at := t.other
			if limit := t.first + int64(r.Wait); r.Sharing == Patient && at > max(limit, s.now) {
				at = limit
				shared++
			}
			wait = max(wait, at-s.now)
		}
	}
	return wait, 1 + r.Contention*float64(shared)/float64(all)
}

// slowed returns a duration extended by the waiting and sharing of clone number rank.
func (s *Sim) slowed(i, rank int32, took int64) int64 {
	wait, slower := s.waitsFor(i, rank)
	return wait + int64(math.Round(float64(took)*slower))
}
