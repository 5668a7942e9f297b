package schema

// Null is a value that may be unknown. The zero Null is NULL; unknown is never the zero value of T.
type Null[T any] struct {
	V  T
	OK bool
}

// Some returns a known value.
func Some[T any](v T) Null[T] { return Null[T]{V: v, OK: true} }

// Or returns the value, or d if it is unknown.
func (n Null[T]) Or(d T) T {
	if n.OK {
		return n.V
	}
	return d
}

// Time is an instant in microseconds since 1970-01-01T00:00:00Z.
type Time int64

// Sub returns the time from u to t in seconds.
func (t Time) Sub(u Time) float64 { return float64(t-u) / 1e6 }

// Add returns the instant s seconds after t, rounded to the microsecond.
func (t Time) Add(s float64) Time {
	if s < 0 {
		return t + Time(s*1e6-0.5)
	}
	return t + Time(s*1e6+0.5)
}

// FromMillis converts milliseconds since 1970, which most logs contain.
func FromMillis(ms int64) Time { return Time(ms * 1000) }
