package machines

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"straggler/schema"
)

// observedMachines makes factors from what phases say: ln(factor) of machine m in window w, in n phases with an error.
func observedMachines(machines, windows, phases int, sd float64, factor func(m, w int) float64) *Factors {
	rng := rand.New(rand.NewPCG(5, 5))
	m := &Factors{WindowS: 3600}
	for k := range machines {
		m.Names = append(m.Names, fmt.Sprintf("m%04d", k))
		for w := range windows {
			for range phases {
				m.Observe(Window{int64(k), int64(w)}, math.Log(factor(k, w))+sd*rng.NormFloat64(), sd*sd, 3)
			}
		}
	}
	m.Settle()
	return m
}

func judged(m *Factors) map[string][]schema.MachineHealth {
	j := Health{Factors: m, FalseDiscoveryRate: 0.05, OutlierProbability: 0.03}
	out := map[string][]schema.MachineHealth{}
	for _, r := range j.Rows() {
		out[r.Machine] = append(out[r.Machine], r)
	}
	return out
}

// Four slow machines of twenty are healthy for their generation, and the note says what their speed does not show; the
// machines of the fast one need no note.
func TestSlowerGenerationIsNoted(t *testing.T) {
	rows := judged(observedMachines(20, 1, 10, 0.1, func(k, w int) float64 {
		if k < 4 {
			return 1.6
		}
		return 1
	}))
	for k := range 20 {
		r := rows[fmt.Sprintf("m%04d", k)][0]
		if noted := strings.Contains(r.Note.V, "one of 4 machines that take 1.6"); r.Verdict != schema.Healthy || noted != (k < 4) {
			t.Errorf("machine %d is %s, noted %q", k, r.Verdict, r.Note.V)
		}
	}
}

// Three machines of thirty that are equally bad are bad: as many may be so by chance. Nine of thirty are another generation.
func TestFewEquallyBadAreNoGeneration(t *testing.T) {
	for _, c := range []struct {
		slow int
		want schema.Verdict
	}{{3, schema.Slow}, {9, schema.Healthy}} {
		rows := judged(observedMachines(30, 1, 10, 0.1, func(k, w int) float64 {
			if k < c.slow {
				return 1.6
			}
			return 1
		}))
		for k := range 30 {
			want := schema.Healthy
			if k < c.slow {
				want = c.want
			}
			if r := rows[fmt.Sprintf("m%04d", k)][0]; r.Verdict != want {
				t.Errorf("%d slow: machine %d is %s with a factor of %.2f in a generation of %.2f", c.slow, k, r.Verdict, r.Factor.V, r.Generation.V)
			}
		}
	}
}

// Five thousand machines, fifty of them slow by 1.5: those are found, and of all that are named at most one in ten is
// healthy (the rate is controlled at one in twenty, on average).
func TestFalseDiscoveries(t *testing.T) {
	slow := func(k int) bool { return k%100 == 7 }
	rows := judged(observedMachines(5000, 1, 8, 0.1, func(k, w int) float64 {
		if slow(k) {
			return 1.5
		}
		return 1
	}))
	var named, wrong, found int
	for k := range 5000 {
		if r := rows[fmt.Sprintf("m%04d", k)][0]; r.Verdict == schema.Slow {
			named++
			if slow(k) {
				found++
			} else {
				wrong++
			}
		}
	}
	if found < 48 || wrong*10 > named {
		t.Errorf("%d named, %d of 50 found, %d healthy", named, found, wrong)
	}
	if r := rows["m0007"][0]; r.Factor.V < 1.3 || r.Factor.V > 1.7 || !(r.FactorLow.V < 1.5 && 1.5 < r.FactorHigh.V) {
		t.Errorf("factor %.2f (%.2f to %.2f), it is 1.5", r.Factor.V, r.FactorLow.V, r.FactorHigh.V)
	}
}

// Outputs that were lost on a machine say nothing of its speed: its process may have been killed, or taken away.
func TestLossesAreNoVerdict(t *testing.T) {
	m := observedMachines(8, 1, 10, 0.08, func(int, int) float64 { return 1 })
	h := Health{Factors: m, FalseDiscoveryRate: 0.05, OutlierProbability: 0.03, Losses: map[Window]int64{{Machine: 3}: 19}}
	for _, r := range h.Rows() {
		if lost := r.Machine == "m0003"; r.Verdict != schema.Healthy || lost != strings.Contains(r.Note.V, "19 outputs were lost on it") || lost != (r.Losses == 19) {
			t.Errorf("%s: %s, %d losses, %q", r.Machine, r.Verdict, r.Losses, r.Note.V)
		}
	}
}

