package workload

// Time is an instant or a span in microseconds. Instants count from the start of the pool.
type Time int64

const (
	Millisecond Time = 1e3
	Second      Time = 1e6
)

// Seconds returns the span in seconds.
func (t Time) Seconds() float64 { return float64(t) / 1e6 }

// Seconds returns a span of s seconds, of at most 2^60 µs or 36 000 years, so that it can be added to an instant.
func Seconds(s float64) Time { return Time(min(s*1e6+0.5, 1<<60)) }
