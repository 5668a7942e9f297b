package causes

import (
	"math"

	"straggler/causes/stats"
	"straggler/schema"
)

// How sure a verdict is depends on its lead over the runner-up in units of their errors, z: the log odds of being right
// are sureAt0 + surePerLog·ln(1 + z). A verdict is right when its cause acted on the attempt, as on the labelled logs. The
// constants are the logistic fit to the verdicts on generated clusters of 25 kinds, each kind with the same weight; there
// verdicts with z under 0.5, around 1, 3 and 7 were right in 0.92, 0.95, 0.96 and 0.998 of the cases (TestScenarios,
// TestLabelled print such tables). modelError stands for what the model itself gets wrong, however exact its figures.
const (
	sureAt0    = 1.56
	surePerLog = 1.85
	sureMost   = 5.0  // log odds that are never exceeded: 1 in 150 is wrong for reasons unknown
	modelError = 0.08 // of the excess
)

// confidence is the probability that the verdict, the first of the lines, is right; NULL where it names no cause.
func confidence(lines []line, s *split) schema.Null[float64] {
	if lines[0].cause == schema.UnexplainedCause {
		return schema.Null[float64]{}
	}
	lead, v := lines[0].seconds, stats.Square(lines[0].sd)+stats.Square(modelError*s.excess)
	if len(lines) > 1 {
		lead -= max(0, lines[1].seconds)
		v += stats.Square(lines[1].sd)
	}
	if !(v > 0) {
		return schema.Null[float64]{}
	}
	odds := min(sureMost, sureAt0+surePerLog*math.Log1p(max(0, lead)/math.Sqrt(v)))
	sure := 1 / (1 + math.Exp(-odds))
	if lines[0].top == ofMachine || lines[0].top == ofResidual { // it may be the other
		sure *= 1 - s.alternativeProbability
	}
	if lines[0].top == ofResidual { // it may be no more than the scatter of the phase
		sure = min(sure, s.outlierProbability)
	}
	return schema.Some(sure)
}
