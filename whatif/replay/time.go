package replay

import "straggler/whatif/workload"

// Time is an instant or a span in microseconds, as in package workload.
type Time = workload.Time

const (
	Millisecond = workload.Millisecond
	Second      = workload.Second
)

// Seconds returns a span of s seconds.
func Seconds(s float64) Time { return workload.Seconds(s) }
