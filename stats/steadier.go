package stats

import "math"

// Steadier returns which of two samples scatters less: 1 the first, 2 the second, 0 if that cannot be decided. They are natural
// logarithms of two ratios, taken of the same things, of which one follows what is common to these things and so is steady:
// within a factor of e, and its variance 150 times as likely as the other's, by the likelihood ratio of two normal samples with
// means and variances of their own, n·ln(sd/sd) > 5. Of fewer than three the ratios are often alike by chance; more than ten
// count as ten.
func Steadier(a, b []float64) int {
	const fewest, most, steady, clear = 3, 10, 1, 5
	n := float64(min(len(a), most))
	if n < fewest {
		return 0
	}
	switch x, y := deviation(a), deviation(b); {
	case x < steady && n*math.Log(y/x) > clear:
		return 1
	case y < steady && n*math.Log(x/y) > clear:
		return 2
	}
	return 0
}

// deviation returns the standard deviation of a sample of logarithms, at least 1 %: the clocks of logs are not more precise.
func deviation(v []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		sum += (x - mean) * (x - mean) / float64(len(v))
	}
	return max(0.01, math.Sqrt(sum))
}
