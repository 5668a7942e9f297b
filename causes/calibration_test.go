package causes

import (
	"math"
	"testing"
)

// TestCalibration holds what verdicts claim against how often they are right, on four hundred drawn clusters that confidence.go
// was not fitted to: within three per cent from 0.8 on.
func TestCalibration(t *testing.T) {
	classes := []float64{0, 0.5, 0.7, 0.8, 0.87, 0.93, 0.97, 0.99, 1}
	n, claimed, right := make([]float64, len(classes)), make([]float64, len(classes)), make([]float64, len(classes))
	for seed := uint64(6001); seed <= 6400; seed++ {
		_, truth, vs := generated(t, mixture(seed))
		slower := generationsOf(truth)
		for i := range vs {
			v := &vs[i]
			if !v.row.Confidence.OK {
				continue
			}
			k := 0
			for v.row.Confidence.V >= classes[k+1] {
				k++
			}
			_, largest := v.right(slower)
			n[k]++
			claimed[k] += v.row.Confidence.V
			if largest || v.truth.Seconds(v.row.Cause) > 0.2*v.excess { // it acted, as labels say it
				right[k]++
			}
		}
	}
	for k, low := range classes[:len(classes)-1] {
		if n[k] == 0 {
			continue
		}
		off := right[k]/n[k] - claimed[k]/n[k]
		t.Logf("confidence %.2f to %.2f: %6.0f verdicts, claimed %.3f, right %.3f", low, classes[k+1], n[k], claimed[k]/n[k], right[k]/n[k])
		most := 0.15 // a few hundred verdicts, of a few clusters that are wrong together
		if low >= 0.8 {
			most = 0.03
		}
		if n[k] >= 100 && math.Abs(off) > most {
			t.Errorf("of verdicts at %.2f to %.2f %.3f are right, %.3f are claimed", low, classes[k+1], right[k]/n[k], claimed[k]/n[k])
		}
	}
}
