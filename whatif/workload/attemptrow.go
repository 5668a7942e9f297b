package workload

import (
	"math"

	"straggler/schema"
)

// AttemptRow is the part of a row of attempts that a replay reads.
type AttemptRow struct {
	AttemptID    schema.Key                   `col:"attempt_id"`
	Recompute    bool                         `col:"recompute"`
	PhaseID      schema.Key                   `col:"phase_id"`
	Task         int64                        `col:"task"`
	Number       int32                        `col:"number"`
	Machine      schema.Null[string]          `col:"machine"`
	Executor     schema.Null[string]          `col:"executor"`
	StartTime    schema.Null[schema.Time]     `col:"start_time"`
	FinishTime   schema.Null[schema.Time]     `col:"finish_time"`
	Status       schema.AttemptStatus         `col:"status"`
	Speculative  schema.Null[bool]            `col:"speculative"`
	Locality     schema.Null[schema.Locality] `col:"locality"`
	InputBytes   schema.Null[int64]           `col:"input_bytes"`
	InputRecords schema.Null[int64]           `col:"input_records"`

	RemoteBytes       schema.Null[int64]   `col:"remote_bytes"`
	OutputBytes       schema.Null[int64]   `col:"output_bytes"`
	ShuffleWriteBytes schema.Null[int64]   `col:"shuffle_write_bytes"`
	SpillBytes        schema.Null[int64]   `col:"spill_bytes"`
	CPUS              schema.Null[float64] `col:"cpu_s"`
	FetchWaitS        schema.Null[float64] `col:"fetch_wait_s"`
	GCS               schema.Null[float64] `col:"gc_s"`
	SchedulerDelayS   schema.Null[float64] `col:"scheduler_delay_s"`
	DeserializeS      schema.Null[float64] `col:"deserialize_s"`
	ResultS           schema.Null[float64] `col:"result_s"`
}

// Add takes a row of attempts. Names are interned, so the row's strings may be reused.
func (r *Rows) Add(a *AttemptRow) {
	r.Attempts = append(r.Attempts, LoggedAttempt{
		ID: a.AttemptID, Again: a.Recompute,
		Phase: a.PhaseID, Task: a.Task, Number: a.Number,
		Start: micros(a.StartTime), Finish: micros(a.FinishTime),
		Bytes: a.InputBytes.Or(-1), Records: a.InputRecords.Or(-1),
		Machine: r.internNull(a.Machine), Executor: r.internNull(a.Executor),
		Ending: endingOf(a.Status), Local: nearnessOf(a.Locality), Copy: a.Speculative.Or(false),
		Measured: Measured{
			Wait: seconds(a.FetchWaitS), GC: seconds(a.GCS), Delay: seconds(a.SchedulerDelayS), Convert: added(seconds(a.DeserializeS), seconds(a.ResultS)),
			CPU: seconds(a.CPUS), Remote: bytes(a.RemoteBytes), Written: added(bytes(a.OutputBytes), bytes(a.ShuffleWriteBytes)), Spill: bytes(a.SpillBytes),
		},
	})
	if made := a.ShuffleWriteBytes.Or(a.OutputBytes.Or(-1)); len(r.Losses) > 0 && made >= 0 {
		if r.outputs == nil {
			r.outputs = map[schema.Key]int64{}
		}
		r.outputs[a.AttemptID] = made
	}
}

var nan32 = float32(math.NaN())

func seconds(s schema.Null[float64]) float32 {
	if !s.OK {
		return nan32
	}
	return float32(s.V)
}

func bytes(n schema.Null[int64]) float32 {
	if !n.OK {
		return nan32
	}
	return float32(n.V)
}

// added returns what is known of two amounts, or NaN if neither is.
func added(a, b float32) float32 {
	switch {
	case a != a:
		return b
	case b != b:
		return a
	}
	return a + b
}

func micros(t schema.Null[schema.Time]) int64 {
	if !t.OK {
		return NoTime
	}
	return int64(t.V)
}

func endingOf(s schema.AttemptStatus) Ending {
	switch s {
	case schema.Success:
		return Succeeded
	case schema.Killed:
		return Killed
	case schema.Running:
		return Unended
	}
	return Failed
}

func nearnessOf(l schema.Null[schema.Locality]) Nearness {
	switch {
	case !l.OK || l.V == schema.NoPreference:
		return NoLocality
	case l.V == schema.ProcessLocal || l.V == schema.NodeLocal:
		return Near
	}
	return Far
}
