package causes

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"straggler/causes/model"
	"strings"
	"testing"

	"straggler/schema"
	"straggler/schema/synth"
)

// confidenceClasses are the bounds of the classes of confidence in which claims are compared with how often they are right.
var confidenceClasses = [...]float64{0, 0.5, 0.7, 0.8, 0.87, 0.93, 0.97, 0.99, 1}

// reliability counts verdicts by class of confidence, with the sum of their confidences and the number that are right.
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

// addDrawn adds the verdicts on a generated cluster.
func (r *reliability) addDrawn(t *testing.T, o synth.Options) {
	trace, truth, vs := generated(t, o)
	known, slower := trueSeconds(trace, truth), generationsOf(truth)
	for i := range vs {
		if v := &vs[i]; v.row.Confidence.OK {
			r.add(v.row.Confidence.V, v.acted(slower, known))
		}
	}
}

func (r *reliability) String() string {
	var b strings.Builder
	for k, n := range r.n {
		if n > 0 {
			fmt.Fprintf(&b, "confidence %.2f to %.2f: %6.0f verdicts, claimed %.3f, right %.3f\n", confidenceClasses[k],
				confidenceClasses[k+1], n, r.claimed[k]/n, r.right[k]/n)
		}
	}
	return b.String()
}

// TestCalibration compares the confidence of verdicts with how often they are right, on four hundred drawn clusters that
// confidence.go was not fitted to: within 3 % from 0.87 on, 3.5 % from 0.8 on, and 12 % below.
func TestCalibration(t *testing.T) {
	var r reliability
	for seed := uint64(6001); seed <= 6400; seed++ {
		r.addDrawn(t, mixture(seed))
	}
	t.Log(&r)
	for k, low := range confidenceClasses[:len(confidenceClasses)-1] {
		if r.n[k] == 0 {
			continue
		}
		claimed, right := r.claimed[k]/r.n[k], r.right[k]/r.n[k]
		most := 0.12 // a few hundred verdicts, of a few clusters that are wrong together
		if low >= 0.8 {
			most = 0.035
		}
		if low >= 0.87 {
			most = 0.03
		}
		if r.n[k] >= 100 && math.Abs(right-claimed) > most {
			t.Errorf("of verdicts at %.2f to %.2f %.3f are right, %.3f are claimed", low, confidenceClasses[k+1], right, claimed)
		}
	}
}

// drawnClaim is a verdict on a drawn cluster: the inputs of its confidence, and whether it was right.
type drawnClaim struct {
	claim
	family string
	right  bool
	weight float64
}

// claimsOf returns the verdicts on a generated cluster.
func claimsOf(t *testing.T, family string, o synth.Options) (out []drawnClaim) {
	trace, truth, vs := generated(t, o)
	known, slower := trueSeconds(trace, truth), generationsOf(truth)
	of := map[schema.Key]*verdictOf{}
	for i := range vs {
		of[vs[i].attempt.AttemptID] = &vs[i]
	}
	phases, names := phasesOf(trace, outliersOf(trace))
	l := model.NewLearner(3600, names, racksOf(trace, names))
	for i := range phases {
		l.Observe(&phases[i])
	}
	a := NewAttributor(l.Model())
	a.losses, a.collections = lossesOf(trace), collectionsOf(trace, names)
	for k := range phases {
		a.prepare(&phases[k])
		for i := range phases[k].Tasks {
			v := of[phases[k].Tasks[i].Attempt]
			if v == nil || !v.row.Confidence.OK {
				continue
			}
			s := a.split(i)
			c, _ := claimOf(a.causes(&s), &s)
			out = append(out, drawnClaim{claim: c, family: family, right: v.acted(slower, known)})
		}
	}
	return out
}

// acted reports whether the cause of a verdict is the largest one, or made up a fifth of the excess. The seconds of a slower
// generation of machines are those beyond the median task's machine.
func (v *verdictOf) acted(slower map[string]bool, known map[schema.Key]map[schema.Cause]float64) bool {
	_, largest := v.right(slower)
	return largest || v.truth.Seconds(v.row.Cause) > acting*v.excess ||
		v.row.Cause == schema.BadMachine && known[v.attempt.AttemptID][schema.BadMachine] > acting*v.excess
}

