package schedule_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"straggler/whatif/schedule"
)

// FAIR §3.1, figure 3: 100 slots among four pools.
func TestSharesOfThePaper(t *testing.T) {
	claims := []schedule.Claim{{Min: 50, Demand: 46}, {Min: 10, Demand: 18}, {Min: 25, Demand: 28}, {Min: 15, Demand: 16}}
	if got, want := schedule.Shares(100, claims, nil), []int{46, 14, 25, 15}; !slices.Equal(got, want) {
		t.Errorf("shares %v, FAIR §3.1 says %v", got, want)
	}
}

// The laws of max-min fairness with minimum guarantees, on random pools.
func TestSharesAreMaxMinFair(t *testing.T) {
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 1))
		slots := 1 + r.IntN(200)
		claims := make([]schedule.Claim, 1+r.IntN(8))
		demands, guaranteed := 0, 0
		for i := range claims {
			claims[i] = schedule.Claim{Min: r.IntN(40) * r.IntN(2), Demand: r.IntN(80)}
			demands += claims[i].Demand
			guaranteed += min(claims[i].Min, claims[i].Demand)
		}
		shares := schedule.Shares(slots, claims, nil)
		sum := 0
		for i, c := range claims {
			sum += shares[i]
			if shares[i] > c.Demand || shares[i] < 0 {
				t.Fatalf("seed %d: pool %d wants %d and gets %d", seed, i, c.Demand, shares[i])
			}
			if guaranteed <= slots && shares[i] < min(c.Min, c.Demand) {
				t.Fatalf("seed %d: pool %d is guaranteed %d, wants %d and gets %d", seed, i, c.Min, c.Demand, shares[i])
			}
		}
		if sum != min(slots, demands) {
			t.Fatalf("seed %d: shares sum to %d; there are %d slots and %d are wanted", seed, sum, slots, demands)
		}
		// Nobody who wants more can gain without one losing who has less, or is owed what it has.
		for i, c := range claims {
			if shares[i] == c.Demand {
				continue
			}
			for k, other := range claims {
				if spare := shares[k] > min(other.Min, other.Demand); guaranteed <= slots && spare && shares[k] > shares[i]+1 {
					t.Fatalf("seed %d: pool %d has %d and wants more while pool %d has %d: %v of %d, %v", seed, i, shares[i], k,
						shares[k], shares, slots, claims)
				}
			}
		}
	}
}

func BenchmarkShares(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	claims := make([]schedule.Claim, 10_000)
	for i := range claims {
		claims[i] = schedule.Claim{Min: r.IntN(5), Demand: r.IntN(200)}
	}
	var shares []int
	b.ReportAllocs()
	for b.Loop() {
		shares = schedule.Shares(100_000, claims, shares[:0])
	}
}
