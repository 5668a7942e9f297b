package schedule

// Claim is what a pool (or a job in it) asks for and is guaranteed, in slots.
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
	if guaranteed > slots {
		fill(slots, claims, func(c Claim) (low, high int) { return 0, min(c.Min, c.Demand) }, to[at:])
	} else {
		fill(slots, claims, func(c Claim) (low, high int) { return min(c.Min, c.Demand), c.Demand }, to[at:])
	}
	return to
}

// fill pours slots into buckets that are full at high and hold low from the start, the lowest first: each ends at the
// common level, but not under its low nor over its high.
func fill(slots int, claims []Claim, bucket func(Claim) (low, high int), shares []int) {
	poured := func(level int) int {
		sum := 0
		for _, c := range claims {
			low, high := bucket(c)
			sum += max(low, min(level, high))
		}
		return sum
	}
	level, over := 0, 1 // the level is in between
	for over <= slots && poured(over) <= slots {
		level, over = over, 2*over
	}
	for over = min(over, slots+1); over-level > 1; {
		if mid := (level + over) / 2; poured(mid) <= slots {
			level = mid
		} else {
			over = mid
		}
	}
	left := slots - poured(level)
	for i, c := range claims {
		low, high := bucket(c)
		shares[i] = max(low, min(level, high))
		if left > 0 && low <= level && level < high {
			shares[i]++
			left--
		}
	}
}
