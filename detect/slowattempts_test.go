package detect

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The rows of suspects are ordered by the ids of attempts, equal ones as they are stored, however far apart these are.
func TestSortByID(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 61))
	for try := range 600 {
		n := r.IntN(60)
		ids := make([]int64, n)
		for i := range ids {
			switch try % 4 {
			case 0:
				ids[i] = 1<<62 + r.Int64N(40)
			case 1:
				ids[i] = int64(r.Uint64())
			case 2:
				ids[i] = []int64{math.MinInt64, math.MaxInt64, 0}[r.IntN(3)]
			case 3:
				ids[i] = -20 + int64(i)
			}
		}
		var f figurer
		for i := range ids {
			if r.IntN(3) > 0 {
				f.suspects = append(f.suspects, int32(i))
			}
		}
		want := slices.Clone(f.suspects)
		slices.SortStableFunc(want, func(i, j int32) int { return cmp.Compare(ids[i], ids[j]) })
		if f.sortByID(ids); !slices.Equal(f.suspects, want) {
			t.Fatalf("of %v: %v, want %v", ids, f.suspects, want)
		}
	}
}
