package replay

import (
	"fmt"

	"straggler/whatif/workload"
)

// Span is an attempt of a replay, for timelines.
type Span struct {
	Phase, Task, Number, Machine, Slot int32
	Start, End                         Time
	Killed                             bool
	observed                           int32
}

// Observed returns the number of the attempt in the log, -1 for a copy.
func (x *Span) Observed() int { return int(x.observed) }

// Outcome is the outcome of a replay, by job.
type Outcome struct {
	Jobs    []JobOutcome
	Events  int64 // launches, ends and timers
	Drew    bool  // it used random numbers; otherwise all seeds are equal
	Stopped int   // jobs that did not end: a bug in the simulator
}

// JobOutcome is the outcome for one job; times in µs.
type JobOutcome struct {
	Took   int64 // completion time
	Copies int32 // launched by the policy, including restarts
	Wins   int32 // copies that finished first
	Kills  int32 // attempts that the policy or its winning copies killed
	Waste  int64 // slot time of attempts that were killed
	Slots  int64 // slot time of all attempts
	// For a planned pool: attempts with preferred machines and the bytes they read, by locality, and the bytes of upstream
	// outputs fetched, by whether they were in the same rack.
	Levels  [workload.Levels]int32
	Read    [workload.Levels]int64
	Fetched [workload.Levels]float64
	Losses  LossOutcome // where machines lose outputs
}

// Err returns an error if jobs did not end, which is a bug in the simulator.
func (o *Outcome) Err() error {
	if o.Stopped > 0 {
		return fmt.Errorf("replay: %d jobs did not end", o.Stopped)
	}
	return nil
}
