package replay

import (
	"math"
	"math/rand/v2"
	"testing"
)

// normalNear is as near to normal as it says, for numbers from all parts of both ranges.
func TestNormalNear(t *testing.T) {
	most := 0.0
	check := func(bits uint64) {
		want := math.Sqrt(-2*math.Log((float64(bits>>40)+0.5)/(1<<24))) * math.Cos(2*math.Pi*float64(bits&(1<<24-1))/(1<<24))
		off := math.Abs(normalNear(bits) - want)
		if most = max(most, off); off > normalError {
			t.Fatalf("%x: off by %g, more than %g", bits, off, normalError)
		}
	}
	const all = 1 << 24
	for k := uint64(0); k < all; k += 13 {
		check(k<<40 | k*7919%all)
		check(k << 40)         // the cosine is 1
		check(k)               // the logarithm is largest
		check((all-1)<<40 | k) // and least
		check((all - 1 - k/(1<<9)) << 40)
	}
	if most < normalError/10 {
		t.Errorf("it is never off by more than %g", most)
	}
}

// errorOf is what it says, bit by bit.
func TestErrorOf(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for k := range 300_000 {
		bits, sigma := r.Uint64(), []float64{0, 1e-300, 0.03, 0.1, 0.4, 3}[k%6]
		switch k % 5 {
		case 0:
			bits &= 1<<42 - 1 // truncated at ±3
		case 1:
			bits = bits&^(1<<24-1) | (1<<22 + uint64(r.IntN(1000)) - 500) // near 0
		}
		if got, want := errorOf(sigma, bits), float32(max(-0.9, sigma*normal(bits))); got != want {
			t.Fatalf("σ %g, %x: %g, want %g", sigma, bits, got, want)
		}
	}
}

func BenchmarkErrorOf(b *testing.B) {
	sum := float32(0)
	for k := uint64(0); b.Loop(); k++ {
		sum += errorOf(0.1, mix(k))
	}
	_ = sum
}
