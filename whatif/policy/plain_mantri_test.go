package policy_test

import (
	"cmp"
	"math"
	"slices"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
)

// plainMantri returns Mantri (MANTRI §5.1, §5.4, §5.5; the rules stand above policy.Mantri) that weighs every attempt at every
// look.
func plainMantri(m policy.Mantri) replay.Policy {
	phases := map[int]*plainPhase{}
	return plainly(func(v *replay.View, do *replay.Actions) replay.Again {
		p := phases[v.Phase()]
		if p == nil {
			phases[v.Phase()] = &plainPhase{Mantri: m, restarts: map[int32]int{}, copied: map[int32]replay.Time{}, reports: map[plainAttempt]plainReport{}}
			if m.Longest {
				do.LongestFirst()
			}
			return v.In(replay.Second)
		}
		p.v, p.do = v, do
		if !p.period() {
			return v.In(replay.Second)
		}
		if p.rates(); len(p.pace) > 0 {
			p.withdraw()
			p.prune()
			if v.Waiting() > 0 {
				p.whileWaiting()
			} else if p.Copy && v.Free() > 0 {
				p.whenIdle()
			}
		}
		return v.In(replay.Seconds(p.delta))
	})
}

// plainPhase is what Mantri remembers of a phase: at each look only what the rules speak of.
type plainPhase struct {
	policy.Mantri
	v        *replay.View
	do       *replay.Actions
	life     float64 // of a task, s
	delta    float64 // Δ, s
	pace     []float64
	mean     float64
	bytes    bool // the pace is that of a byte
	restarts map[int32]int
	copied   map[int32]replay.Time // when a task was duplicated last
	queued   map[int32]int         // duplicates that were asked for at the last look, with how many had been launched
	reports  map[plainAttempt]plainReport
}

type plainAttempt struct {
	task, number int32
	start        replay.Time
}

// plainReport is what an attempt was estimated to need when it reported last.
type plainReport struct{ left, score float64 }

func (p *plainPhase) elapsed(a *replay.Running) float64 { return p.v.Elapsed(a).Seconds() }

// period returns Δ = min(10 s, a tenth of a task's life); false where nothing tells how long a task lives.
func (p *plainPhase) period() bool {
	if d := took(p.v); len(d) > 0 {
		p.life = (d[(len(d)-1)/2] + d[len(d)/2]) / 2
	} else if p.life == 0 {
		for _, a := range p.v.Running() {
			if score := p.v.Progress(&a); score > 0 {
				d = append(d, p.elapsed(&a)/score)
			}
		}
		if len(d) == 0 {
			return false
		}
		slices.Sort(d)
		p.life = (d[(len(d)-1)/2] + d[len(d)/2]) / 2
	}
	p.delta = max(min(p.Report, p.life/10), 1e-3)
	return true
}

// rates are the seconds a byte, or a task, of the finished attempts, and of the running ones until five have finished.
func (p *plainPhase) rates() {
	var took, rates []float64
	known, few := true, len(p.v.Done()) < 5
	add := func(seconds float64, bytes int64) {
		took = append(took, seconds)
		if bytes > 0 {
			rates = append(rates, seconds/float64(bytes))
		} else {
			known = false
		}
	}
	for _, d := range p.v.Done() {
		add(d.Took.Seconds(), p.v.InputOf(&d))
	}
	for _, a := range p.v.Running() {
		if score := p.v.Progress(&a); few && p.elapsed(&a) >= p.delta && score > 0 && !p.v.Blocked(&a) {
			add(p.elapsed(&a)/score, p.v.Bytes(a.Task))
		}
	}
	p.pace, p.bytes = took, false
	if known && len(rates) > 0 && plainSpread(rates) <= plainSpread(took) {
		p.pace, p.bytes = rates, true
	}
	p.mean = 0
	for _, x := range p.pace {
		p.mean += x
	}
	p.mean /= float64(len(p.pace))
	p.pace = slices.Sorted(slices.Values(p.pace))
}

// plainSpread returns the ratio of the quartiles.
func plainSpread(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	if len(sorted) < 2 {
		return 1
	}
	if percentile(sorted, 0.25) <= 0 {
		return math.Inf(1)
	}
	return percentile(sorted, 0.75) / percentile(sorted, 0.25)
}

// withdraw takes back the duplicates that got no slot since the last look.
func (p *plainPhase) withdraw() {
	for t := range int32(p.v.Tasks()) {
		if launched, ok := p.queued[t]; ok && p.v.Launched(t) == launched && !p.v.Finished(t) {
			p.do.Withdraw(t)
			delete(p.copied, t)
		}
	}
	p.queued = map[int32]int{}
}

