package causes

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"testing"

	"straggler/schema"
	"straggler/schema/synth"
)

// confidenceClasses are the edges of the classes of confidence in which claims are held against how often they are right.
var confidenceClasses = [...]float64{0, 0.5, 0.7, 0.8, 0.87, 0.93, 0.97, 0.99, 1}

// reliability counts, by class of confidence, verdicts, what they claim in sum, and those that are right.
type reliability struct {
	n, claimed, right [len(confidenceClasses) - 1]float64
}

func (r *reliability) add(confidence float64, right bool) {
	k := 0
	for k+2 < len(confidenceClasses) && confidence >= confidenceClasses[k+1] {
		k++
	}
	r.n[k]++
	r.claimed[k] += confidence
	if right {
		r.right[k]++
	}
}

// addDrawn adds the verdicts on a generated cluster. One is right where its cause is the largest, or a fifth of the excess: it
// acted, as labels say it. Seconds of a slower generation of machines are those over the median task's machine.
func (r *reliability) addDrawn(t *testing.T, o synth.Options) {
	trace, truth, vs := generated(t, o)
	known := trueSeconds(trace, truth)
	slower := generationsOf(truth)
	for i := range vs {
		v := &vs[i]
		if !v.row.Confidence.OK {
			continue
		}
		_, largest := v.right(slower)
		r.add(v.row.Confidence.V, largest || v.truth.Seconds(v.row.Cause) > 0.2*v.excess ||
			v.row.Cause == schema.BadMachine && known[v.attempt.AttemptID][schema.BadMachine] > 0.2*v.excess)
	}
}

// TestCalibration holds what verdicts claim against how often they are right, on four hundred drawn clusters that confidence.go
// was not fitted to: within three per cent from 0.8 on.
func TestCalibration(t *testing.T) {
	var r reliability
	for seed := uint64(6001); seed <= 6400; seed++ {
		r.addDrawn(t, mixture(seed))
	}
	for k, low := range confidenceClasses[:len(confidenceClasses)-1] {
		if r.n[k] == 0 {
			continue
		}
		claimed, right := r.claimed[k]/r.n[k], r.right[k]/r.n[k]
		t.Logf("confidence %.2f to %.2f: %6.0f verdicts, claimed %.3f, right %.3f", low, confidenceClasses[k+1], r.n[k], claimed, right)
		most := 0.15 // a few hundred verdicts, of a few clusters that are wrong together
		if low >= 0.8 {
			most = 0.03
		}
		if r.n[k] >= 100 && math.Abs(right-claimed) > most {
			t.Errorf("of verdicts at %.2f to %.2f %.3f are right, %.3f are claimed", low, confidenceClasses[k+1], right, claimed)
		}
	}
}

// TestReliability writes the file that the notebook draws the reliability diagram from, ../notebooks/reliability.csv, with
// STRAGGLER_RELIABILITY=1: of the drawn clusters of TestCalibration, of families that are drawn by other rules, and of the
// labelled runs of a real Spark.
func TestReliability(t *testing.T) {
	if os.Getenv("STRAGGLER_RELIABILITY") == "" {
		t.Skip("STRAGGLER_RELIABILITY=1 writes ../notebooks/reliability.csv")
	}
	var drawn, others, labelled reliability
	for seed := uint64(6001); seed <= 6400; seed++ {
		drawn.addDrawn(t, mixture(seed))
	}
	for _, f := range families() {
		for seed := uint64(1); seed <= 12; seed++ {
			o := synth.Defaults()
			o.Seed, o.Scenario = 2000+seed, f.name
			f.set(&o, seed)
			others.addDrawn(t, o)
		}
	}
	s := newScores()
	for _, r := range labelledRuns(t, "../testdata/labelled") {
		s.score(r)
	}
	for i, confidence := range s.sure {
		labelled.add(confidence, s.right[i])
	}
	rows := [][]string{{"source", "low", "high", "verdicts", "claimed", "right"}}
	for _, of := range []struct {
		name string
		*reliability
	}{{"drawn clusters", &drawn}, {"other families", &others}, {"labelled Spark logs", &labelled}} {
		for k, n := range of.n {
			if n > 0 {
				rows = append(rows, []string{of.name, fmt.Sprint(confidenceClasses[k]), fmt.Sprint(confidenceClasses[k+1]), fmt.Sprint(n),
					fmt.Sprintf("%.4f", of.claimed[k]/n), fmt.Sprintf("%.4f", of.right[k]/n)})
			}
		}
	}
	f, err := os.Create("../notebooks/reliability.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := csv.NewWriter(f).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
