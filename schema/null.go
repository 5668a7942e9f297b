package schema

// Null is a value that the log may not say. The zero Null is NULL; unknown is never the zero of T.
type Null[T any] struct {
	V  T
	OK bool
}

// Some is a known value.
func Some[T any](v T) Null[T] { return Null[T]{V: v, OK: true} }

// Or is the value, or d where it is unknown.
func (n Null[T]) Or(d T) T {
	if n.OK {
		return n.V
	}
	return d
}

// Time is an instant in microseconds since 1970-01-01T00:00:00Z.
type Time int64

// Sub is the time from u to t in seconds.
func (t Time) Sub(u Time) float64 { return float64(t-u) / 1e6 }

// Add is the instant s seconds after t, rounded to the microsecond.
func (t Time) Add(s float64) Time {
	if s < 0 {
		return t + Time(s*1e6-0.5)
	}
	return t + Time(s*1e6+0.5)
}

// FromMillis is the instant of a millisecond epoch stamp, which most logs write.
func FromMillis(ms int64) Time { return Time(ms * 1000) }
