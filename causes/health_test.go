package causes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"straggler/schema"
)

// heardMachines makes a model from what phases say: ln(factor) of machine m in window w, in n phases with an error.
func heardMachines(machines, windows, phases int, sd float64, factor func(m, w int) float64) *Model {
	rng := rand.New(rand.NewPCG(5, 5))
	l := NewLearner(3600)
	m := &l.model
	for k := range machines {
		m.names = append(m.names, fmt.Sprintf("m%04d", k))
		m.machines = append(m.machines, testimony{})
		for w := range windows {
			var t testimony
			for range phases {
				z := math.Log(factor(k, w)) + sd*rng.NormFloat64()
				t.add(z, sd*sd, 3)
				m.machines[k].add(z, sd*sd, 3)
			}
			m.windows[machineWindow{int64(k), int64(w)}] = &t
		}
	}
	return l.Model()
}

func judged(m *Model) map[string][]schema.MachineHealth {
	j := judgement{model: m, fdr: 0.05}
	out := map[string][]schema.MachineHealth{}
	for _, r := range j.rows() {
		out[r.Machine] = append(out[r.Machine], r)
	}
	return out
}

// Four slow machines of twenty are healthy for their generation, and the note says what their speed can not tell; the
// machines of the fast one have nothing to be told.
func TestSlowerGenerationIsNoted(t *testing.T) {
	rows := judged(heardMachines(20, 1, 10, 0.1, func(k, w int) float64 {
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

// Five thousand machines, fifty of them slow by 1.5: those are found, and of all that are named at most one in ten is
// healthy (the rate is controlled at one in twenty, on average).
func TestFalseDiscoveries(t *testing.T) {
	slow := func(k int) bool { return k%100 == 7 }
	rows := judged(heardMachines(5000, 1, 8, 0.1, func(k, w int) float64 {
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

// Two generations are not bad; a machine slower than its generation is.
func TestGenerations(t *testing.T) {
	rows := judged(heardMachines(20, 1, 10, 0.08, func(k, w int) float64 {
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
	rows := judged(heardMachines(12, 12, 6, 0.08, func(k, w int) float64 {
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

// A machine that is slow in one stage of five is named by the phases that say so, though its mean is not far off.
func TestSlowInSomePhases(t *testing.T) {
	l := NewLearner(3600)
	m := &l.model
	rng := rand.New(rand.NewPCG(6, 6))
	for k := range 10 {
		m.names = append(m.names, fmt.Sprintf("m%04d", k))
		var t testimony
		for p := range 20 {
			z := 0.08 * rng.NormFloat64()
			if k == 4 && p%4 == 0 {
				z += math.Log(2)
			}
			t.add(z, 0.0064, 3)
		}
		m.machines = append(m.machines, t)
		m.windows[machineWindow{int64(k), 0}] = &t
	}
	for name, r := range judged(l.Model()) {
		if want := name == "m0004"; want != (r[0].Verdict == schema.Slow) {
			t.Errorf("%s is %s (q %.3g)", name, r[0].Verdict, r[0].QValue.V)
		}
		if name == "m0004" && r[0].Note.V != "slow in 5 of its 20 phases, as the others in the rest: the interval is of the mean" {
			t.Errorf("its interval is %.2f to %.2f, and the note: %q", r[0].FactorLow.V, r[0].FactorHigh.V, r[0].Note.V)
		}
	}
}

// The expectation for the next window is half this window's rate and half the long-term one (DOLLY §2.1.2).
func TestPrediction(t *testing.T) {
	m := heardMachines(1, 3, 4, 0.05, func(int, int) float64 { return 1 })
	j := judgement{model: m, fdr: 0.05, slow: map[machineWindow]int64{{0, 0}: 6, {0, 2}: 3}}
	want := []float64{0.5, 0.125, 0.25} // rates 6/12, 0, 3/12; long-term 0.5, 0.25, 0.25
	for i, r := range j.rows() {
		if math.Abs(r.Predicted.V-want[i]) > 1e-12 {
			t.Errorf("window %d: %g is expected next, want %g", i, r.Predicted.V, want[i])
		}
	}
}

// Binomial tails against values of R's pbinom.
func TestAtLeast(t *testing.T) {
	for _, c := range []struct {
		k, n int64
		p    float64
		want float64
	}{{0, 5, 0.02, 1}, {1, 1, 0.02, 0.02}, {2, 10, 0.02, 0.01617763}, {5, 5, 0.5, 0.03125}, {3, 1000, 0.02, 0.9999999}} {
		if got := atLeast(c.k, c.n, c.p); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("P(X ≥ %d), n %d, p %g = %.8f, want %.8f", c.k, c.n, c.p, got, c.want)
		}
	}
}

// From tasks to verdicts: two thousand machines with two or three tasks in each of eight phases, three tasks in a hundred
// slow by themselves. With nothing wrong nobody is named; with forty bad ones most are, and of the named one in twenty is
// healthy at most. A verdict that the interval does not bear out says why.
func TestFalseDiscoveriesFromTasks(t *testing.T) {
	for _, bad := range []int{0, 40} {
		var named, wrong int
		for seed := range uint64(3) {
			rows, speed := slowCluster(11+seed, bad)
			for _, r := range rows {
				if r.Verdict != schema.Slow && r.Verdict != schema.Flaky {
					continue
				}
				named++
				if speed[r.number] == 1 {
					wrong++
				}
				if r.FactorLow.V <= r.Generation.V && !r.Note.OK {
					t.Errorf("machine %d is %s with a factor of %.2f to %.2f in a generation of %.2f, and no word why", r.number, r.Verdict, r.FactorLow.V, r.FactorHigh.V, r.Generation.V)
				}
			}
		}
		t.Logf("%d bad: %d named of three clusters, %d of them healthy", bad, named, wrong)
		if wrong*20 > named || named-wrong < 3*bad*3/4 {
			t.Errorf("%d bad: %d named, %d of them healthy", bad, named, wrong)
		}
	}
}

// slowCluster judges two thousand machines of which some take 1.8 times as long.
func slowCluster(seed uint64, bad int) (rows []numbered, speed []float64) {
	c := newCluster(seed, 2000)
	c.slots = 1
	for k := range bad {
		c.speed[k*37] = 1.8
	}
	l := NewLearner(3600)
	for range 8 {
		c.now = 1_700_000_000_000_000 // all in one window
		l.Hear(c.phase(5000, 10, nil, func(_ *Task, body *float64) {
			if c.rng.Float64() < 0.03 {
				*body *= 2 + 3*c.rng.Float64()
			}
		}))
	}
	j := judgement{model: l.Model(), fdr: 0.05}
	return j.rowsByNumber(), c.speed
}

type numbered struct {
	schema.MachineHealth
	number int64
}

func (j *judgement) rowsByNumber() (out []numbered) {
	j.model.names = nil
	for k := range j.model.machines {
		j.model.names = append(j.model.names, fmt.Sprint(k))
	}
	for _, r := range j.rows() {
		n, _ := strconv.ParseInt(r.Machine, 10, 64)
		out = append(out, numbered{r, n})
	}
	return out
}
