package detect

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A history that follows a task from execution to execution has the times of those that each is compared with, whichever
// executions are left out and however far apart candidates are.
func TestHistoryFollowsTask(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 41))
	const places = 700
	for range 20 {
		s := stageTasks{at: make([]int32, places+1)}
		seconds := make(map[int64]float64)
		for place := int64(1); place <= places; place++ {
			if r.IntN(20) == 0 {
				continue // this execution is left out
			}
			n := int32(s.past.len())
			s.past.duration = append(s.past.duration, math.Round(100*r.ExpFloat64()))
			s.executions = append(s.executions, pastExecution{n, n + 1, true})
			s.at[place] = int32(len(s.executions))
			seconds[place] = s.past.duration[n]
		}
		s.seconds.begin(s.past.duration)
		for place := int64(1); place <= places; place += 1 + r.Int64N(1+r.Int64N(100)) {
			s.extend(&s.seconds, 0, place)
			var want []float64
			for p := range earlierPlaces(place) {
				if v, ok := seconds[p]; ok {
					want = append(want, v)
				}
			}
			slices.Sort(want)
			if !slices.Equal(want, s.seconds.sorted) {
				t.Fatalf("at place %d the history is %v, want %v", place, s.seconds.sorted, want)
			}
		}
	}
}

// A task under the least limit is under the limit, whatever the spread of its times.
func TestLeastLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 41))
	near := 0
	for range 100_000 {
		n := float64(3 + r.IntN(62))
		p10 := math.Exp(5 * r.NormFloat64())
		p25 := p10 * math.Exp(r.ExpFloat64()*r.Float64())
		p50 := p25 * math.Exp(r.ExpFloat64()*r.Float64())
		spread := max(math.Log(p25/p10)/0.6071, 0.01)
		limit := min(p50, p25*math.Exp(0.6745*spread)) * factorOf(n, spread*math.Sqrt(1+1/n))
		least := leastLimit(n, p10, p25, p50)
		if least > limit {
			t.Fatalf("of percentiles %v, %v, %v of %v times the least limit is %v, and the limit %v", p10, p25, p50, n, least, limit)
		}
		if least > 0.9*limit {
			near++
		}
	}
	if near < 30_000 {
		t.Errorf("only %d of 100000 limits are nearly reached", near)
	}
}
