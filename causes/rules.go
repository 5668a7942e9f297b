package causes

import (
	"slices"

	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/stats"
)

// What the likelihood does not determine is decided by rules, in this order (MODEL.md, section 7). The rules are a function of
// the estimate alone, so that errors can be propagated through them.

// rules returns the seconds by term after all rules, which preserve the sum.
func (e estimate) rules() [terms]float64 {
	e.renameParts()
	e.delayOfLink()
	e.spreadScatter()
	e.overlap()
	e.waitForLost()
	return e.of
}

// renameParts assigns measured parts to the terms known to have caused them.
func (e *estimate) renameParts() {
	rename := func(from, to term, is bool) {
		if is && e.of[from] > 0 {
			e.of[to] += e.of[from]
			e.of[from] = 0
		}
	}
	rename(ofWait, ofPause, e.paused)
	rename(ofWait, ofShortWait, e.shortWait)
	rename(ofDelay, ofLateLaunch, e.lateLaunch)
	rename(ofDelay, ofLink, e.lateMessages)
	rename(ofConvert, ofLink, e.lateCode)
	rename(ofConvert, ofFirstConvert, e.firstConvert)
	rename(ofConvert, ofMachine, e.shortConvert && e.slowMachine)
	rename(ofConvert, ofShortConvert, e.shortConvert)
	if c := e.of[ofFirstConvert]; c > 0 && e.slowMachine {
		e.of[ofMachine] += c * e.slower
		e.of[ofFirstConvert] -= c * e.slower
	}
}

// delayOfLink attributes a delay to the network if the task also waited for blocks: the messages that start and end a task
// queue behind the blocks that its machine fetches or serves. A delay by a pause of the driver is attributed to the scheduler,
// and any other delay explained by one late message to the attempt itself.
func (e *estimate) delayOfLink() {
	excess := e.scatter
	for _, x := range e.of {
		excess += x
	}
	switch d := e.of[ofDelay]; {
	case d > 0 && !e.lateDriver && e.of[ofWait] > material*excess:
		e.of[ofLink] += d
		e.of[ofDelay] = 0
	case d > 0 && e.shortDelay && e.slowMachine:
		e.of[ofMachine] += d
		e.of[ofDelay] = 0
	case d > 0 && e.shortDelay:
		e.of[ofShortDelay], e.of[ofDelay] = d, 0
	}
}

// material is the least share that a wait must have: of the excess, for a delay to be attributed to the link, and of the median
// duration, for the phase to be limited by a link.
const material = 0.25

// spreadScatter divides scatter, which may be negative, among the causes that made the body slow, in proportion to their
// seconds. Being among the first of the phase is common to many tasks that are not outliers. If something particular to the
// task weighs at least half as much, or its machine alone makes it an outlier among the tasks that began like it, the seconds
// of a first task are divided in the same way; otherwise they are merged with the scatter into the larger of the two.
func (e *estimate) spreadScatter() {
	var named [terms]float64
	var sum float64
	for k := range e.of {
		if k := term(k); e.standsOut(k) || k == ofResidual {
			named[k] = max(0, e.of[k])
			sum += named[k]
		}
	}
	scatter := e.scatter
	e.scatter = 0
	first := max(0, e.of[ofFirst])
	switch {
	case first > 0 && (2*sum >= first || e.slowMachine && named[ofMachine] > 0):
		scatter += first
		e.of[ofFirst] = 0
	case first > scatter && first > 0:
		e.of[ofFirst] += scatter
		return
	case first > 0:
		e.of[ofResidual] += scatter + first
		e.of[ofFirst] = 0
		return
	}
	// the named causes are a small part of it
	if sum == 0 || 4*sum < scatter || scatter > 0 && sum-named[ofResidual] < halfway*e.median {
		e.of[ofResidual] += scatter
		return
	}
	for k := range named {
		e.of[k] += scatter * named[k] / sum
	}
}

// halfway is the least share of the median duration that the named causes must take to be given the scatter: half of what makes
// an outlier (1.5 medians in detect). An input that predicts 1.15 medians does not explain two.
const halfway = 0.25

// standsOut reports which causes within the body have more seconds than their error.
func (e *estimate) standsOut(k term) bool {
	return (k < ofFirst || k == ofMachine || k == ofCold) && e.of[k] > 2*e.sd[k]
}

// overlap subtracts what the body lacks from the measured parts: a task stopped by a collection may have been asleep or waiting
// anyway.
func (e *estimate) overlap() {
	lack := -e.of[ofResidual]
	if lack <= 0 {
		return
	}
	var over float64
	for k := ofWait; k <= lastMeasured; k++ {
		over += max(0, e.of[k])
	}
	if over <= 0 {
		return
	}
	take := min(lack, over)
	for k := ofWait; k <= lastMeasured; k++ {
		if e.of[k] > 0 {
			e.of[k] -= take * e.of[k] / over
		}
	}
	e.of[ofResidual] += take
}

