package published

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Phases of the solved scales have the coefficients of variation of data size of MANTRI §4.2, 0.34 and 3.1 at the 50th and 90th
// percentiles. In all scales a phase takes Table 1's 27.3 h of computing on average, and more than 15 % of the tasks take over
// 1.5 times the median in a quarter of the phases, or somewhat fewer (figure 2(a)).
func TestPhaseScales(t *testing.T) {
	for n := range phaseScales {
		x := &phaseScales[n]
		phases := 6000
		if x.wide > 5 {
			phases = 2000
		}
		r := rand.New(rand.NewPCG(63, 63))
		hours, over := 0.0, 0.0
		var variation []weighted
		for range phases {
			var took, data []float64
			for _, task := range mantriPhase(r, x).Jobs[0].Phases[0].Tasks {
				took, data = append(took, task.Seconds*task.Luck), append(data, float64(task.Bytes))
			}
			m, sd := moments(data)
			variation = append(variation, weighted{sd / m, 1})
			hours += sum(took) / 3600 / float64(phases)
			slices.Sort(took)
			normal, _ := slices.BinarySearch(took, 1.5*took[len(took)/2])
			if float64(len(took)-normal) > 0.15*float64(len(took)) {
				over += 1 / float64(phases)
			}
		}
		median, ninth := percentile(variation, 0.5), percentile(variation, 0.9)
		if n < solvedScales && (math.Abs(median-0.34) > 0.02 || math.Abs(ninth-3.1) > 0.1) {
			t.Errorf("%s: coefficients of variation of data size are %.2f and %.2f at the 50th and 90th percentiles, want 0.34 and 3.1", x, median, ninth)
		}
		if math.Abs(hours-27.3) > 1 || over < 0.2 || over > 0.3 {
			t.Errorf("%s: phases take %.1f h, want 27.3, and %.2f of them have over 15 %% outliers, want about 0.25", x, hours, over)
		}
	}
}
