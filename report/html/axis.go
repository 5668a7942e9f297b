package html

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"straggler/report/prose"
)

type tickView struct{ X, Text, Anchor string }

// niceScale returns an axis from 0 to at least v in three to six steps of 1, 2 or 5 × a power of ten, or of round parts of
// minutes, hours and days where the values are that long.
func niceScale(v float64) (top, step float64) {
	unit := 1.0
	switch {
	case v >= 2*86400:
		unit = 86400
	case v >= 2*3600:
		unit = 3600
	case v >= 599.5:
		unit = 60
	}
	step = math.Pow(10, math.Floor(math.Log10(v/unit)))
	for _, m := range []float64{0.2, 0.5, 1, 2, 5} {
		if v/unit/(m*step) <= 5 {
			step *= m
			break
		}
	}
	step *= unit
	return step * math.Ceil(v/step-1e-9), step
}

// logTicks returns at least two round durations around 0 < low ≤ high, in seconds, for a logarithmic axis: the steps between them
// are factors of 6 to 24.
func logTicks(low, high float64) []float64 {
	round := []float64{10, 60, 600, 3600, 10 * 3600, 10 * 86400}
	for round[0] > low {
		round = slices.Insert(round, 0, round[0]/10)
	}
	for round[len(round)-1] < high {
		round = append(round, 10*round[len(round)-1])
	}
	for len(round) > 2 && round[1] <= low {
		round = round[1:]
	}
	for n := len(round); n > 2 && round[n-2] >= high; n-- {
		round = round[:n-1]
	}
	return round
}

// tick writes a round duration on an axis, without the zeros that a measured one keeps.
func tick(v float64) string {
	s := prose.Seconds(v)
	number, unit, _ := strings.Cut(s, prose.NBSP)
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + prose.NBSP + unit
}

// pct writes a position in percent; a hundredth is a tenth of a pixel on a wide screen.
func pct(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
