package detect

import (
	"math"
	"math/bits"
	"slices"

	"straggler/schema"
)

// quantiles are SQL's percentile_cont of some fractions, in ascending order: between two ranks it is linear. The values are put into
// another order, and not sorted: each rank, the greatest first, is found by dividing the values that it can be among in two, again and again
// (Hoare 1961), and the one after it is the least of those behind it. NaN is the greatest value, as in SQL.
func quantiles(values []float64, fractions []float64, out []schema.Null[float64]) {
	if len(values) == 0 {
		clear(out)
		return
	}
	end := nansLast(values) // from here on all ranks that are still asked for are where sorting would put them
	for i := len(fractions) - 1; i >= 0; i-- {
		k, part := rankOf(fractions[i], len(values))
		if k < end {
			selectRank(values[:end], k)
			if next := values[k+1 : end]; part > 0 && len(next) > 0 {
				least := 0
				for j, v := range next {
					if v < next[least] {
						least = j
					}
				}
				next[0], next[least] = next[least], next[0]
			}
			end = k
		}
		out[i] = schema.Some(interpolated(values, k, part))
	}
}

// rankOf is the rank below a quantile of n values, and how far it is from there to the next. Products are rounded before they are added to or
// subtracted from, also on machines that need not.
func rankOf(fraction float64, n int) (rank int, part float64) {
	at := float64(fraction * float64(n-1))
	below := math.Floor(at)
	return int(below), at - below
}

// interpolated is the value at a part of the way from a rank to the next; values are in order as far as these two go.
func interpolated(values []float64, rank int, part float64) float64 {
	v := values[rank]
	if part > 0 {
		v = float64(v*(1-part)) + float64(values[rank+1]*part)
	}
	return v
}

// quantileOf is a quantile of values in ascending order.
func quantileOf(sorted []float64, fraction float64) float64 {
	rank, part := rankOf(fraction, len(sorted))
	return interpolated(sorted, rank, part)
}

// nansLast puts values that are no numbers behind the others and says how many numbers there are.
func nansLast(values []float64) int {
	n := len(values)
	for i := 0; i < n; {
		if math.IsNaN(values[i]) {
			n--
			values[i], values[n] = values[n], values[i]
		} else {
			i++
		}
	}
	return n
}

// median is the quantile of 0.5.
func median(values []float64) schema.Null[float64] {
	var out [1]schema.Null[float64]
	quantiles(values, []float64{0.5}, out[:])
	return out[0]
}

// fewValues are sorted: dividing them costs more.
const fewValues = 12

// selectRank puts the value of rank k where sorting would put it, none that is greater before it and none that is smaller behind it.
func selectRank(values []float64, k int) {
	tries := 4 * bits.Len(uint(len(values))) // twice as many divisions as it usually takes, four times as many in bad luck
	for len(values) > fewValues {
		if tries--; tries < 0 {
			break
		}
		at := pivotOf(values)
		pivot := values[at]
		values[at], values[0] = values[0], pivot
		smaller := divide(values[1:], pivot)
		values[0], values[smaller] = values[smaller], pivot
		switch {
		case k == smaller:
			return
		case k < smaller:
			values = values[:smaller]
			continue
		}
		few := smaller < len(values)/8
		values, k = values[smaller+1:], k-smaller-1
		if few { // many may be equal to the pivot, and would be divided from the others one by one
			equal := equalFirst(values, pivot)
			if k < equal {
				return
			}
			values, k = values[equal:], k-equal
		}
	}
	slices.Sort(values)
}

// divide puts the values that are smaller than a pivot before the others, and gives their number. It does the same with each value, whatever
// it is (Lomuto's scheme), since a processor cannot foresee how a comparison ends: that takes less than half the time of Hoare's.
func divide(values []float64, pivot float64) int {
	smaller := 0
	for i, v := range values {
		step := 0
		if v < pivot {
			step = 1
		}
		values[i] = values[smaller]
		values[smaller] = v
		smaller += step
	}
	return smaller
}

// equalFirst puts the values that are equal to a pivot before the others, and gives their number.
func equalFirst(values []float64, pivot float64) int {
	equal := 0
	for i, v := range values {
		if v == pivot {
			values[i], values[equal] = values[equal], v
			equal++
		}
	}
	return equal
}

// pivotOf is where a value lies that is near the middle of all: the median of three, or of three such medians.
func pivotOf(values []float64) int {
	last := len(values) - 1
	if last < 100 {
		return middle(values, 0, last/2, last)
	}
	step := last / 8
	return middle(values, middle(values, 0, step, 2*step), middle(values, 3*step, 4*step, 5*step), middle(values, 6*step, 7*step, 8*step))
}

// middle is where the median of three values lies.
func middle(values []float64, i, j, k int) int {
	a, b, c := values[i], values[j], values[k]
	switch {
	case a <= b && b <= c || c <= b && b <= a:
		return j
	case b <= a && a <= c || c <= a && a <= b:
		return i
	}
	return k
}
