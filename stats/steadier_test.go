package stats

import (
	"math"
	"testing"
)

func TestSteadier(t *testing.T) {
	steady, wide := []float64{1, 1.1, 0.9, 1}, []float64{-3, 2, 5, 0}
	for _, x := range []struct {
		name string
		a, b []float64
		want int
	}{
		{"the first", steady, wide, 1},
		{"the second", wide, steady, 2},
		{"alike", steady, []float64{2, 2.1, 1.9, 2}, 0},
		{"too few", steady[:2], wide[:2], 0},
		{"both scatter by more than e", wide, []float64{-300, 200, 500, 0}, 0},
		{"clocks say no more", []float64{1, 1, 1}, []float64{1, 1.001, 0.999}, 0},
	} {
		if got := Steadier(x.a, x.b); got != x.want {
			t.Errorf("%s: %d, want %d", x.name, got, x.want)
		}
	}
	// 150 to 1: of four, a standard deviation that is e^(5/4) times the other's is not clear yet, and a larger one is
	around := func(sd float64) []float64 { return []float64{-sd, sd, -sd, sd} }
	if Steadier(around(0.1), around(0.1*math.Exp(1.24))) != 0 || Steadier(around(0.1), around(0.1*math.Exp(1.26))) != 1 {
		t.Error("the bound of n·ln(sd/sd) is not 5")
	}
}
