package policy_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/whatif/policy"
	"straggler/whatif/replay"
	"straggler/whatif/scenario"
	"straggler/whatif/workload"
)

// Attempts that sleep are those on which nothing would be done: Mantri does the same, to the microsecond, where it weighs every
// attempt at every look. Durations fall, rise or stay over a phase, so that what it takes to act on an attempt moves under
// those that sleep; and in some phases a few attempts report their progress.
func TestMantriSleeps(t *testing.T) {
	slept, woken, acted := 0, 0, 0
	var s replay.Sim
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 9))
		c := onePhase(20 + r.IntN(60))
		trend := []float64{-0.8, 0, 1.5}[seed%3]
		tasks := 400
		for n := range tasks {
			task := scenario.Task{Seconds: (30 + 30*r.Float64()) * (1 + trend*float64(n)/float64(tasks)), Bytes: int64(1e6 * (1 + r.Float64()))}
			if seed%2 == 0 {
				task.Bytes = int64(task.Seconds * 1e6)
			}
			if r.IntN(10) == 0 {
				task.Seconds *= 1.5 + 4*r.Float64()
			}
			if seed%4 == 3 && r.IntN(20) == 0 {
				task.Reports = []workload.Point{{At: 0.3, Score: 0.6}, {At: 0.7, Score: 0.9}}
			}
			c.Jobs[0].Phases[0].Tasks = append(c.Jobs[0].Phases[0].Tasks, task)
		}
		p := workload.Build(c.Rows()).Pools[0]
		m := policy.Mantri{Alpha: 2, Gamma: 1 + int(seed%3), Delta: 0.25, Rho: 1, Report: 10, Restart: seed%5 > 0, Copy: seed%7 > 0, Longest: seed%4 == 0}
		var did [2][]string
		sleepy := policy.NewSleepy(m)
		for n, pol := range []replay.Policy{sleepy, policy.NewWatchful(m)} {
			s.Run(p, replay.Options{Policy: pol, Seed: int64(seed), Sigma: 0.3, Watch: func(x replay.Span) {
				did[n] = append(did[n], fmt.Sprint(x.Task, x.Number, x.Machine, x.Start, x.End, x.Killed))
				if n == 0 && x.Killed {
					acted++
				}
			}})
		}
		if !slices.Equal(did[0], did[1]) {
			t.Errorf("seed %d: what Mantri does depends on which attempts sleep", seed)
		}
		slept, woken = slept+sleepy.Slept, woken+sleepy.Woken
	}
	t.Logf("%d times an attempt slept through a look, %d were woken, %d attempts killed", slept, woken, acted)
	if slept == 0 || woken == 0 || acted == 0 {
		t.Error("the law says nothing")
	}
}

// Those that sleep are woken where any number of what they are held against falls below the floor, which stays under all of
// them and, where they do not fall, never falls itself.
func TestMantriFloor(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	var f policy.Floor
	target, bytes := [5]float64{90, 70, 1, 0.1, 9}, false
	f.Lower(90, 70, 1, 0.1, 9, bytes)
	lowered := 0
	for range 5000 {
		before, flips := f.Numbers(), r.IntN(100) == 0
		target[r.IntN(5)] *= 0.95 + 0.1*r.Float64()
		bytes = bytes != flips
		fell := f.Lower(target[0], target[1], target[2], target[3], target[4], bytes)
		for n, x := range f.Numbers() {
			if x > target[n] || !fell && (target[n] < before[n] || x < before[n]) || flips && !fell {
				t.Fatalf("from %v the floor goes to %v for %v, lowered: %v", before, f.Numbers(), target, fell)
			}
		}
		if fell {
			lowered++
		}
	}
	if lowered < 100 || lowered > 4900 {
		t.Errorf("the floor is lowered %d times of 5000", lowered)
	}
}

// The task that gains most goes first, of equal ones that of the lowest number; also where gains differ in their last bits
// only.
func TestMantriOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for _, n := range []int{0, 1, 2, 50, 3000, -50} {
		some := []float64{0, math.Copysign(0, -1), math.Inf(1), 7, 1e-300, -7, -1e9}
		if n < 0 { // all are equal
			n, some = -n, some[:2]
		}
		gains := make([]float64, n)
		for i := range gains {
			x := some[r.IntN(len(some))]
			if len(some) == 2 {
				gains[i] = x
				continue
			}
			for range r.IntN(3) {
				x = math.Nextafter(x, -8)
			}
			gains[i] = x
		}
		var want []int32
		for task := range int32(n) {
			want = append(want, task)
		}
		slices.SortStableFunc(want, func(a, b int32) int { return cmp.Compare(gains[b], gains[a]) })
		if got := policy.InOrder(gains); !slices.Equal(got, want) {
			t.Errorf("%d cases are not in order", n)
		}
	}
}
