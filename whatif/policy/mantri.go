package policy

import (
	"cmp"
	"slices"

	"straggler/whatif/replay"
)

// Mantri restarts and duplicates tasks where that saves time and resources (MANTRI §5.1, §5.4, §5.5).
//
// Rules, every Δ = min(10 s, a tenth of a task's life):
//   - of the copies of a task that have run for Δ, all but the fastest α are killed;
//   - while tasks wait for slots: a task is killed and restarted when t_rem > E(t_new) + Δ, at most γ times, and
//     duplicated, before the waiting tasks, when P(t_rem > t_new · (c+1)/c) > δ, where c is the number of its running copies;
//   - when none waits: it is duplicated when E(t_rem − t_new) > ρΔ. (Line 10 of the printed pseudocode has the sign
//     reversed; the text of §5.1 is right.)
//
// Never more than three copies run, a task is not duplicated again within Δ of its last copy, and the task that gains most goes
// first. A duplicate that has no slot by the next report is decided again. Tasks are launched in descending order of their data
// (longest).
//
// t_rem = elapsed · d/d_read + t_wrapup − elapsed, where t_wrapup is the mean time of the phase's finished attempts after they
// had read everything (§5.5, equation 2). It is smoothed by a running average of the reports, except for a task that has not
// progressed since the last report, which is taken to have stalled.
//
// t_new = rate · d · far + lag, with the rates of the phase's finished attempts and, until five have finished, the present rates
// of the running ones. So a task that is long because it has more data is left alone. d is a task's bytes if they explain the
// durations of the others, that is, if rates are less spread out than durations (ratio of the quartiles), and 1 otherwise: a rate
// per byte says nothing about reduces without input. far is the location factor of reading from elsewhere, lag the time from
// getting a slot to starting; both are measured over the log, and known for a planned cluster (View.Far).
//
// A reduce that began before its maps were over is left alone until they are. Network-aware placement (§5.2) and protection
// against recomputation (§5.3) need models of the network and of losses, and are not part of this policy.
type Mantri struct {
	Alpha   int     `option:"alpha" least:"1" why:"the last attempt of a task is never killed" doc:"copies of a task that are kept"`
	Gamma   int     `option:"gamma" doc:"times a task may be restarted"`
	Delta   float64 `option:"delta" most:"1" doc:"probability of saving resources above which a task is duplicated while others wait"`
	Rho     float64 `option:"rho" doc:"periods of reports that a duplicate must save when none waits"`
	Report  float64 `option:"report" least:"1e-6" unit:"s" doc:"longest period of progress reports"`
	Restart bool    `option:"restart" doc:"kill and restart"`
	Copy    bool    `option:"duplicate" doc:"duplicate"`
	Longest bool    `option:"longest" doc:"launch tasks in descending order of their data (§5.4)"`
}

var mantriDefaults = Mantri{Alpha: 2, Gamma: 3, Delta: 0.25, Rho: 3, Report: 10, Restart: true, Copy: true, Longest: true}

type mantri struct {
	Mantri
	found            []mantriCase // at this look
	unsorted         []mantriCase // for use within inOrder
	keys             []uint64     // the same
	from             []int32      // the same
	estimated        sample       // for use within a look: durations, s
	estimatedPerByte sample       // the same, s/byte
}

// mantriLook is one look of Mantri at a phase.
type mantriLook struct {
	*mantri
	p     *mantriPhase
	v     *replay.View
	do    *replay.Actions
	delta float64 // Δ, s
	rates paces   // of the attempts seen so far
}

// mantriPhase is what Mantri keeps of a phase from one look to the next.
type mantriPhase struct {
	counted  int           // finished attempts that are in the samples
	rates    sample        // of the finished attempts, s/byte
	took     sample        // the same, s
	unknown  bool          // a task without bytes has finished
	wrapup   float64       // seconds that the finished attempts took after they had read everything, all together
	life     float64       // of a task, as far as known, s
	known    int           // finished attempts that life was taken from
	paces    paces         // of the finished attempts
	paced    int           // how many they were then
	restarts []int32       // by place (View.Place); nil where none was restarted
	copied   []replay.Time // when each task was duplicated last, by place, never: not; nil where none was
	queued   []queuedCopy  // duplicates that may still wait for a slot
	joined   int           // of View.Joined
	many     []int32       // tasks of more copies than are kept
	weighed  []weighing    // so far
	floor    target        // with which none that sleeps is acted on
	all      bool          // every attempt is weighed each time from now on
}

