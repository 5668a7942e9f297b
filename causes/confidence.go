package causes

import (
	"math"

	"straggler/causes/stats"
	"straggler/schema"
)

// How sure a verdict is depends on what it rests on, on its lead over the runner-up in units of their errors, z, and on whether the log
// measures work: the log odds of being right are constant + slope·ln(1+z), and unmeasured where it does not. A verdict is right when its
// cause acted on the attempt, as on the labelled logs. The numbers are logistic regressions on the verdicts on drawn clusters of
// many kinds (TestReliability prints them): six hundred mixtures count for three fifths, and fourteen families for the rest, each
// alike, since nothing in a log says of which kind its cluster is. TestCalibration holds them against other mixtures, and
// TestReliability against each family by what the others give.
var sureness = [...]logistic{
	onFigure:      {2.04, 3.69, 0},
	onCoefficient: {2.07, 1.85, -2.31},
	onResidual:    {1.09, 1.66, 0.64},
}

// reading is what a verdict rests on: each can be wrong in its own way.
type reading int

const (
	onFigure      reading = iota // a measured figure of the task
	onCoefficient                // a coefficient, which may be that of something else
	onResidual                   // the residual, which is its machine's or its own, or what happened elsewhere meanwhile: wrong wherever a cause is not in the log
)

func readingOf(top term) reading {
	switch {
	case top == ofMachine || top == ofResidual || top == ofCold || top == ofPause || top == ofLateLaunch || top == ofShortWait || top == ofShortDelay || top == ofShortConvert:
		return onResidual
	case top <= ofFirst:
		return onCoefficient
	}
	return onFigure
}

type logistic struct{ constant, slope, unmeasured float64 }

const mostLogOdds = 6.0 // never exceeded: 1 in 400 is wrong for reasons unknown

func (l logistic) probability(z float64, workMeasured bool) float64 {
	odds := l.constant + l.slope*math.Log1p(z)
	if !workMeasured {
		odds += l.unmeasured
	}
	return 1 / (1 + math.Exp(-min(mostLogOdds, odds)))
}

// confidence is the probability that the verdict, the first of the lines, is right; NULL where it names no cause.
func confidence(lines []line, workMeasured bool) schema.Null[float64] {
	z, ok := lead(lines)
	if !ok || lines[0].cause == schema.UnexplainedCause {
		return schema.Null[float64]{}
	}
	return schema.Some(sureness[readingOf(lines[0].top)].probability(z, workMeasured))
}

// lead is the lead of the first line over the second in standard deviations of their difference; ok is false where that has no error.
func lead(lines []line) (z float64, ok bool) {
	seconds, errors, v := lines[0].seconds, lines[0].errors, stats.Square(lines[0].model)
	if len(lines) > 1 && lines[1].seconds > 0 {
		seconds -= lines[1].seconds
		errors.add(&lines[1].errors, -1)
		v += stats.Square(lines[1].model)
	}
	v += errors.variance()
	return max(0, seconds) / math.Sqrt(v), v > 0
}
