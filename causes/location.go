package causes

import (
	"math"
	"slices"
	"strings"

	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/schema"
	"straggler/stats"
)

// A wait for blocks may be due to the source of one task, to the link of its machine, or to a link shared by a rack; machines
// may be slow individually or as a rack. What the machines of a phase have in common distinguishes these cases, without regard
// to the task itself.

// examined is the number of machines of a phase, or of tasks of a machine, that are examined if there are more: the standard error
// of a share of them is at most 0.06, and that of their median 0.16 of their standard deviation.
const examined = 64

// locate returns the location of a line, "" if there is none, and composes a sentence about it.
func (a *Attributor) locate(s *split, l *line) (name string) {
	w := &a.located
	*w = (*w)[:0]
	m := s.task.Machine
	if m < 0 || l.seconds <= 0 {
		return ""
	}
	own := a.model.Machines.Name(m)
	switch l.top {
	case ofMachine:
		if r, slow, of, ok := a.model.Machines.SlowRack(m); ok {
			w.say("; ").int(int64(slow)).say(" of the ").int(int64(of)).say(" other machines of rack ").say(r).say(" are slow too, but few elsewhere: look at what the rack shares")
			return "rack " + r
		}
	case ofWait, ofLink:
		if k, ok := a.slowSender(); ok {
			own = a.model.Machines.Name(a.phase.Machines.Numbers[k])
			w.say("; the tasks of ").say(strings.ToValidUTF8(own, "\ufffd")).
				say(" start and end late, which few elsewhere do: its messages queue behind the blocks that others read from it")
			break
		}
		switch a.waitLocation(s.index) {
		case machines.NoLocation:
			if _, ok := a.sharedWait(s.index); ok {
				w.say("; so did tasks on most other machines at that time: what is slow is shared by all of them")
				return ""
			}
			w.say("; the others on its machine wait less: the source that this task read from is slow")
			return ""
		case machines.OnRack:
			r := a.model.Machines.Rack(m)
			w.say("; most machines of rack ").say(r).say(" wait as long, but few elsewhere: the rack's link is slow")
			return "rack " + r
		case machines.SharedLink:
			w.say("; some other machines wait as long: a link that they share is slow")
			return ""
		}
		w.say("; the others on its machine wait as long: the machine's link is slow")
	case ofPause:
		if own = a.model.Machines.Name(s.server); own != "" {
			w.say("; that process was on ").say(own)
		}
	default:
		return ""
	}
	if own == "" {
		return ""
	}
	return "machine " + strings.ToValidUTF8(own, "\ufffd")
}

// waitLocation determines the location that causes the wait of task i of the prepared phase.
func (a *Attributor) waitLocation(i int) machines.Location {
	b := a.phase
	k := b.Machines.Of[i]
	if k < 0 {
		return machines.NoLocation
	}
	w := &a.waits
	if !w.ok {
		w.load(&b.Fitter, &a.model.Machines)
	}
	bar := w.baseline + machines.ShareOfIt*(b.Part[fit.FetchWait][i]-w.baseline)
	if w.tmp = partsOn(w.tmp, &b.Fitter, fit.FetchWait, k, int32(i), examined); len(w.tmp) < 2 || !(stats.Median(w.tmp) >= bar) {
		return machines.NoLocation
	}
	r := a.model.Machines.Rack(b.Machines.Numbers[k])
	c := machines.Census{InRack: len(w.rack[r]), SlowInRack: machines.CountOver(w.rack[r], bar), All: len(w.all), Slow: machines.CountOver(w.all, bar)}
	if w.own[k] >= bar {
		c = c.WithoutItself()
	}
	return c.Location(r != "")
}

// preferOwn breaks a tie between a shared wait and another cause. A wait that most tasks elsewhere have at the same time is
// common to the phase, unless the link of the task's own machine or rack is slow; how long the wait would have been on a
// healthy link is unknown. If the wait and the time due to the task's machine or work do not differ significantly, both get
// their mean, and the cause particular to the task is the verdict. The unexplained remainder is particular to a task only if
// the others wait as long.
func (a *Attributor) preferOwn(s *split) {
	if len(a.lines) < 2 || a.lines[0].cause != schema.Network || !(a.lines[1].seconds > 0) {
		return
	}
	first, second := &a.lines[0], &a.lines[1]
	residual := second.top == ofResidual && second.cause == schema.Transient
	if k := second.top; !(k < ofFirst || k == ofMachine || residual) {
		return
	}
	if !a.tiedWith(s.of[ofWait]) { // were all of it shared
		return
	}
	shared, ok := a.sharedWait(s.index)
	if !ok || !a.tiedWith(shared) || residual && shared < allOfIt*s.of[ofWait] {
		return
	}
	if l := a.waitLocation(s.index); l == machines.OnMachine || l == machines.OnRack {
		return
	}
	first.errors[sharedSource] = shared * uniformSD
	yieldVerdict(first, second)
}

