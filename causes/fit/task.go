package fit

import (
	"math"

	"straggler/schema"
)

// Task is an attempt as attribution sees it. NaN means that the log does not say.
type Task struct {
	Attempt   schema.Key               `col:"attempt_id"`
	Phase     schema.Key               `col:"phase_id"`
	Index     int64                    `col:"task"`
	Machine   int64                    `col:"machine"` // dense number from 0; -1 unknown
	Start     schema.Null[schema.Time] `col:"start_time"`
	Duration  float64                  `col:"duration_s"`
	Cold      bool                     `col:"cold"` // its executor had just started
	Succeeded bool                     `col:"succeeded"`
	Cut       bool                     `col:"cut"`       // killed, or running when the log stops: it would have taken longer
	Slow      bool                     `col:"slow"`      // an outlier by high_runtime
	Recompute bool                     `col:"recompute"` // an outlier by recompute
	Excess    float64                  `col:"excess_s"`  // of the outlier; NaN elsewhere
	Timed     bool                     `col:"timed"`     // its time can be compared with earlier runs of its stage
	// seconds over the usual duration, for an outlier by slower_than_usual; otherwise NaN
	Beyond float64 `col:"beyond_s"`

	Bytes   float64 `col:"input_bytes"`
	Remote  float64 `col:"remote_bytes"`
	Records float64 `col:"input_records"`
	Written float64 `col:"written_bytes"` // output and shuffle output together: a stand-in for work where no input is logged
	Spill   float64 `col:"spill_bytes"`
	CPU     float64 `col:"cpu_s"`
	Away    float64 `col:"away"` // 1 when it ran away from its data, 0 when near
	Wait    float64 `col:"fetch_wait_s"`
	GC      float64 `col:"gc_s"`
	Delay   float64 `col:"scheduler_delay_s"`
	Convert float64 `col:"convert_s"` // deserialising the task, serialising and fetching its result
}

// Outlier reports whether the excess of the task is to be split.
func (t *Task) Outlier() bool { return t.Slow || t.Recompute }

// Phase is a phase with all attempts of it that have a duration.
type Phase struct {
	ID        schema.Key
	Signature uint64 // of its program and name: executions of the same stage share it; 0 unknown
	Tasks     []Task
}

var nan = math.NaN()

// TaskOf reads a task from an attempt; machine numbers the machines.
func TaskOf(a *schema.Attempt, machine func(string) int64) Task {
	t := Task{
		Attempt: a.AttemptID, Phase: a.PhaseID, Index: a.Task, Machine: -1, Start: a.StartTime,
		Duration: a.DurationS.Or(nan), Succeeded: a.Status == schema.Success,
		Cut: a.Status == schema.Killed || a.Status == schema.Running, Excess: nan, Beyond: nan,
		Bytes: count(a.InputBytes), Remote: count(a.RemoteBytes), Records: count(a.InputRecords),
		Written: sum(count(a.OutputBytes), count(a.ShuffleWriteBytes)), Spill: count(a.SpillBytes), CPU: a.CPUS.Or(nan), Away: nan,
		Wait: a.FetchWaitS.Or(nan), GC: a.GCS.Or(nan), Delay: a.SchedulerDelayS.Or(nan),
		Convert: sum(a.DeserializeS.Or(nan), a.ResultS.Or(nan)),
	}
	if a.Machine.OK {
		t.Machine = machine(a.Machine.V)
	}
	if a.Locality.OK {
		switch a.Locality.V {
		case schema.ProcessLocal, schema.NodeLocal:
			t.Away = 0
		case schema.RackLocal, schema.AnyLocality:
			t.Away = 1
		}
	}
	return t
}

func count(n schema.Null[int64]) float64 {
	if !n.OK {
		return nan
	}
	return float64(n.V)
}

// sum adds the known ones of two amounts; NaN if neither is known.
func sum(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b):
		return a
	}
	return a + b
}
