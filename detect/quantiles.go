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
		pivot := middle(values[0], values[len(values)/2], values[len(values)-1])
		if len(values) > 400 {
			step := len(values) / 9
			pivot = middle(middle(values[0], values[step], values[2*step]), middle(values[3*step], values[4*step], values[5*step]),
				middle(values[6*step], values[7*step], values[8*step]))
		}
		i, j := 0, len(values)-1
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		switch { // up to j no value is greater than the pivot, from i on none is smaller, and between them all are equal to it
		case k <= j:
			values = values[:j+1]
		case k >= i:
			values, k = values[i:], k-i
		default:
			return
		}
	}
	slices.Sort(values)
}

func middle(a, b, c float64) float64 { return max(min(a, b), min(max(a, b), c)) }