// Two generations are not bad; a machine slower than its generation is.
func TestGenerations(t *testing.T) {
	rows := judged(observedMachines(20, 1, 10, 0.08, func(k, w int) float64 {
		switch {
		case k == 19:
			return 2.4
		case k >= 12:
			return 1.4
		}
		return 1
	}))
	for name, r := range rows {
		want := schema.Healthy
		if name == "m0019" {
			want = schema.Slow
		}
		if r[0].Verdict != want {
			t.Errorf("%s with factor %.2f in a generation of %.2f is %s", name, r[0].Factor.V, r[0].Generation.V, r[0].Verdict)
		}
	}
	if g := rows["m0015"][0].Generation.V / rows["m0003"][0].Generation.V; g < 1.3 || g > 1.5 {
		t.Errorf("the generations differ by %.2f, want 1.4", g)
	}
}

// What a machine does over time (DOLLY §2.1.2: windows): always slow, now and then, repaired.
func TestCourses(t *testing.T) {
	rows := judged(observedMachines(12, 12, 6, 0.08, func(k, w int) float64 {
		if k == 1 || k == 2 && w%3 == 0 || k == 3 && w < 6 {
			return 2
		}
		return 1
	}))
	for _, c := range []struct {
		machine, course string
		first, last     schema.Verdict
	}{
		{"m0000", "", schema.Healthy, schema.Healthy}, {"m0001", "chronic", schema.Slow, schema.Slow},
		{"m0002", "intermittent", schema.Flaky, schema.Healthy}, {"m0003", "recovered", schema.Flaky, schema.Healthy},
	} {
		r := rows[c.machine]
		if r[0].Course.V != c.course || r[0].Verdict != c.first || r[11].Verdict != c.last {
			t.Errorf("%s: course %q, first %s, last %s; want %+v", c.machine, r[0].Course.V, r[0].Verdict, r[11].Verdict, c)
		}
	}
}

// A machine that is slow in a quarter of the phases is named by those that say so, though its mean is not far off: not as slow
// always, but at times.
func TestSlowInSomePhases(t *testing.T) {
	m := &Factors{WindowS: 3600}
	rng := rand.New(rand.NewPCG(6, 6))
	for k := range 10 {
		m.Names = append(m.Names, fmt.Sprintf("m%04d", k))
		for p := range 20 {
			z := 0.08 * rng.NormFloat64()
			if k == 4 && p%4 == 0 {
				z += math.Log(2)
			}
			m.Observe(Window{int64(k), 0}, z, 0.0064, 3)
		}
	}
	m.Settle()
	for name, r := range judged(m) {
		want, course := schema.Healthy, ""
		if name == "m0004" {
			want, course = schema.Flaky, "intermittent"
		}
		if r[0].Verdict != want || r[0].Course.V != course {
			t.Errorf("%s is %s, %s (q %.3g)", name, r[0].Verdict, r[0].Course.V, r[0].QValue.V)
		}
		if name == "m0004" && r[0].Note.V != "slow in 5 of its 20 phases and like the others in the rest; the interval is that of the mean" {
			t.Errorf("its interval is %.2f to %.2f, and the note: %q", r[0].FactorLow.V, r[0].FactorHigh.V, r[0].Note.V)
		}
	}
}

// The expectation for the next window is half this window's rate and half the long-term one (DOLLY §2.1.2).
func TestPrediction(t *testing.T) {
	m := observedMachines(1, 3, 4, 0.05, func(int, int) float64 { return 1 })
	j := Health{Factors: m, FalseDiscoveryRate: 0.05, Outliers: map[Window]int64{{0, 0}: 6, {0, 2}: 3}}
	want := []float64{0.5, 0.125, 0.25} // rates 6/12, 0, 3/12; long-term 0.5, 0.25, 0.25
	for i, r := range j.Rows() {
		if math.Abs(r.Predicted.V-want[i]) > 1e-12 {
			t.Errorf("window %d: %g is expected next, want %g", i, r.Predicted.V, want[i])
		}
	}
}
