package causes

import "straggler/causes/fit"

// What the likelihood does not say is decided by rules, in this order (MODEL.md, section 7).

// waitForMore moves to skew the part of the wait that a task with its input usually has.
func (a *Attributor) waitForMore(s *split, i int, middle float64) {
	b := a.phase
	over := s.seconds[ofWait]
	usual := a.rate * b.FetchedBytes(i)
	if f := b.Regression.Status[fit.ByBytes]; f == fit.Constant || f == fit.Absent || over <= 0 || usual <= middle {
		return
	}
	s.seconds[ofWaitForMore] = min(over, usual-middle)
	s.seconds[ofWait] = over - s.seconds[ofWaitForMore]
	s.sd[ofWaitForMore] = 0.1 * s.seconds[ofWaitForMore]
}

// delayOfLink counts a delay as the network's when the task also waited for blocks: the messages that start and end a task
// queue behind the blocks that its machine fetches or serves.
func (s *split) delayOfLink() {
	const material = 0.25 // share of the excess that the wait must be
	if d := s.seconds[ofDelay]; d > 0 && s.seconds[ofWait] > material*s.excess {
		s.seconds[ofLink], s.seconds[ofDelay] = d, 0
		s.sd[ofLink], s.sd[ofDelay] = s.sd[ofDelay], 0
	}
}

// spreadScatter gives scatter, which may be negative, to the causes that made the body slow, in proportion. Being among the
// first of the phase is common to many tasks that are no outliers, and no cause that the log names: where something
// particular to the task weighs half as much, it goes the same way; else it and the scatter are one, under the name of
// the larger.
func (s *split) spreadScatter(scatter float64) {
	var named [terms]float64
	var sum float64
	for k := range s.seconds {
		if k := term(k); s.standsOut(k) || k == ofResidual {
			named[k] = max(0, s.seconds[k])
			sum += named[k]
		}
	}
	first := max(0, s.seconds[ofFirst])
	switch {
	case first > 0 && 2*sum >= first:
		scatter += first
		s.seconds[ofFirst] = 0
	case first > scatter && first > 0:
		s.seconds[ofFirst] += scatter
		return
	case first > 0:
		s.seconds[ofResidual] += scatter + first
		s.seconds[ofFirst] = 0
		return
	}
	if sum == 0 || 4*sum < scatter { // what is named is a small part of it
		s.seconds[ofResidual] += scatter
		return
	}
	for k := range named {
		s.seconds[k] += scatter * named[k] / sum
	}
}

// standsOut says of which causes within the body the seconds are more than their error.
func (s *split) standsOut(k term) bool {
	return (k < ofFirst || k == ofMachine) && s.seconds[k] > 2*s.sd[k]
}

// overlap takes what the body lacks from the measured parts: a task that is stopped by a collection may have been
// asleep or waiting anyway.
func (s *split) overlap() {
	lack := -s.seconds[ofResidual]
	if lack <= 0 {
		return
	}
	var over float64
	for k := ofWait; k <= ofWaitForMore; k++ {
		over += max(0, s.seconds[k])
	}
	if over <= 0 {
		return
	}
	take := min(lack, over)
	for k := ofWait; k <= ofWaitForMore; k++ {
		if s.seconds[k] > 0 {
			s.seconds[k] -= take * s.seconds[k] / over
		}
	}
	s.seconds[ofResidual] += take
}

// waitForLost gives recompute what a reader spent while outputs that it reads were missing (MANTRI §4.1: tasks that wait until
// the output is regenerated), as far as nothing else explains it. Frameworks that log how long tasks wait for blocks let
// a reader fail that misses one, so what they log is the network's.
func (a *Attributor) waitForLost(s *split) {
	gaps := a.losses.gaps[s.task.Phase]
	if len(gaps) == 0 || !s.task.Start.OK || a.phase.WaitKnown() {
		return
	}
	missing := overlapS(gaps, s.task.Start.V, s.task.Start.V.Add(s.task.Duration))
	if s.seconds[ofGap] = min(missing, max(0, s.seconds[ofResidual])); s.seconds[ofGap] > 0 {
		s.seconds[ofResidual] -= s.seconds[ofGap]
		s.sd[ofGap] = 0.1 * s.seconds[ofGap]
	}
}
