// Package workloadtest takes traces in memory and returns the rows that workloads are built from, for tests.
package workloadtest

import (
	"cmp"
	"slices"

	"straggler/schema"
	"straggler/whatif/workload"
)

// FromTrace takes the rows of a trace in memory.
func FromTrace(t *schema.Trace) *workload.Rows {
	r := &workload.Rows{
		Applications: t.Applications, Settings: t.Settings, Jobs: t.Jobs, Phases: t.Phases, Edges: t.Edges, Machines: t.Machines, Losses: t.Losses,
		Attempts: make([]workload.LoggedAttempt, 0, len(t.Attempts)),
	}
	for i := range t.Attempts {
		a := &t.Attempts[i]
		r.Add(&workload.AttemptRow{
			AttemptID: a.AttemptID, Recompute: a.Recompute,
			PhaseID: a.PhaseID, Task: a.Task, Number: a.Number, Machine: a.Machine, Executor: a.Executor,
			StartTime: a.StartTime, FinishTime: a.FinishTime, Status: a.Status, Speculative: a.Speculative,
			Locality: a.Locality, InputBytes: a.InputBytes, InputRecords: a.InputRecords, RemoteBytes: a.RemoteBytes,
			OutputBytes: a.OutputBytes, ShuffleWriteBytes: a.ShuffleWriteBytes, SpillBytes: a.SpillBytes, CPUS: a.CPUS, FetchWaitS: a.FetchWaitS,
			GCS: a.GCS, SchedulerDelayS: a.SchedulerDelayS, DeserializeS: a.DeserializeS, ResultS: a.ResultS,
		})
	}
	slices.SortStableFunc(r.Attempts, func(a, b workload.LoggedAttempt) int { return cmp.Compare(a.ID, b.ID) })
	progress := slices.Clone(t.Progress)
	slices.SortStableFunc(progress, func(a, b schema.Progress) int {
		return cmp.Or(cmp.Compare(a.AttemptID, b.AttemptID), cmp.Compare(a.Time, b.Time))
	})
	for i := range progress {
		if p := &progress[i]; p.Source != schema.Synthetic {
			r.Report(p.AttemptID, int64(p.Time), p.Progress)
		}
	}
	return r
}
