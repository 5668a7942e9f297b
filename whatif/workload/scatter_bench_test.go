package workload

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"straggler/cputime"
)

// BenchmarkScatter is the estimate of what machines share over one phase of so many attempts on three slots, the fewest
// attempts a window and so the most windows: processor time an attempt must not grow by more than the correlation times that
// the phase can show, which are the logarithm of its length.
func BenchmarkScatter(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			others := make([]residual, n)
			for k := range others {
				others[k] = residual{float64(k) / 3, 0.8 + 0.4*r.Float64(), 0.1 * r.NormFloat64(), false}
			}
			b.ReportAllocs()
			before := cputime.Used().Seconds()
			for b.Loop() {
				var s scatterSample
				s.add(nil, others)
				s.estimate()
			}
			b.ReportMetric((cputime.Used().Seconds()-before)*1e9/float64(b.N)/float64(n), "cpu-ns/attempt")
		})
	}
}