// weighing is a look at which all attempts were weighed that had run for a period of reports.
type weighing struct {
	at    replay.Time
	delta float64
}

// queuedCopy is a requested duplicate, with the number of launches of its task at the time of the request.
type queuedCopy struct {
	task     int32
	place    int32
	launched int
}

// restart counts a restart of the task at a place.
func (p *mantriPhase) restart(place int32, tasks int) {
	if p.restarts == nil {
		p.restarts = make([]int32, tasks)
	}
	p.restarts[place]++
}

func (p *mantriPhase) restarted(place int32) int {
	if p.restarts == nil {
		return 0
	}
	return int(p.restarts[place])
}

// copy notes that the task at a place is duplicated now.
func (p *mantriPhase) copy(place int32, now replay.Time, tasks int) {
	if p.copied == nil {
		p.copied = slices.Repeat([]replay.Time{never}, tasks)
	}
	p.copied[place] = now
}

// copiedAt returns when a task was last duplicated, or never.
func (p *mantriPhase) copiedAt(place int32) replay.Time {
	if p.copied == nil {
		return never
	}
	return p.copied[place]
}

func (m *mantri) Look(v *replay.View, do *replay.Actions) replay.Again {
	p, ok := (*v.Memory()).(*mantriPhase)
	if !ok {
		p = &mantriPhase{}
		*v.Memory() = p
		if m.Longest {
			do.LongestFirst()
		}
		return v.In(replay.Second) // tasks run by then, and their reports give their durations
	}
	l := mantriLook{mantri: m, p: p, v: v, do: do}
	l.count()
	if l.delta = l.period(); l.delta <= 0 {
		return v.In(replay.Second)
	}
	if l.takeRates() {
		l.withdraw()
		l.prune()
		if v.Waiting() > 0 {
			l.whileWaiting()
		} else {
			l.whenIdle()
		}
	}
	return v.In(replay.Seconds(l.delta))
}

// Abstains: an attempt is duplicated if it gains more than ρΔ, the gain being t_rem − E(t_new). With the error z, the duration of
// the only attempt is estimated at Eₖ after eₖ seconds, and Eⱼ − Eₖ = z · (eₖ − eⱼ) for an earlier report j. t_rem is an average of
// Eₖ − eₖ and, half or not at all, of at most Eⱼ − eⱼ for some j; E(t_new) is at least Eₖ. So the gain is at most
// ½(Eₖ − eₖ) + ½(Eⱼ − eⱼ) − Eₖ = ½(z − 1)eₖ − ½(1 + z)eⱼ, which is negative for −1 < z < 1; 0.9 leaves room for rounding.
func (m *mantri) Abstains(most float64) bool { return most <= 0.9 }

// count adds the attempts that have finished since the last look to the samples of the phase.
func (l *mantriLook) count() {
	v, p := l.v, l.p
	done := v.Done()[p.counted:]
	for n := range done {
		d := &done[n]
		p.took.add(d.Took.Seconds())
		p.wrapup += (d.Took - v.Spent(d, 1)).Seconds()
		if b := v.InputOf(d); b > 0 {
			p.rates.add(d.Took.Seconds() / float64(b))
		} else {
			p.unknown = true
		}
	}
	p.counted += len(done)
}

// withdraw takes back the duplicates that got no slot since they were requested: whether they save anything is computed again.
func (l *mantriLook) withdraw() {
	v, p := l.v, l.p
	for _, q := range p.queued {
		if v.Launched(q.task) == q.launched && !v.Finished(q.task) {
			l.do.Withdraw(q.task)
			p.copied[q.place] = never
		}
	}
	p.queued = p.queued[:0]
}

// prune kills all but the fastest copies of each task.
func (l *mantriLook) prune() {
	v, p := l.v, l.p
	joined := v.Joined()
	p.many = append(p.many, joined[min(p.joined, len(joined)):]...)
	p.joined = len(joined)
	p.many = slices.DeleteFunc(p.many, func(t int32) bool { return v.Copies(t) <= l.Alpha })
	slices.Sort(p.many)
	p.many = slices.Compact(p.many)
	for _, t := range p.many {
		var own []*replay.Running
		for a := range v.Attempts(t) {
			if v.Elapsed(a).Seconds() >= l.delta {
				own = append(own, a)
			}
		}
		slices.SortFunc(own, func(a, b *replay.Running) int {
			return cmp.Or(cmp.Compare(estimate(v, a), estimate(v, b)), cmp.Compare(a.Number, b.Number))
		})
		for _, a := range own[min(l.Alpha, len(own)):] {
			l.do.Kill(*a)
		}
	}
}

