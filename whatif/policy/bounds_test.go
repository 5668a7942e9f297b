package policy

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The queue has the longest bound of those that it holds, and gives all of its bucket that are no shorter than a time, whatever
// was put in and taken out between: bounds of all sizes, equal ones, and some that are not positive.
func TestBoundsQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	for round := range 200 {
		var q bounds
		var held []bounded
		for n := range 300 {
			switch {
			case r.IntN(5) < 3 || len(held) == 0:
				left := math.Exp(float64(1+round%8) * r.NormFloat64())
				switch r.IntN(20) {
				case 0:
					left = 5
				case 1:
					left = float64(r.IntN(3) - 2)
				case 2:
					left = []float64{math.Inf(1), 1e300, 1e10}[r.IntN(3)]
				}
				e := bounded{left: left, onSlot: onSlot{task: int32(n)}}
				q.push(e)
				held = append(held, e)
			case r.IntN(20) == 0:
				kept := func(e bounded) bool { return e.task%3 > 0 }
				q.only(kept)
				held = slices.DeleteFunc(held, func(e bounded) bool { return !kept(e) })
			case r.IntN(4) == 0:
				e := q.any()
				q.drop()
				held = slices.DeleteFunc(held, func(f bounded) bool { return f == e })
			default:
				from := q.most()
				if from < 1e300 {
					from -= 0.02 * r.Float64() * math.Abs(from)
				}
				got := q.take(from, nil)
				for _, e := range got {
					if e.left < from {
						t.Fatalf("round %d: %g is taken, under %g", round, e.left, from)
					}
				}
				held = slices.DeleteFunc(held, func(e bounded) bool { return slices.Contains(got, e) })
				if len(got) == 0 {
					t.Fatalf("round %d: nothing from %g is taken", round, from)
				}
			}
			if q.n != len(held) {
				t.Fatalf("round %d: %d attempts, want %d", round, q.n, len(held))
			}
			if len(held) == 0 {
				continue
			}
			want := slices.MaxFunc(held, func(a, b bounded) int { return cmp.Compare(a.left, b.left) }).left
			if got := q.most(); got != want {
				t.Fatalf("round %d: the longest bound is %g, want %g", round, got, want)
			}
		}
	}
}
