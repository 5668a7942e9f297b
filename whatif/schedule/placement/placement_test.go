package placement

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// random returns a problem of n tasks and r racks: map outputs unevenly over the racks, shares of the tasks unequal.
func random(seed uint64, n, racks int, slots bool) *Problem {
	r := rand.New(rand.NewPCG(seed, 3))
	p := &Problem{}
	out := make([]float64, racks)
	for i := range out {
		out[i] = math.Exp(r.NormFloat64())
		p.Up = append(p.Up, 1+r.Float64())
		p.Down = append(p.Down, 1+r.Float64())
	}
	for range n {
		share := math.Exp(0.5 * r.NormFloat64())
		in := make([]float64, racks)
		for i := range in {
			in[i] = out[i] * share * (0.5 + r.Float64())
		}
		p.Input = append(p.Input, in)
	}
	if slots {
		for range racks {
			p.Slots = append(p.Slots, (n+racks-1)/racks+r.IntN(2))
		}
	}
	return p
}

// brute returns the least of all placements.
func brute(p *Problem) float64 {
	best := math.Inf(1)
	rack := make([]int, len(p.Input))
	used := make([]int, len(p.Up))
	var try func(t int)
	try = func(t int) {
		if t == len(rack) {
			best = min(best, slow(p, rack))
			return
		}
		for i := range p.Up {
			if p.Slots != nil && used[i] == p.Slots[i] {
				continue
			}
			rack[t] = i
			used[i]++
			try(t + 1)
			used[i]--
		}
	}
	try(0)
	return best
}

// slow returns what the busiest link takes, by counting every byte.
func slow(p *Problem, rack []int) float64 {
	most := 0.0
	for i := range p.Up {
		up, down := 0.0, 0.0
		for t, in := range p.Input {
			for j, b := range in {
				if j == i && rack[t] != i {
					up += b
				}
				if j != i && rack[t] == i {
					down += b
				}
			}
		}
		most = max(most, up/p.Up[i], down/p.Down[i])
	}
	return most
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1e-300) }

// Of small problems the plan is near the best of all placements, mostly it, and the bound is under that.
func TestAgainstBruteForce(t *testing.T) {
	best, worst := 0.0, 1.0
	const problems = 400
	for seed := range uint64(problems) {
		p := random(seed, 1+int(seed%7), 1+int(seed/7%4), seed%3 == 0)
		plan, err := Solve(p)
		if err != nil {
			t.Fatal(err)
		}
		want := brute(p)
		if !near(plan.Seconds, slow(p, plan.Rack)) {
			t.Fatalf("seed %d: the plan says %v, its links take %v", seed, plan.Seconds, slow(p, plan.Rack))
		}
		if plan.Bound > want*(1+1e-9) {
			t.Fatalf("seed %d: bound %v; the best of all placements takes %v", seed, plan.Bound, want)
		}
		if near(plan.Seconds, want) {
			best++
		} else {
			worst = max(worst, plan.Seconds/want)
		}
	}
	if best < 0.9*problems || worst > 1.3 {
		t.Errorf("%.0f of %d are best, the worst takes %.3f times as long", best, problems, worst)
	}
}

// relaxation returns the optimum when tasks may be split over racks, by the simplex method.
func relaxation(t *testing.T, p *Problem) float64 {
	n, r := len(p.Input), len(p.Up)
	vars := 1 + n*r + 2*r // the optimum, shares, slacks
	a := mat.NewDense(n+2*r, vars, nil)
	b := make([]float64, n+2*r)
	c := make([]float64, vars)
	c[0] = 1
	x := func(task, rack int) int { return 1 + task*r + rack }
	for task, in := range p.Input {
		total := 0.0
		for _, v := range in {
			total += v
		}
		for i, v := range in {
			a.Set(task, x(task, i), 1)
			a.Set(n+i, x(task, i), -v/p.Up[i]) // Σ v (1 − x) / up + slack = optimum
			b[n+i] -= v / p.Up[i]
			a.Set(n+r+i, x(task, i), (total-v)/p.Down[i])
		}
		b[task] = 1
	}
	for k := range 2 * r {
		a.Set(n+k, 0, -1)
		a.Set(n+k, 1+n*r+k, 1)
	}
	best, _, err := lp.Simplex(c, a, b, 1e-10, nil)
	if err != nil {
		t.Fatal(err)
	}
	return best
}

