package published

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// moments returns the mean and the standard deviation of a sample.
func moments(v []float64) (mean, sd float64) {
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	for _, x := range v {
		sd += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sd / float64(max(len(v)-1, 1)))
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// mid returns the middle of the range of some values.
func mid(v []float64) float64 { return (slices.Min(v) + slices.Max(v)) / 2 }

// rangeOf returns the least and the greatest of some values as text, each with the given format.
func rangeOf(format string, v []float64) string {
	low, high := fmt.Sprintf(format, slices.Min(v)), fmt.Sprintf(format, slices.Max(v))
	if low == high {
		return low
	}
	return low + " to " + high
}

// listed returns values as text, with two decimals; an unknown one is a dash.
func listed(v []float64) string {
	text := make([]string, len(v))
	for n, x := range v {
		if text[n] = fmt.Sprintf("%.2f", x); math.IsNaN(x) {
			text[n] = "–"
		}
	}
	return strings.Join(text, ", ")
}

// weighted is a value with its weight.
type weighted struct{ x, w float64 }

// percentile returns the weighted q-quantile.
func percentile(v []weighted, q float64) float64 {
	v = slices.Clone(v)
	slices.SortFunc(v, func(a, b weighted) int { return cmp.Compare(a.x, b.x) })
	total := 0.0
	for _, x := range v {
		total += x.w
	}
	sum := 0.0
	for _, x := range v {
		if sum += x.w; sum >= q*total {
			return x.x
		}
	}
	return math.NaN()
}

// mean returns the unweighted average.
func mean(v []weighted) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x.x
	}
	return sum / float64(len(v))
}

// shareAtMost returns the weighted share of values of at most the given one.
func shareAtMost(v []weighted, most float64) float64 {
	part, all := 0.0, 0.0
	for _, x := range v {
		all += x.w
		if x.x <= most {
			part += x.w
		}
	}
	return part / all
}
