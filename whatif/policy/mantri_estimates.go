package policy

import (
	"math"

	"straggler/whatif/replay"
)

// data returns the input of a task, or 1 if the log does not say.
func data(v *replay.View, task int32) float64 {
	if b := v.Bytes(task); b > 0 {
		return float64(b)
	}
	return 1
}

// paces are the seconds that attempts took for a unit of work, and whether that is a byte or a task.
type paces struct {
	mean, likely float64 // likely: what they exceed with more than δ
	bytes        bool
}

// work returns the units of work of an attempt: the d of MANTRI §5.1.
func (p paces) work(v *replay.View, a *replay.Running) float64 {
	if b := v.Input(a); p.bytes && b > 0 {
		return float64(b)
	}
	return 1
}

// lessSpread returns, of the durations and the rates of the same attempts, the one that is less spread out. There must be attempts.
func (m *mantri) lessSpread(took, rates *sample, known bool) paces {
	bytes := known && rates.n() > 0 && rates.n() == took.n() && !rates.spreadOver(took.spread())
	if bytes {
		took = rates
	}
	return paces{took.mean(), took.at(min(int(m.Delta*float64(took.n())), took.n()-1)), bytes}
}

// period returns Δ: ten seconds, or a tenth of the median task as far as it is known; until one has finished, of what the
// first reports let expect.
func (l *mantriLook) period() float64 {
	v, p, seen := l.v, l.p, &l.estimated
	switch {
	case p.took.n() > p.known:
		p.life, p.known = p.took.median(), p.took.n()
	case p.life == 0:
		seen.reset()
		running := v.Running()
		for i := range running {
			if score := v.Progress(&running[i]); score > 0 {
				seen.add(v.Elapsed(&running[i]).Seconds() / score)
			}
		}
		if seen.n() == 0 {
			return 0
		}
		p.life = seen.median()
	}
	return max(min(l.Report, p.life/10), 1e-3)
}

// takeRates sets the rates to those of the finished attempts; until five have finished, running ones that have reported count too.
// It returns false if there are none.
func (l *mantriLook) takeRates() bool {
	v, p := l.v, l.p
	if n := p.took.n(); n >= 5 {
		if n > p.paced {
			p.paces, p.paced = l.lessSpread(&p.took, &p.rates, !p.unknown), n
		}
		l.rates = p.paces
		return true
	}
	took, rates, known := &l.estimated, &l.estimatedPerByte, !p.unknown
	took.reset()
	rates.reset()
	for _, d := range v.Done() {
		took.add(d.Took.Seconds())
		rates.add(d.Took.Seconds() / data(v, d.Task))
	}
	running := v.Running()
	for i := range running {
		a := &running[i]
		elapsed, score := v.Elapsed(a).Seconds(), v.Progress(a)
		if elapsed >= l.delta && score > 0 && !v.Blocked(a) {
			took.add(elapsed / score)
			rates.add(elapsed / score / data(v, a.Task))
			known = known && v.Bytes(a.Task) > 0
		}
	}
	if took.n() == 0 {
		return false
	}
	l.rates = l.lessSpread(took, rates, known)
	return true
}

// remaining returns t_rem in seconds (MANTRI equation 2), averaged with what it was estimated to be at the last report (§5.5).
func (l *mantriLook) remaining(a *replay.Running, elapsed float64) float64 {
	score := l.v.Progress(a)
	if score <= 0 {
		return math.Inf(1)
	}
	left := elapsed/score - elapsed
	if n := l.p.took.n(); n > 0 {
		left += l.p.wrapup / float64(n)
	}
	return averaged(a, left, score, l.delta)
}

// averaged returns the running average of the time left of an attempt, updated with a report.
func averaged(a *replay.Running, left, score, delta float64) float64 {
	if before := a.Note; before > 0 && score > a.Last {
		left = (left + max(before-delta, 0)) / 2
	}
	a.Note, a.Last = left, score
	return left
}

// estimate returns the time left of an attempt by its last report alone, in seconds.
func estimate(v *replay.View, a *replay.Running) float64 {
	return TimeLeft(v.Progress(a), v.Elapsed(a).Seconds())
}