// fitted returns logistic regressions on claims, except those of one family.
func fitted(claims []drawnClaim, but string) (out [len(confidences)]logistic) {
	for of := range out {
		if reading(of) == onElsewhere { // sixteen of 64 000 verdicts
			out[of] = confidences[of]
			continue
		}
		var b [4]float64
		for range 50 { // Newton's method
			var g [4]float64
			var h [4][4]float64
			for _, c := range claims {
				if c.family == but || int(c.of) != of {
					continue
				}
				x, y := [4]float64{1, math.Log1p(c.z), 0, c.logit}, 0.0
				// measured causes are right there too, nothing is, or there are too few starts
				if !c.measured && reading(of) != onFigure && reading(of) != onWorkOverMachine && reading(of) != onStart {
					x[2] = 1
				}
				if reading(of) == onMachine { // the posterior has the lead, and its error is larger where work is not measured
					x[1], x[2] = 0, 0
				}
				if c.right {
					y = 1
				}
				p := 1 / (1 + math.Exp(-(b[0] + b[1]*x[1] + b[2]*x[2] + b[3]*x[3])))
				for i := range x {
					g[i] += c.weight * (y - p) * x[i]
					for j := range x {
						h[i][j] += c.weight * p * (1 - p) * x[i] * x[j]
					}
				}
			}
			for i := range h { // a weak prior, for lack of data
				g[i], h[i][i] = g[i]-1e-3*b[i], h[i][i]+1e-3
			}
			step := solve4(h, g)
			for i := range b {
				b[i] += step[i]
			}
		}
		out[of] = logistic{b[0], b[1], b[2], b[3]}
	}
	return out
}

// solve4 solves h x = g for positive definite h by Gaussian elimination.
func solve4(h [4][4]float64, g [4]float64) (x [4]float64) {
	for k := range h {
		for i := k + 1; i < len(h); i++ {
			by := h[i][k] / h[k][k]
			for j := k; j < len(h); j++ {
				h[i][j] -= by * h[k][j]
			}
			g[i] -= by * g[k]
		}
	}
	for i := len(h) - 1; i >= 0; i-- {
		x[i] = g[i]
		for j := i + 1; j < len(h); j++ {
			x[i] -= h[i][j] * x[j]
		}
		x[i] /= h[i][i]
	}
	return x
}

// TestReliability refits confidence, prints the result, and with STRAGGLER_RELIABILITY=1 writes ../notebooks/reliability.csv,
// from which the notebook draws the reliability diagram: for other mixtures, for each family by the fit to mixtures and the
// other families, and for the labelled runs of a real Spark.
func TestReliability(t *testing.T) {
	if os.Getenv("STRAGGLER_RELIABILITY") == "" {
		t.Skip("STRAGGLER_RELIABILITY=1 fits confidence and writes ../notebooks/reliability.csv")
	}
	const mixtures = "mixtures"
	var claims []drawnClaim
	for seed := uint64(1001); seed <= 1600; seed++ {
		claims = append(claims, claimsOf(t, mixtures, mixture(seed))...)
	}
	for _, f := range families() {
		for seed := uint64(1); seed <= 24; seed++ {
			o := synth.Defaults()
			o.Seed, o.Scenario = 2000+seed, f.name
			f.set(&o, seed)
			claims = append(claims, claimsOf(t, f.name, o)...)
		}
	}
	n := map[string]float64{}
	for _, c := range claims {
		n[c.family]++
	}
	for i := range claims {
		share := 0.7
		if claims[i].family != mixtures {
			share = 0.3 / float64(len(n)-1)
		}
		claims[i].weight = 1e5 * share / n[claims[i].family]
	}
	t.Logf("constant, slope, unmeasured, posterior, by what a verdict rests on: %.3f", fitted(claims, ""))

	var drawn, others, labelled reliability
	for seed := uint64(6001); seed <= 6400; seed++ {
		drawn.addDrawn(t, mixture(seed))
	}
	for _, f := range families() {
		by := fitted(claims, f.name)
		for _, c := range claims {
			if c.family == f.name {
				others.add(by[c.of].probability(c.claim), c.right)
			}
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
		t.Logf("%s\n%s", of.name, of)
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
