package stats

import "math"

// MADScale converts the median absolute deviation of a normal distribution to its standard deviation.
const MADScale = 1.4826

// HuberK is the number of standard deviations up to which a residual has full weight (Huber 1964; 95 % efficient on normal
// residuals).
const HuberK = 1.345

// HuberWeight returns the weight of a residual of z standard deviations: 1 up to HuberK, then falling as 1/z.
func HuberWeight(z float64) float64 {
	if z = math.Abs(z); z <= HuberK {
		return 1
	} else {
		return HuberK / z
	}
}

// HuberMean returns a robust mean of residuals of known standard deviation: one Huber step from the median. It reorders r.
func HuberMean(r []float64, sigma float64) float64 {
	m := Median(r)
	var w, wr float64
	for _, x := range r {
		h := HuberWeight((x - m) / sigma)
		w += h
		wr += h * x
	}
	return wr / w
}
