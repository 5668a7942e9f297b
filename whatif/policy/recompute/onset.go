package recompute

// History is what is known of the machines' losses. Machines are numbered from 0.
type History struct {
	held, lost       []int // by machine
	allHeld, allLost int
}

func (h *History) grow(machine int) {
	for len(h.held) <= machine {
		h.held, h.lost = append(h.held, 0), append(h.lost, 0)
	}
}

// Held notes an output on a machine, Lost that one was lost.
func (h *History) Held(machine int) { h.grow(machine); h.held[machine]++; h.allHeld++ }
func (h *History) Lost(machine int) { h.grow(machine); h.lost[machine]++; h.allLost++ }

// Loss returns the probability that an output on a machine is lost: the share of those that were, over all that is known
// ("estimated for a machine over a long period of time", MANTRI §5.3); 0 for a machine that held nothing yet.
func (h *History) Loss(machine int) float64 {
	if machine >= len(h.held) || h.held[machine] == 0 {
		return 0
	}
	return min(float64(h.lost[machine])/float64(h.held[machine]), 1)
}

// Mean returns the same of an output on any machine.
func (h *History) Mean() float64 { return min(float64(h.allLost)/float64(max(h.allHeld, 1)), 1) }

// Onset takes losses on a machine as the onset of more: recomputations cluster by machine (MANTRI §4.2, figure 6).
type Onset struct {
	After  int     // recomputations within the time that it takes: 1, or 2 to be more often right (§6.5); 0 is 1
	Within float64 // seconds; 0: any time

	seen map[int][]float64
}

// Recomputed records a recomputation of an output of a machine, and reports whether the machine's other outputs should be
// recomputed now. Instants do not decrease.
func (o *Onset) Recomputed(machine int, at float64) bool {
	after := max(o.After, 1)
	if o.seen == nil {
		o.seen = map[int][]float64{}
	}
	times := append(o.seen[machine], at)
	times = times[max(len(times)-after, 0):]
	o.seen[machine] = times
	return len(times) == after && (o.Within <= 0 || at-times[0] <= o.Within)
}