// yieldVerdict gives the first two causes their mean and makes the second the verdict.
func yieldVerdict(first, second *line) {
	mean := (first.seconds + second.seconds) / 2
	first.seconds, second.seconds = mean, mean
	*first, *second = *second, *first
}

// preferOwnToStart breaks the same kind of tie with startup, which is common to the first tasks of the phase. If its seconds do
// not differ significantly from those due to a machine that is slow by itself, or to a collection that the other first tasks
// did not have, both get their mean, and the cause particular to the task is the verdict.
func (a *Attributor) preferOwnToStart(s *split) {
	if len(a.lines) < 2 || a.lines[0].cause != schema.Startup || a.lines[0].top == ofCold || !(a.lines[1].seconds > 0) {
		return
	}
	first, second := &a.lines[0], &a.lines[1]
	if !(second.top == ofMachine && s.slowMachine || second.top == ofGC && a.firstTasksCollectLess(s.index)) {
		return
	}
	if z, ok := lead(a.lines); !ok || z > tied {
		return
	}
	mean := (first.seconds + second.seconds) / 2
	first.errors[sharedSource], second.errors[sharedSource] = first.seconds-mean, second.seconds-mean
	yieldVerdict(first, second)
}

// firstTasksCollectLess reports whether the median collection time of the first tasks of the phase on each machine, at least
// three, is less than half that of task i.
func (a *Attributor) firstTasksCollectLess(i int) bool {
	b := &a.phase.Fitter
	if !a.firstCollectKnown {
		a.tmp = a.tmp[:0]
		for _, j := range b.Rows {
			if b.X[fit.ByFirst][j] == 1 {
				a.tmp = append(a.tmp, b.Part[fit.GC][j])
			}
		}
		a.firstCollectKnown, a.firstCollect = true, math.NaN()
		if len(a.tmp) >= 3 {
			a.firstCollect = stats.Median(a.tmp)
		}
	}
	return a.firstCollect < alike*b.Part[fit.GC][i]
}

// tied is the lead, in standard deviations, below which two causes do not differ significantly (5 %, two-sided).
const tied = 1.96

// allOfIt is the share of a wait above which it is considered common to all tasks.
const allOfIt = 0.9

// uniformSD is the standard deviation of a uniform distribution on [0, 1]. The usual wait at the time of a task is from the
// phase's median, which is that of later tasks, to what the tasks elsewhere wait meanwhile.
var uniformSD = 1 / math.Sqrt(12)

// tiedWith reports whether the first two lines are tied, given the seconds of the first that are shared.
func (a *Attributor) tiedWith(shared float64) bool {
	v := stats.Square(max(0, shared) * uniformSD)
	first := a.lines[0]
	first.model = math.Sqrt(stats.Square(first.model) + v)
	z, ok := lead([]line{first, a.lines[1]})
	return ok && z <= tied
}

// sharedWait returns the part of the wait of task i beyond the median that tasks on most other machines have at the same time; ok
// if it is at least half: all of them read over the same slow link.
func (a *Attributor) sharedWait(i int) (seconds float64, ok bool) {
	b := &a.phase.Fitter
	own := b.Machines.Of[i]
	if own < 0 {
		return 0, false
	}
	w := &a.waits
	if w.sharedOf == i {
		return w.shared, w.isShared
	}
	defer func() { w.sharedOf, w.shared, w.isShared = i, seconds, ok }()
	wait := b.Part[fit.FetchWait][i]
	a.tmp = a.tmp[:0]
	for k := 0; k < len(b.Machines.Numbers); k += 1 + len(b.Machines.Numbers)/examined {
		if b.Machines.Same(int32(k), own) {
			continue
		}
		if j, ok := b.ConcurrentTask(int32(i), int32(k), wait); ok {
			a.tmp = append(a.tmp, b.Part[fit.FetchWait][j])
		}
	}
	if len(a.tmp) < 3 {
		return 0, false
	}
	over := wait - a.mid[fit.FetchWait]
	seconds = min(over, stats.Median(a.tmp)-a.mid[fit.FetchWait])
	return seconds, seconds >= machines.ShareOfIt*over
}