// waitForLost attributes to recompute the time that a reader spent while its inputs were missing (MANTRI §4.1: tasks that wait
// until the output is regenerated), as far as nothing else explains it.
func (e *estimate) waitForLost() {
	if gap := min(e.missing, max(0, e.of[ofResidual])); gap > 0 {
		e.of[ofGap] = gap
		e.of[ofResidual] -= gap
	}
}

// judgeParts determines what else is known about the measured parts of a task besides their length.
func (a *Attributor) judgeParts(s *split) {
	if wait := s.of[ofWait]; wait > 0 {
		if k, ok := a.pausedBy(s.index); ok {
			s.paused, s.server = true, a.pauses.numbers[k]
		} else {
			s.shortWait = !a.materialWait(s.index, wait)
		}
	}
	behind := a.behindSlowSender(s.index)
	if delay := s.of[ofDelay]; delay > 0 {
		s.lateLaunch = a.launchedIntoPause(s.index, delay)
		s.lateMessages = !s.lateLaunch && behind
		s.lateDriver = !s.lateLaunch && s.of[ofWait] > 0 && a.driverStopped(int32(s.index), delay)
		s.shortDelay = !s.lateLaunch && delay < retransmission
	}
	s.firstConvert = a.firstToConvert(s.index)
	s.lateCode = s.firstConvert && behind && stats.Median(a.firstConverts) < alike*a.phase.Part[fit.Conversion][s.index]
	s.shortConvert = s.of[ofConvert] < retransmission
}

// materialWait reports whether a wait beyond the median can be due to a link. A wait shorter than it takes to notice a lost
// packet, for so few bytes that the slowest link would have carried them in that time, is due to the processor at either end.
func (a *Attributor) materialWait(i int, wait float64) bool {
	return wait >= retransmission || a.phase.FetchedBytes(i) >= slowestLink*wait
}

const (
	// s: the minimum retransmission timeout of TCP in Linux (TCP_RTO_MIN), and two periods of a CPU quota (cpu.cfs_period_us)
	retransmission = 0.2
	slowestLink    = 12.5e6 // bytes/s: 100 Mbit/s, the slowest Ethernet that clusters had
)

// firstToConvert reports whether the conversion of task i is startup work: the task is among the first of its executor, or of
// the phase on its machine, and conversions at least half as long are less than half as common among later tasks. The first
// task of a stage in a process loads classes and fetches code, whereas every task reads large variables.
func (a *Attributor) firstToConvert(i int) bool {
	b := &a.phase.Fitter
	first := func(j int32) bool { return b.Tasks[j].Cold || b.Tasks[j].Start.OK && b.X[fit.ByFirst][j] == 1 }
	if !first(int32(i)) {
		return false
	}
	if !a.convertsKnown {
		a.convertsKnown, a.firstConverts, a.laterConverts = true, a.firstConverts[:0], a.laterConverts[:0]
		for _, j := range b.Rows {
			if first(j) {
				a.firstConverts = append(a.firstConverts, b.Part[fit.Conversion][j])
			} else {
				a.laterConverts = append(a.laterConverts, b.Part[fit.Conversion][j])
			}
		}
		slices.Sort(a.firstConverts)
		slices.Sort(a.laterConverts)
	}
	bar := alike * b.Part[fit.Conversion][i]
	n, others := machines.CountOver(a.firstConverts, bar), machines.CountOver(a.laterConverts, bar)
	return 2*others*len(a.firstConverts) < n*len(a.laterConverts) || len(a.laterConverts) == 0
}

// alike is the share of a task's own time above which the time of others counts as similar.
const alike = 0.5

// missingInput returns how long outputs that the task reads were missing while it ran. In frameworks that log waits for blocks, a
// reader that misses a block fails, so the waits they log are due to the network.
func (a *Attributor) missingInput(t *fit.Task) float64 {
	gaps := a.losses.gaps[t.Phase]
	if len(gaps) == 0 || !t.Start.OK || a.phase.WaitKnown() {
		return 0
	}
	return overlapS(gaps, t.Start.V, t.Start.V.Add(t.Duration))
}

// waitForMore moves to skew the part of the wait that is usual for a task with as much input, and returns its standard
// deviation.
func (a *Attributor) waitForMore(s *split, i int, middle float64) (sd float64) {
	b := a.phase
	over := s.of[ofWait]
	volume := b.FetchedBytes(i)
	usual := a.rate * volume
	if f := b.Regression.Status[fit.ByBytes]; f == fit.Constant || f == fit.Absent || over <= 0 || usual <= middle {
		return 0
	}
	s.of[ofWaitForMore] = min(over, usual-middle)
	s.of[ofWait] = over - s.of[ofWaitForMore]
	return min(s.of[ofWaitForMore], a.rateSD*volume)
}
