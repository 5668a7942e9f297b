package detect

import (
	"math"

	"straggler/schema"
	"straggler/stats"
)

// quantiles computes SQL's percentile_cont, which is linear between two ranks, for fractions in ascending order. The values are
// reordered, but not sorted: each rank, the greatest first, is selected from the range of values that can contain it, and the
// next one is the least of those after it. NaN is the greatest value, as in SQL.
func quantiles(values []float64, fractions []float64, out []schema.Null[float64]) {
	if len(values) == 0 {
		clear(out)
		return
	}
	end := nansLast(values) // from here on, all ranks still to be found are where sorting would put them
	for i := len(fractions) - 1; i >= 0; i-- {
		k, part := rankOf(fractions[i], len(values))
		if k < end {
			stats.Select(values[:end], k)
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

// rankOf returns the rank below a quantile of n values, and the fraction of the way to the next. Products are rounded before
// they are added to or subtracted from, also on machines that could fuse the operations.
func rankOf(fraction float64, n int) (rank int, part float64) {
	at := float64(fraction * float64(n-1))
	below := math.Floor(at)
	return int(below), at - below
}

// interpolated returns the value at a fraction of the way from a rank to the next; values are sorted as far as these two go.
func interpolated(values []float64, rank int, part float64) float64 {
	v := values[rank]
	if part > 0 {
		v = float64(v*(1-part)) + float64(values[rank+1]*part)
	}
	return v
}

// quantileOf returns a quantile of values in ascending order.
func quantileOf(sorted []float64, fraction float64) float64 {
	rank, part := rankOf(fraction, len(sorted))
	return interpolated(sorted, rank, part)
}

// nansLast moves NaNs behind the other values and returns the number of the latter.
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

// median returns the quantile of 0.5.
func median(values []float64) schema.Null[float64] {
	var out [1]schema.Null[float64]
	quantiles(values, []float64{0.5}, out[:])
	return out[0]
}

// inserted inserts a value into some in ascending order. As there are few, this is faster than a binary search.
func inserted(sorted []float64, v float64) []float64 {
	sorted = append(sorted, v)
	i := len(sorted) - 1
	for ; i > 0 && exceeds(sorted[i-1], v); i-- {
		sorted[i] = sorted[i-1]
	}
	sorted[i] = v
	return sorted
}