// prune kills all but the α fastest of the copies of a task that have run for Δ.
func (p *plainPhase) prune() {
	for t := range int32(p.v.Tasks()) {
		if p.v.Copies(t) <= p.Alpha {
			continue
		}
		own := slices.DeleteFunc(p.attempts(t), func(a replay.Running) bool { return p.elapsed(&a) < p.delta })
		slices.SortFunc(own, func(a, b replay.Running) int {
			return cmp.Or(cmp.Compare(p.estimate(&a), p.estimate(&b)), cmp.Compare(a.Number, b.Number))
		})
		for n := p.Alpha; n < len(own); n++ {
			p.do.Kill(own[n])
		}
	}
}

func (p *plainPhase) attempts(task int32) (out []replay.Running) {
	for _, a := range p.v.Running() {
		if a.Task == task {
			out = append(out, a)
		}
	}
	return out
}

func (p *plainPhase) estimate(a *replay.Running) float64 {
	return policy.TimeLeft(p.v.Progress(a), p.elapsed(a))
}

// remaining returns t_rem, of equation 2 and averaged with the last report.
func (p *plainPhase) remaining(a *replay.Running) float64 {
	score := p.v.Progress(a)
	if score <= 0 {
		return math.Inf(1)
	}
	left := p.elapsed(a)/score - p.elapsed(a)
	if done := p.v.Done(); len(done) > 0 {
		wrapup := 0.0
		for _, d := range done {
			wrapup += (d.Took - p.v.Spent(&d, 1)).Seconds()
		}
		left += wrapup / float64(len(done))
	}
	key := plainAttempt{a.Task, a.Number, a.Start}
	if before := p.reports[key]; before.left > 0 && score > before.score {
		left = (left + max(before.left-p.delta, 0)) / 2
	}
	p.reports[key] = plainReport{left, score}
	return left
}

// scale returns what turns a pace into how long a copy of an attempt takes, without the lag of its start.
func (p *plainPhase) scale(a *replay.Running) float64 {
	if b := p.v.Input(a); p.bytes && b > 0 {
		return float64(b) * p.v.Far()
	}
	return p.v.Far()
}

// plainCase is an attempt that is restarted or duplicated, and what that gains.
type plainCase struct {
	gain    float64
	attempt replay.Running
	restart bool
}

func mostGain(found []plainCase) []plainCase {
	slices.SortFunc(found, func(a, b plainCase) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.attempt.Task, b.attempt.Task))
	})
	return found
}

func (p *plainPhase) whileWaiting() {
	var found []plainCase
	lag := p.v.Lag().Seconds()
	// t_new exceeds what this gives with probability 1 − δ
	likely := p.pace[min(int(p.Delta*float64(len(p.pace))), len(p.pace)-1)]
	for _, a := range p.v.Running() {
		if p.elapsed(&a) < p.delta || p.v.Blocked(&a) {
			continue
		}
		left, mean, c := p.remaining(&a), p.mean*p.scale(&a)+lag, float64(p.v.Copies(a.Task))
		if p.Restart && c == 1 && left > mean+p.delta && p.restarts[a.Task] < p.Gamma {
			found = append(found, plainCase{left - mean, a, true})
		} else if p.Copy && (left*c/(c+1)-lag)/p.scale(&a) >= likely && p.mayCopy(&a) {
			found = append(found, plainCase{left - mean, a, false})
		}
	}
	for _, c := range mostGain(found) {
		t := c.attempt.Task
		if c.restart {
			p.restarts[t]++
			p.do.Restart(c.attempt)
		} else {
			p.copied[t], p.queued[t] = p.v.Now(), p.v.Launched(t)
			p.do.CopyFirst(t)
		}
	}
}

func (p *plainPhase) whenIdle() {
	var found []plainCase
	for _, a := range p.v.Running() {
		if p.elapsed(&a) < p.delta || p.v.Blocked(&a) || !p.mayCopy(&a) {
			continue
		}
		if gain := p.remaining(&a) - (p.mean*p.scale(&a) + p.v.Lag().Seconds()); gain > p.Rho*p.delta {
			found = append(found, plainCase{gain, a, false})
		}
	}
	for _, c := range mostGain(found)[:min(p.v.Free(), len(found))] {
		p.copied[c.attempt.Task] = p.v.Now()
		p.do.Copy(c.attempt.Task)
	}
}

// mayCopy reports whether a task was not duplicated within Δ and runs fewer than three copies, of which the attempt is the
// fastest.
func (p *plainPhase) mayCopy(a *replay.Running) bool {
	last, copied := p.copied[a.Task]
	n := p.v.Copies(a.Task)
	if n >= 3 || copied && (p.v.Now()-last).Seconds() < p.delta || n == 1 && copied && p.v.Launched(a.Task) == 0 {
		return false
	}
	for _, b := range p.attempts(a.Task) {
		if b.Number != a.Number && (p.elapsed(&b) < p.delta || cmp.Or(cmp.Compare(p.estimate(&b), p.estimate(a)), cmp.Compare(b.Number, a.Number)) < 0) {
			return false
		}
	}
	return true
}
