package causes

import "math"

// How sure a verdict is depends on its lead over the runner-up in units of their errors. The logistic curve's constants
// were fitted on generated clusters with all faults mixed and on labelled runs of a real one, see TestLabelled's table
// of calibration; the floor on the error stands for what the model itself gets wrong.
const (
	sureAtNothing = 0.7  // log odds of a verdict with no lead
	surePerSD     = 1.2  // and for each standard deviation of lead
	sureMost      = 4.6  // log odds that are never exceeded: one in a hundred is wrong for reasons unknown
	modelError    = 0.08 // of the excess
)

// confidence is the probability that the verdict, the first of the lines, is right.
func confidence(lines []line, excess float64) float64 {
	lead, v := lines[0].seconds, sq(lines[0].sd)+sq(modelError*excess)
	if len(lines) > 1 {
		lead -= max(0, lines[1].seconds)
		v += sq(lines[1].sd)
	}
	if v == 0 {
		return 0.5
	}
	odds := min(sureMost, sureAtNothing+surePerSD*lead/math.Sqrt(v))
	return 1 / (1 + math.Exp(-odds))
}

func sq(x float64) float64 { return x * x }
