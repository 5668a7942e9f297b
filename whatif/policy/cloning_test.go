package policy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The formulas of DOLLY §3 and §4 against drawing the clones themselves.
func TestCloningFormulas(t *testing.T) {
	const draws = 200_000
	for _, x := range []struct {
		n, c int
		p    float64
	}{{10, 1, 0.1}, {10, 2, 0.1}, {10, 3, 0.2}, {20, 3, 0.3}, {5, 4, 0.4}} {
		r := rand.New(rand.NewPCG(1, uint64(x.n*x.c)))
		var tasks, cac, cc float64
		upstream := make([]int, x.n)
		for range draws {
			fewest, bad := x.c, false
			for i := range upstream {
				upstream[i] = 0
				for range x.c {
					if r.Float64() >= x.p {
						upstream[i]++
					}
				}
				fewest = min(fewest, upstream[i])
				bad = bad || upstream[i] == 0
			}
			tasks += one(bad)
			// Downstream: under CC all c clones of each task can run in time, under CAC only as many as the worst upstream
			// group has copies of its output.
			slowCC, slowCAC := bad, fewest == 0
			for range x.n {
				firstGood := x.c
				for k := range x.c {
					if r.Float64() >= x.p && firstGood == x.c {
						firstGood = k
					}
				}
				slowCC = slowCC || firstGood >= x.c
				slowCAC = slowCAC || firstGood >= fewest
			}
			cc += one(slowCC)
			cac += one(slowCAC)
		}
		for _, q := range []struct {
			name         string
			seen, theory float64
		}{
			{"task-level clones", tasks, StraggleTasks(x.n, x.c, x.p)},
			{"CAC", cac, StraggleCAC(x.n, x.c, x.p)},
			{"CC", cc, StraggleCC(x.n, x.c, x.p)},
		} {
			seen := q.seen / draws
			if se := math.Sqrt(q.theory * (1 - q.theory) / draws); math.Abs(seen-q.theory) > 5*se+1e-9 {
				t.Errorf("n %d c %d p %g: %s straggle with %.5f, the formula says %.5f", x.n, x.c, x.p, q.name, seen, q.theory)
			}
		}
	}
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Clones is the fewest clones that keep the risk.
func TestClones(t *testing.T) {
	for _, n := range []int{1, 2, 10, 50, 150, 1000} {
		for _, p := range []float64{0.01, 0.1, 0.3, 0.6} {
			c := Clones(n, p, 0.05)
			if StraggleTasks(n, c, p) > 0.05+1e-12 {
				t.Errorf("n %d p %g: with %d clones the risk is %g", n, p, c, StraggleTasks(n, c, p))
			}
			if c > 1 && StraggleTasks(n, c-1, p) <= 0.05 {
				t.Errorf("n %d p %g: %d clones would do, %d are asked for", n, p, c-1, c)
			}
		}
	}
	if Clones(10, 0, 0.05) != 1 {
		t.Error("tasks that never straggle are cloned")
	}
}

// The durations that §4.4 gives: r/B = 4 s, ω = 1 s, α = 1/2.
func TestReadTimes(t *testing.T) {
	for _, x := range []struct{ gap, omega, first, second float64 }{
		{0.5, 1, 4, 5}, // a copy of its own, in time: r/B + min(r/B, ω)
		{9, 1, 7, 8},   // shared from 1 s on: 1 + 3/0.5, and the second's last second
		{3, 9, 4, 8},   // waits until the first has read: r/B + r/B
		{99, 9, 4, 8},  // the same, whenever its own would have come
		{0.5, 0, 8, 8}, // no waiting: all of it shared
		{0, 0, 4, 4},   // both copies at once
	} {
		if first, second := readTimes(x.gap, x.omega, 4, 0.5); math.Abs(first-x.first) > 1e-12 || math.Abs(second-x.second) > 1e-12 {
			t.Errorf("gap %g, ω %g: %g and %g s, want %g and %g", x.gap, x.omega, first, second, x.first, x.second)
		}
	}
}

// Clones that end together need not wait for each other.
func TestBestWaitWithoutGaps(t *testing.T) {
	if w := bestWait([]float64{0, 0, 0}, make([][2]float64, 3), 3, 0.7); w != 0 {
		t.Errorf("waits %g s for clones that end together", w)
	}
}

// Every ω on a fine grid is no better than bestWait.
func TestBestWait(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	waited := 0
	for k := range 50 {
		alpha := 0.2 + 0.016*float64(k)
		gaps, computing := make([]float64, 40), make([][2]float64, 40)
		for i := range gaps {
			gaps[i] = r.ExpFloat64()
			if r.IntN(5) == 0 {
				gaps[i] += 30
			}
			computing[i] = [2]float64{10 * r.ExpFloat64(), 10 * r.ExpFloat64()}
		}
		mean := func(omega float64) float64 {
			sum := 0.0
			for i, g := range gaps {
				first, second := readTimes(g, omega, 4, alpha)
				sum += min(first+computing[i][0], second+computing[i][1])
			}
			return sum / 40
		}
		best := bestWait(gaps, computing, 4, alpha)
		for omega := 0.0; omega < 40; omega += 0.01 {
			if mean(omega) < mean(best)-1e-9 {
				t.Fatalf("ω = %g gives %g, better than %g with %g", omega, mean(omega), mean(best), best)
			}
		}
		if best > 0 {
			waited++
		}
	}
	if waited == 0 {
		t.Error("never waits")
	}
}
