package causes

import "straggler/schema"

// The model discrepancy is the error that remains when all parameters are known exactly (MODEL.md, section 8; Kennedy and
// O'Hagan 2001): a standard deviation for the seconds of each cause, as a share of the excess, in addition to the errors of the
// estimates. The shares are estimated from synthetic clusters with known seconds such that 95 % of the intervals contain the
// truth, and TestCoverage checks them on other clusters. They are larger where only processor time measures work, or nothing
// does.
var discrepancy = map[schema.Cause]struct{ measured, unmeasured float64 }{
	schema.DataSkew:         {0.050, 0.17},
	schema.Network:          {0.045, 0.045},
	schema.BadMachine:       {0.062, 0.19},
	schema.GC:               {0.082, 0.082},
	schema.Spill:            {0.120, 0.17},
	schema.Scheduler:        {0.015, 0.05},
	schema.Deserialize:      {0.050, 0.050},
	schema.LocalityMiss:     {0.160, 0.16},
	schema.Transient:        {0.180, 0.50},
	schema.Startup:          {0.125, 0.13},
	schema.UnexplainedCause: {0.500, 0.50},
}

// discrepancyOf returns the discrepancy of one cause of a task's excess, in seconds.
func (s *split) discrepancyOf(c schema.Cause) float64 {
	if s.workMeasured {
		return discrepancy[c].measured * s.excess
	}
	return discrepancy[c].unmeasured * s.excess
}
