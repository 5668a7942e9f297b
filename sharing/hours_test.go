package sharing

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"straggler/schema"
)

// daily makes runs at hours of one day after another; slow says how much longer those that start at an hour take.
func daily(r *rand.Rand, days int, at []int, noise float64, slow func(hour int) float64) (runs []Run) {
	for d := range days {
		for _, h := range at {
			start := schema.Time((int64(d)*24+int64(h))*3_600_000_000 + r.Int64N(3_600_000_000))
			runs = append(runs, Run{Start: start, TookS: 600 * slow(h) * math.Exp(noise*r.NormFloat64()), Bytes: schema.Some(1e9)})
		}
	}
	return runs
}

// The hours at which runs are slow are found, beyond midnight and where half of the runs start then; of runs that are slow at
// any hour, none.
func TestSlowHours(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 24))
	all := make([]int, 24)
	for h := range all {
		all[h] = h
	}
	factor := func(hours ...int) func(int) float64 {
		return func(h int) float64 {
			for _, x := range hours {
				if h == x {
					return 1.6
				}
			}
			return 1
		}
	}
	for _, c := range []struct {
		name        string
		runs        []Run
		from, until int64 // both 0: none
	}{
		{"every hour for a week, slow at two", daily(r, 7, all, 0.05, factor(2)), 2, 3},
		{"beyond midnight", daily(r, 7, all, 0.05, factor(23, 0)), 23, 1},
		{"twice a day, one of them slow", daily(r, 5, []int{2, 14}, 0.05, factor(2)), 2, 3},
		{"every night at one hour", daily(r, 30, []int{2}, 0.05, factor(2)), 0, 0},
		{"no hour", daily(r, 7, all, 0.05, factor()), 0, 0},
		{"two days, too few", daily(r, 2, []int{2, 14}, 0.05, factor(2)), 0, 0},
		{"before 1970", []Run{{Start: -1, TookS: 1}}, 0, 0},
		{"none", nil, 0, 0},
	} {
		x, ok := SlowHours(c.runs)
		if ok != (c.from != c.until) || ok && (x.From != c.from || x.Until != c.until) {
			t.Errorf("%s: %v %+v", c.name, ok, x)
		}
		if ok && !strings.Contains(x.Words(), "their input is no larger") {
			t.Errorf("%s: %s", c.name, x.Words())
		}
	}
}

// Of programs whose runs scatter by chance, hardly any has an hour.
func TestSlowHoursByChance(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 25))
	wrong := 0
	for range 1000 {
		var at []int
		for range 1 + r.IntN(8) {
			at = append(at, r.IntN(24))
		}
		if _, ok := SlowHours(daily(r, 4+r.IntN(20), at, 0.4*r.Float64(), func(int) float64 { return 1 })); ok {
			wrong++
		}
	}
	if wrong > 10 {
		t.Errorf("of 1 000 programs whose runs scatter by chance, %d have a slow hour", wrong)
	}
}
