package replay

import (
	"testing"

	"straggler/schema"
	"straggler/whatif/workload"
	"straggler/whatif/workload/workloadtest"
)

// Law 5 of the design: policy none repeats every job of a generated trace exactly.
func TestIdentity(t *testing.T) {
	var s Sim
	jobs := 0
	for seed := range uint64(3000) {
		w := workload.Build(workloadtest.FromTrace(newGen(seed).trace()))
		for i, p := range w.Pools {
			out := s.Run(p, Options{})
			if out.Stopped > 0 {
				t.Fatalf("seed %d pool %d: %d jobs did not end", seed, i, out.Stopped)
			}
			for j := range out.Jobs {
				jobs++
				if got, want := out.Jobs[j].Took, p.Observed(j); got != want {
					t.Fatalf("seed %d pool %d job %d: replayed in %d µs, observed %d", seed, i, j, got, want)
				}
			}
		}
	}
	if jobs < 10_000 {
		t.Fatalf("only %d jobs were replayed", jobs)
	}
}

// A job whose tasks end long after it takes no less than no time when they are faster, so that nothing saves more than all of
// it; and the notes say that its times contradict one another.
func TestTasksEndAfterTheirJob(t *testing.T) {
	at := func(s float64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15).Add(s)) }
	tr := &schema.Trace{
		Applications: []schema.Application{{ApplicationID: 1, Framework: "spark"}},
		Jobs:         []schema.Job{{JobID: 2, ApplicationID: 1, SubmitTime: at(0), FinishTime: at(3)}},
		Phases:       []schema.Phase{{PhaseID: 3, JobID: 2, Kind: "map", StartTime: at(1), FinishTime: at(1e6)}},
	}
	for task, end := range []float64{2, 2, 1e6} {
		tr.Attempts = append(tr.Attempts, schema.Attempt{AttemptID: schema.Key(10 + task), PhaseID: 3, JobID: 2, ApplicationID: 1, Task: int64(task), Status: schema.Success,
			Machine: schema.Some("m"), StartTime: at(1), FinishTime: at(end), DurationS: schema.Some(end - 1)})
	}
	w := workload.Build(workloadtest.FromTrace(tr))
	var s Sim
	if took := s.Run(w.Pools[0], Options{}).Jobs[0].Took; took != 3e6 || w.Notes.Contradicted != 1 {
		t.Errorf("replayed in %d µs, %d jobs contradict themselves", took, w.Notes.Contradicted)
	}
	if took := s.Run(w.Pools[0], Options{Took: []int64{1e6, 1e6, 1e6}}).Jobs[0].Took; took != 0 {
		t.Errorf("with all tasks alike it takes %d µs", took)
	}
}
