package causes

import (
	"math"

	"straggler/causes/stats"
	"straggler/schema"
)

// How sure a verdict is depends on its lead over the runner-up in units of their errors, z: the log odds of being right
// are constant + slope·z. A verdict is right when its cause acted on the attempt, as on the labelled logs. The
// numbers are logistic regressions on the verdicts on six hundred drawn clusters, one for each way in which a verdict can be
// wrong; TestCalibration holds them against four hundred others.
var (
	sureOfMeasured = logistic{3.16, 0.468} // read off a figure of the task, or known of its machine
	sureOfWork     = logistic{1.67, 0.414} // by a coefficient, which may be that of something else
	sureOfResidual = logistic{0.28, 0.584} // what is left, wrong wherever a cause is not in the log
)

type logistic struct{ constant, slope float64 }

const mostLogOdds = 6.0 // never exceeded: 1 in 400 is wrong for reasons unknown

// confidence is the probability that the verdict, the first of the lines, is right; NULL where it names no cause.
func confidence(lines []line) schema.Null[float64] {
	if lines[0].cause == schema.UnexplainedCause {
		return schema.Null[float64]{}
	}
	z, ok := lead(lines)
	if !ok {
		return schema.Null[float64]{}
	}
	by := sureOfMeasured
	switch top := lines[0].top; {
	case top == ofResidual || top == ofCold || top == ofPause || top == ofLateLaunch || top == ofShortWait || top == ofShortDelay || top == ofShortConvert: // by what else happened, not by a figure of the task
		by = sureOfResidual
	case top <= ofFirst:
		by = sureOfWork
	}
	odds := min(mostLogOdds, by.constant+by.slope*z)
	return schema.Some(1 / (1 + math.Exp(-odds)))
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
