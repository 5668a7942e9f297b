package policy

import "straggler/whatif/replay"

// partRates are the mean rates of the parts of a reduce's progress, over the attempts that finished them (LATE §4.2).
type partRates struct {
	sum []float64 // of rates, in parts a second
	n   []float64
}

// phased is whether the attempts of a phase have parts with rates of their own.
func (l *late) phased(v *replay.View) bool { return l.Phases > 1 && v.Kind() == "reduce" }

// add takes the rates of an attempt that is done.
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

// mean is the mean rate of part k, 0 where none has finished it.
func (p *partRates) mean(k int) float64 {
	if p.sum == nil || p.n[k] == 0 {
		return 0
	}
	return p.sum[k] / p.n[k]
}

// timeLeft is what an attempt still needs: the rest of the part that it is in at its own rate there, and the others at
// the mean rates; plain where these are not known.
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

// PhasedTimeLeft is LATE's phase-aware estimate (§4.2): the part that the attempt is in is done to a share, and rates
// are those, in parts a second, of that part and of those after it. It is plain where one of them is not known.
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
