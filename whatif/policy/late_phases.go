package policy

import "straggler/whatif/replay"

// partRates are the mean rates of the parts of a reduce's progress, over the attempts that finished them (LATE §4.2).
type partRates struct {
	sum []float64 // of rates, in parts a second
	n   []float64
}

// phased reports whether the attempts of a phase have parts with rates of their own.
func (l *late) phased(v *replay.View) bool { return l.Phases > 1 && v.Kind() == "reduce" }

// add adds the rates of a finished attempt.
func (p *partRates) add(v *replay.View, d *replay.Done, parts int) {
	if p.sum == nil {
		p.sum, p.n = make([]float64, parts), make([]float64, parts)
	}
	from := replay.Time(0)
	for k := range parts {
		till := v.Spent(d, float64(k+1)/float64(parts))
		if till > from {
			p.sum[k] += 1 / (till - from).Seconds()
			p.n[k]++
		}
		from = till
	}
}

// mean returns the mean rate of part k, or 0 if no attempt has finished it.
func (p *partRates) mean(k int) float64 {
	if p.sum == nil || p.n[k] == 0 {
		return 0
	}
	return p.sum[k] / p.n[k]
}

// timeLeft returns the time that an attempt still needs: the rest of its present part at its own rate there, and later parts at
// the mean rates, or plain if these are unknown.
func (p *partRates) timeLeft(v *replay.View, a *replay.Running, parts int, plain float64) float64 {
	score := v.Progress(a)
	k := min(int(score*float64(parts)+1e-9), parts-1)
	began := replay.Time(0)
	if k > 0 {
		began, _ = v.Reached(a, float64(k)/float64(parts))
	}
	done := score*float64(parts) - float64(k) // of part k
	var rates []float64
	for j := k; j < parts; j++ {
		rates = append(rates, p.mean(j))
	}
	if spent := (v.Elapsed(a) - began).Seconds(); done > 1e-6 && spent > 0 {
		rates[0] = done / spent
	}
	return PhasedTimeLeft(done, rates, plain)
}

// PhasedTimeLeft returns LATE's phase-aware estimate (§4.2). done is the share of the present part that is done; rates are those
// of that part and the later ones, in parts a second. If one of them is unknown, it returns plain.
func PhasedTimeLeft(done float64, rates []float64, plain float64) float64 {
	left, rest := 0.0, 1-done
	for _, r := range rates {
		if r <= 0 {
			return plain
		}
		left += rest / r
		rest = 1
	}
	return left
}
