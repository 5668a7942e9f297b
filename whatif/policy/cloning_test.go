package policy

import (
	"math"
	"math/rand/v2"
	"slices"
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
		var tasks, jobs, cac, cc float64
		upstream := make([]int, x.n)
		for range draws {
			all := 0 // clones of the whole job that straggle
			for range x.c {
				bad := false
				for range x.n {
					bad = r.Float64() < x.p || bad
				}
				if bad {
					all++
				}
			}
			jobs += one(all == x.c)
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
			{"job-level clones", jobs, StraggleJobs(x.n, x.c, x.p)},
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

// Every ω on a fine grid is no better than BestWait; and no waiting is best where all upstream clones straggle.
func TestBestWait(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	mean := func(gaps []float64, omega, alpha float64) float64 {
		sum := 0.0
		for _, g := range gaps {
			sum += ReadTime(g, omega, 4, alpha)
		}
		return sum
	}
	for k := range 50 {
		alpha := 0.2 + 0.016*float64(k)
		gaps := make([]float64, 40)
		for i := range gaps {
			gaps[i] = r.ExpFloat64()
			if r.IntN(5) == 0 {
				gaps[i] += 30
			}
		}
		best := BestWait(gaps, 4, alpha)
		for omega := 0.0; omega < 40; omega += 0.01 {
			if mean(gaps, omega, alpha) < mean(gaps, best, alpha)-1e-9 {
				t.Fatalf("ω = %g gives %g, better than %g with %g", omega, mean(gaps, omega, alpha), mean(gaps, best, alpha), best)
			}
		}
		if best > slices.Max(gaps) {
			t.Errorf("waits %g, longer than any gap", best)
		}
	}
	if w := BestWait([]float64{100, 100, 100}, 4, 0.6); w != 0 {
		t.Errorf("waits %g for clones that never come", w)
	}
}
