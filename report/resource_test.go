package report

import (
	"math"
	"math/rand/v2"
	"testing"

	"straggler/schema"
)

// The time of a run's slow stages is attributed to what it correlates with, whatever the sizes of the stages are, and to
// nothing if it correlates with both.
func TestResources(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 7))
	for _, c := range []struct {
		want string
		rest func(cpu, bytes float64) (more, waited, computed float64)
	}{
		{atProcessor, func(cpu, _ float64) (float64, float64, float64) { return 9 * cpu, 0, 0.1 * cpu }},
		{atDisk, func(_, bytes float64) (float64, float64, float64) { return bytes / 5e6, 0, 0 }},
		{forInput, func(cpu, _ float64) (float64, float64, float64) { return 3 * cpu, 2.5 * cpu, 0 }},
		{forWork, func(cpu, _ float64) (float64, float64, float64) { return cpu, 0, 0.9 * cpu }},
		{"", func(_, _ float64) (float64, float64, float64) { return math.Exp(3 * r.NormFloat64()), 0, 0 }},
	} {
		var all resources
		for range 10 {
			cpu, bytes := math.Exp(1.5*r.NormFloat64()), 20e6*math.Exp(1.5*r.NormFloat64())
			more, waited, computed := c.rest(cpu, bytes)
			noise := math.Exp(0.3 * r.NormFloat64())
			all.add(&SlowStageRow{Tasks: 10, UsualS: 2 * cpu, MedianS: 2*cpu + more*noise, UsualCPUS: schema.Some(cpu), CPUS: schema.Some(cpu + computed*noise),
				UsualWaitS: schema.Some(1.0), WaitS: schema.Some(1 + waited*noise), UsualBytes: schema.Some(bytes)})
		}
		if got := all.most(); got.V != c.want || got.OK != (c.want != "") {
			t.Errorf("%q, want %q: %+v", got.V, c.want, all)
		}
	}
}