// slowSender is a machine with a saturated link: other tasks wait for the blocks it sends, and its own tasks start and end late
// because their messages use the same link.
type slowSender struct {
	known, ok bool
	machine   int32
	delays    []float64 // medians by machine
}

// slowSender finds the machine of the phase whose messages queue behind the blocks that it serves. The wait of the phase for
// blocks must be longer than one lost packet causes, and material. The sender is then the only machine with a median delay as
// long as that, no other machine having half of it; machines with fewer than three tasks are not considered. A machine that is
// slow itself also answers late, and is excluded.
func (a *Attributor) slowSender() (k int32, ok bool) {
	w := &a.sender
	if w.known {
		return w.machine, w.ok
	}
	b := &a.phase.Fitter
	w.known, w.ok, w.machine, w.delays = true, false, 0, w.delays[:0]
	wait := a.mid[fit.FetchWait]
	if wait < retransmission || wait < material*b.MedianOf(func(i int32) float64 { return b.Tasks[i].Duration }) || len(b.Machines.Numbers) < 3 {
		return 0, false
	}
	for k := range b.Machines.Numbers {
		a.tmp = partsOn(a.tmp, b, fit.SchedulerDelay, int32(k), -1, math.MaxInt)
		w.delays = append(w.delays, 0)
		if len(a.tmp) >= 3 { // with fewer, one late task may be the median
			w.delays[k] = stats.Median(a.tmp)
		}
		if w.delays[k] > w.delays[w.machine] {
			w.machine = int32(k)
		}
	}
	late := w.delays[w.machine]
	for k, d := range w.delays {
		if int32(k) != w.machine && !b.Machines.Same(int32(k), w.machine) && d >= alike*late {
			return 0, false
		}
	}
	z, _, _ := b.MachineMean(w.machine)
	w.ok = late >= retransmission && a.phase.LogFactor[w.machine]-a.phase.Usual+z < math.Log(1+halfway)
	return w.machine, w.ok
}

// behindSlowSender reports whether task i ran on the slow sender.
func (a *Attributor) behindSlowSender(i int) bool {
	k, ok := a.slowSender()
	own := a.phase.Machines.Of[i]
	return ok && own >= 0 && a.phase.Machines.Same(k, own)
}

// waits holds the median wait for blocks on each machine of the prepared phase with at least two tasks.
type waits struct {
	ok       bool
	all      []float64            // in order
	rack     map[string][]float64 // of the machines of a rack, in order
	own      []float64            // by local number; NaN where a machine has fewer than two tasks
	baseline float64              // the lower quartile: half of the machines may be behind a slow link
	tmp      []float64

	sharedOf int // the task that sharedWait was last asked about; -1: none
	shared   float64
	isShared bool
}

func (w *waits) load(b *fit.Fitter, m *machines.Factors) {
	w.ok, w.all, w.own, w.baseline = true, w.all[:0], w.own[:0], math.NaN()
	w.rack = map[string][]float64{}
	for k, machine := range b.Machines.Numbers {
		w.tmp = partsOn(w.tmp, b, fit.FetchWait, int32(k), -1, math.MaxInt)
		if len(w.tmp) < 2 {
			w.own = append(w.own, math.NaN())
			continue
		}
		v := stats.Median(w.tmp)
		w.own, w.all = append(w.own, v), append(w.all, v)
		if r := m.Rack(machine); r != "" {
			w.rack[r] = append(w.rack[r], v)
		}
	}
	slices.Sort(w.all)
	for _, v := range w.rack {
		slices.Sort(v)
	}
	if n := len(w.all); n > 0 {
		w.baseline = w.all[n/4]
	}
}

// partsOn appends to v a measured part of the successful tasks on a machine, except one task, up to a limit.
func partsOn(v []float64, b *fit.Fitter, part int, k, except int32, most int) []float64 {
	v = v[:0]
	for _, j := range b.Machines.Tasks(k) {
		if b.Succeeded(j) && j != except {
			if v = append(v, b.Part[part][j]); len(v) == most {
				break
			}
		}
	}
	return v
}
