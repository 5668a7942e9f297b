package stats

import (
	"math"
	"testing"
)

// Percentage points of the t distribution and of the normal one, from the tables of the NIST/SEMATECH e-Handbook of
// Statistical Methods, 1.3.6.7.2 and 1.3.6.7.1; with one degree of freedom it is tan π(p − ½).
func TestTables(t *testing.T) {
	for _, c := range []struct{ df, p, x float64 }{
		{1, 0.90, 3.078}, {1, 0.975, 12.706}, {2, 0.95, 2.920}, {5, 0.975, 2.571}, {5, 0.999, 5.893}, {10, 0.99, 2.764},
		{30, 0.975, 2.042}, {30, 0.999, 3.385}, {100, 0.975, 1.984}, {100, 0.90, 1.290}, {1e9, 0.975, 1.960}, {1, 0.999, math.Tan(math.Pi * 0.499)},
	} {
		s := Student{c.df}
		if got := s.Quantile(c.p); math.Abs(got-c.x) > 0.0006 {
			t.Errorf("t(%g), %g: %v, the table says %v", c.df, c.p, got, c.x)
		}
		if low := s.Quantile(1 - c.p); math.Abs(low+c.x) > 0.0006 {
			t.Errorf("t(%g), %g: %v, the table says -%v", c.df, 1-c.p, low, c.x)
		}
		for _, x := range []float64{c.x, -c.x, 0, 0.3} { // the one undoes the other
			if p := s.Survival(x); math.Abs(s.Quantile(1-p)-x) > 1e-6*(1+math.Abs(x)) {
				t.Errorf("t(%g): the quantile of the survival %v of %v is %v", c.df, p, x, s.Quantile(1-p))
			}
		}
	}
	for x, area := range map[float64]float64{0: 0, 0.5: 0.19146, 1: 0.34134, 1.96: 0.47500, 3: 0.49865} {
		if got := 0.5 - NormalSurvival(x); math.Abs(got-area) > 0.000006 {
			t.Errorf("from 0 to %g: %v, the table says %v", x, got, area)
		}
	}
}

// Values from R: pbinom(k - 1, n, p, lower.tail = FALSE) and pchisq(x, df, lower.tail = FALSE).
func TestSurvivalOfTests(t *testing.T) {
	for _, c := range []struct{ got, want float64 }{
		{BinomialSurvival(5, 10, 0.3), 0.1502683326},
		{BinomialSurvival(2, 10, 0.02), 0.01617763},
		{BinomialSurvival(3, 1000, 0.02), 0.9999996},
		{BinomialSurvival(1, 1, 0.02), 0.02},
		{BinomialSurvival(5, 5, 0.5), 1. / 32},
		{BinomialSurvival(0, 5, 0.02), 1}, {BinomialSurvival(6, 5, 0.02), 0},
		{BinomialSurvival(3, 3, -0.1), 0}, {BinomialSurvival(3, 3, 1.1), 1},
		{BinomialSurvival(3, 3, 0), 0}, {BinomialSurvival(3, 3, 1), 1}, {BinomialSurvival(0, 0, 0.5), 1},
		{BinomialSurvival(5e8, 1e9, 0.5), 0.5 + 0.5/math.Sqrt(2*math.Pi*2.5e8)},                                   // symmetry and Stirling
		{BinomialSurvival(1e8-1, 1e9, 0.1), 0.50005747134}, {BinomialSurvival(1e8+3e4, 1e9, 0.1), 0.000783182894}, // sums of Loader's densities
		{BinomialSurvival(500, 1000, 1e-3), 0}, // less than a float64 can hold
		{ChiSquaredSurvival(9.21034, 1), 0.01},
		{ChiSquaredSurvival(20, 2), 0.0004993992},
		{ChiSquaredSurvival(0, 2), 1}, {ChiSquaredSurvival(math.Inf(1), 2), 0},
	} {
		if math.Abs(c.got-c.want) > 1e-7 {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}
