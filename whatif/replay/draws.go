package replay

import "math"

// Draws are common random numbers: the fate of copy n of a task depends on the seed, the task and n, and not on the policy. All
// policies see the same random numbers, so that their savings can be paired.

type purpose uint64

const (
	drawRatio purpose = 1 + iota
	drawProgress
	drawPlace
	drawReplica
	drawLoss
)

// mix applies the finaliser of splitmix64: a bijection whose every output bit depends on every input bit.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// draw returns 64 random bits for one purpose of one attempt.
func draw(seed int64, phase int64, task, number int32, what purpose) uint64 {
	return streamOf(seed, phase, what).draw(task, number)
}

// stream is the draws of one purpose for the attempts of one phase.
type stream uint64

func streamOf(seed, phase int64, what purpose) stream {
	return stream(mix(mix(uint64(seed)*0x9e3779b97f4a7c15+uint64(what)) ^ uint64(phase)))
}

func (x stream) draw(task, number int32) uint64 {
	return mix(uint64(x) ^ uint64(uint32(task))<<32 ^ uint64(uint32(number)))
}

// below maps random bits to a number in 0 … n−1.
func below(bits uint64, n int) int {
	return int((bits >> 32) * uint64(n) >> 32)
}

// normalMost is where normal is truncated.
const normalMost = 3

// normal maps random bits to a standard normal number (Box and Muller), truncated at ±normalMost.
func normal(bits uint64) float64 {
	u := (float64(bits>>40) + 0.5) / (1 << 24)
	v := float64(bits&(1<<24-1)) / (1 << 24)
	return max(-normalMost, min(normalMost, math.Sqrt(-2*math.Log(u))*math.Cos(2*math.Pi*v)))
}

// normalAtMost returns a nonnegative upper bound of normal for the same bits, computed from the leading bits of its two uniform
// numbers.
func normalAtMost(bits uint64) float64 {
	return min(normalMost, radiusAtMost[bits>>58]*cosineAtMost[bits>>20&15])
}

var (
	radiusAtMost = func() (most [64]float64) { // by the 6 leading bits of u
		for n := range most {
			most[n] = math.Sqrt(-2 * math.Log(max(float64(n)/64, 0.5/(1<<24))))
		}
		return most
	}()
	cosineAtMost = func() (most [16]float64) { // by the 4 leading bits of v
		for n := range most {
			most[n] = max(0, math.Cos(2*math.Pi*float64(n)/16), math.Cos(2*math.Pi*float64(n+1)/16))
		}
		return most
	}()
)
