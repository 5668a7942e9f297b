package schedule

// Claim is the demand of a pool (or of a job in it) and its guarantee, in slots.
type Claim struct {
	Min, Demand int
}

// Shares divides slots by max-min fairness with minimum guarantees (FAIR §3.1 and appendix A): pools that want no more
// than they are guaranteed get what they want; the others get what they are guaranteed; what is left raises the
// lowest, evenly, until they have what they want or nothing is left. A slot is not divided: when the last ones do not go
// round, the first in order get one more. Where the guarantees exceed the slots, which the paper rules out, they are
// themselves met evenly from the lowest up.
//
// The shares are appended to to. They sum to the slots, or to the demands when these are fewer. In O(n log slots).
func Shares(slots int, claims []Claim, to []int) []int {
	at, guaranteed := len(to), 0
	for _, c := range claims {
		guaranteed += min(c.Min, c.Demand)
		to = append(to, 0)
	}
	fill(slots, claims, guaranteed > slots, to[at:])
	return to
}

// bucket returns what a claim has from the start, and what it takes at most. Where guarantees exceed the slots nothing is had
// from the start, and no more taken than is guaranteed.
func (c *Claim) bucket(short bool) (low, high int) {
	if short {
		return 0, min(c.Min, c.Demand)
	}
	return min(c.Min, c.Demand), c.Demand
}

// fill distributes slots, the lowest claim first: each claim ends at a common level, but not below its low or above its high
// bound.
func fill(slots int, claims []Claim, short bool, shares []int) {
	pour := func(level int) (left, rising, open int) {
		left = slots
		for i := range claims {
			low, high := claims[i].bucket(short)
			left -= max(low, min(level, high))
			if level < high {
				open++
				if low <= level {
					rising++
				}
			}
		}
		return left, rising, open
	}
	level := 0
	left, rising, open := pour(level)
	for open > 0 && left >= open { // no bucket rises faster than the level: so far it can go
		level += left / open
		left, rising, open = pour(level)
	}
	if rising <= left && open > 0 { // but not all rise yet
		over := slots + 1
		for over-level > 1 {
			mid := (level + over) / 2
			if left, _, _ := pour(mid); left >= 0 {
				level = mid
			} else {
				over = mid
			}
		}
		left, _, _ = pour(level)
	}
	for i := range claims {
		low, high := claims[i].bucket(short)
		shares[i] = max(low, min(level, high))
		if left > 0 && low <= level && level < high {
			shares[i]++
			left--
		}
	}
}
