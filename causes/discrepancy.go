package causes

import "straggler/schema"

// Discrepancy is what the model itself gets wrong, however exact its figures: a standard deviation of each cause's seconds, as
// a share of the excess, beside the errors of the estimates (MODEL.md, section 8; Kennedy and O'Hagan 2001). Its shares are
// estimated from generated clusters with known seconds, so that 95 % of the intervals hold them, and TestCoverage holds them
// against other clusters. Where nothing but processor time measures work, or nothing at all, they are larger.
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

// discrepancyOf is that of a cause of a task's excess, in seconds.
func (s *split) discrepancyOf(c schema.Cause) float64 {
	if s.workMeasured {
		return discrepancy[c].measured * s.excess
	}
	return discrepancy[c].unmeasured * s.excess
}