// The bound holds, and is close to the optimum of the linear relaxation, which is the most that it could be unless one
// task alone gives more.
func TestBound(t *testing.T) {
	for seed := range uint64(25) {
		p := random(seed, 8, 4, false)
		best := p.bound()
		one := p.single(p.empty().total)
		if want := max(relaxation(t, p), one); best > want*(1+1e-7) || best < 0.97*want {
			t.Errorf("seed %d: bound %v, linear relaxation with the longest task %v", seed, best, want)
		}
	}
}

// Large problems: the plan keeps to the slots, takes no less than the bound, and, with many tasks to spread, hardly more.
func TestLarge(t *testing.T) {
	for seed := range uint64(3) {
		p := random(seed, 400, 40, true)
		plan, err := Solve(p)
		if err != nil {
			t.Fatal(err)
		}
		used := make([]int, 40)
		for _, i := range plan.Rack {
			used[i]++
		}
		for i, n := range used {
			if n > p.Slots[i] {
				t.Errorf("seed %d: %d tasks in rack %d, which takes %d", seed, n, i, p.Slots[i])
			}
		}
		if !near(plan.Seconds, slow(p, plan.Rack)) || plan.Bound > plan.Seconds {
			t.Errorf("seed %d: the plan says %v with bound %v, its links take %v", seed, plan.Seconds, plan.Bound, slow(p, plan.Rack))
		}
		p.Slots = nil
		if plan, err = Solve(p); err != nil || plan.Seconds > 1.1*plan.Bound {
			t.Errorf("seed %d: %v against a bound of %v, error %v", seed, plan.Seconds, plan.Bound, err)
		}
		t.Logf("seed %d: %.3f, bound %.3f", seed, plan.Seconds, plan.Bound)
	}
}

// MANTRI figure 10: three reduces over three racks with two shards of input in each. The even placement moves 4 shards
// over every downlink and 4 over every uplink; two reduces in one rack move 8 over its downlink.
func TestFigure10(t *testing.T) {
	p := &Problem{Input: [][]float64{{2, 2, 2}, {2, 2, 2}, {2, 2, 2}}, Up: []float64{1, 1, 1}, Down: []float64{1, 1, 1}}
	if s := p.Seconds([]int{0, 0, 1}); s != 8 {
		t.Errorf("two reduces in a rack: %v, want 8", s)
	}
	plan, err := Solve(p)
	slices.Sort(plan.Rack)
	if err != nil || plan.Seconds != 4 || !slices.Equal(plan.Rack, []int{0, 1, 2}) {
		t.Errorf("%+v, %v; want one reduce a rack and 4", plan, err)
	}
}

// Reads that can be local are: all data of a task in one rack.
func TestLocal(t *testing.T) {
	p := &Problem{Input: [][]float64{{0, 5, 0}, {7, 0, 0}, {0, 0, 1}}, Up: []float64{1, 1, 1}, Down: []float64{1, 1, 1}}
	plan, err := Solve(p)
	if err != nil || plan.Seconds != 0 || !slices.Equal(plan.Rack, []int{1, 0, 2}) {
		t.Errorf("%+v, %v; want each task with its data", plan, err)
	}
}

func TestWrongProblems(t *testing.T) {
	for _, p := range []*Problem{
		{},
		{Up: []float64{1}, Down: []float64{0}},
		{Up: []float64{1}, Down: []float64{1}, Slots: []int{1}, Input: [][]float64{{1}, {1}}},
		{Up: []float64{1}, Down: []float64{1}, Input: [][]float64{{1, 2}}},
		{Up: []float64{1}, Down: []float64{1}, Input: [][]float64{{math.NaN()}}},
	} {
		if _, err := Solve(p); err == nil {
			t.Errorf("%+v was solved", p)
		}
	}
	if plan, err := Solve(&Problem{Up: []float64{1}, Down: []float64{1}}); err != nil || plan.Seconds != 0 {
		t.Errorf("no tasks: %+v, %v", plan, err)
	}
}

func BenchmarkSolve(b *testing.B) {
	for _, c := range []struct {
		name string
		n, r int
	}{{"tasks=60/racks=40", 60, 40}, {"tasks=400/racks=40", 400, 40}} {
		b.Run(c.name, func(b *testing.B) {
			p := random(1, c.n, c.r, false)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Solve(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