// restartNow reports whether a task is killed and restarted while others wait: t_rem > E(t_new) + Δ, in seconds (MANTRI §5.1,
// pseudocode 1).
func restartNow(left, mean, delta float64) bool { return left > mean+delta }

// whileWaiting restarts and duplicates while tasks wait for slots.
func (l *mantriLook) whileWaiting() {
	v, p, rates := l.v, l.p, l.rates
	l.found = l.found[:0]
	running := v.Running()
	t := target{rates, v.Far(), v.Lag().Seconds(), l.delta}
	if p.wrapup != 0 {
		l.wakeAll()
	}
	l.lower(t)
	for i := range v.Awake() {
		a := &running[i]
		elapsed := v.Elapsed(a).Seconds()
		if elapsed < l.delta || v.Blocked(a) || l.sleepUnweighed(i, elapsed) {
			continue
		}
		left := l.remaining(a, elapsed)
		scale := rates.work(v, a) * t.far
		mean := rates.mean*scale + t.lag
		// of what may be duplicated at most two copies run
		if !restartNow(left, mean, l.delta) && (left*2/3-t.lag)/scale < rates.likely {
			l.sleep(i, elapsed, left)
			continue
		}
		c := float64(v.CopiesOf(a))
		switch {
		case l.Restart && c == 1 && restartNow(left, mean, l.delta) && p.restarted(v.Place(a)) < l.Gamma:
			l.found = append(l.found, mantriCase{left - mean, a.Task, int32(i), true})
		case l.Copy && (left*c/(c+1)-t.lag)/scale >= rates.likely && l.mayCopy(a):
			l.found = append(l.found, mantriCase{left - mean, a.Task, int32(i), false})
		}
	}
	if !p.all {
		p.weighed = append(p.weighed, weighing{v.Now(), l.delta})
	}
	l.inOrder()
	for _, c := range l.found {
		a := &running[c.at]
		if c.restart {
			p.restart(v.Place(a), v.Tasks())
			l.do.Restart(*a)
		} else {
			p.copy(v.Place(a), v.Now(), v.Tasks())
			p.queued = append(p.queued, queuedCopy{c.task, v.Place(a), v.Launched(c.task)})
			l.do.CopyFirst(c.task)
		}
	}
}

// whenIdle duplicates with slots that no task waits for.
func (l *mantriLook) whenIdle() {
	v, p, rates := l.v, l.p, l.rates
	free := v.Free()
	if !l.Copy || free == 0 {
		return
	}
	l.wakeAll()
	l.found = l.found[:0]
	running := v.Running()
	far, lag := v.Far(), v.Lag().Seconds()
	for i := range running {
		a := &running[i]
		elapsed := v.Elapsed(a).Seconds()
		if elapsed < l.delta || v.Blocked(a) || !l.mayCopy(a) {
			continue
		}
		left := l.remaining(a, elapsed)
		mean := rates.mean*(rates.work(v, a)*far) + lag
		if gain := left - mean; gain > l.Rho*l.delta {
			l.found = append(l.found, mantriCase{gain, a.Task, int32(i), false})
		}
	}
	l.inOrder()
	for _, c := range l.found[:min(free, len(l.found))] {
		p.copy(v.Place(&running[c.at]), v.Now(), v.Tasks())
		l.do.Copy(c.task)
	}
}

// mayCopy returns false for a task that was copied within Δ or has three copies, and for all but its fastest copy.
func (l *mantriLook) mayCopy(a *replay.Running) bool {
	v := l.v
	if v.CopiesOf(a) >= 3 {
		return false
	}
	last := l.p.copiedAt(v.Place(a))
	if last != never && (v.Now()-last).Seconds() < l.delta {
		return false
	}
	if v.CopiesOf(a) == 1 {
		return last == never || v.Launched(a.Task) > 0
	}
	mine := estimate(v, a)
	for b := range v.Attempts(a.Task) {
		if b.Number == a.Number {
			continue
		}
		if e := v.Elapsed(b).Seconds(); e < l.delta || estimate(v, b) < mine || estimate(v, b) == mine && b.Number < a.Number {
			return false
		}
	}
	return true
}
