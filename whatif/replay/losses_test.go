package replay

import (
	"slices"
	"straggler/whatif/workload"
	"straggler/whatif/workload/workloadtest"
	"testing"

	"straggler/schema"
)

// lossTrace returns two maps and a reduce that finds the output of the first map lost at 12 s and waits for it to be made
// again.
func lossTrace() *schema.Trace {
	at := func(s int64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15 + s*1e6)) }
	attempt := func(id, phase schema.Key, task int64, number int32, machine string, from, to int64) schema.Attempt {
		return schema.Attempt{AttemptID: id, PhaseID: phase, JobID: 2, ApplicationID: 1, Task: task, Number: number, Status: schema.Success,
			Machine: schema.Some(machine), StartTime: at(from), FinishTime: at(to), ShuffleWriteBytes: schema.Some(int64(id))}
	}
	again := attempt(13, 3, 0, 1, "b", 12, 18)
	again.Recompute = true
	return &schema.Trace{
		Applications: []schema.Application{{ApplicationID: 1, Framework: "hadoop"}},
		Jobs:         []schema.Job{{JobID: 2, ApplicationID: 1, SubmitTime: at(0), FinishTime: at(30)}},
		Phases:       []schema.Phase{{PhaseID: 3, JobID: 2, Kind: "map"}, {PhaseID: 4, JobID: 2, Kind: "reduce"}},
		Edges:        []schema.Edge{{JobID: 2, FromPhase: 3, ToPhase: 4}},
		Attempts:     []schema.Attempt{attempt(11, 3, 0, 0, "a", 0, 6), attempt(12, 3, 1, 0, "b", 0, 10), again, attempt(14, 4, 0, 0, "b", 18, 30)},
		Losses: []schema.Loss{
			{PhaseID: 3, Task: 0, AttemptID: schema.Some(schema.Key(11)), Machine: schema.Some("a"), Time: at(11), RecomputedBy: schema.Some(schema.Key(13))},
			{PhaseID: 3, Task: 1, AttemptID: schema.Some(schema.Key(12))}, // never made again
		},
	}
}

func TestOutputs(t *testing.T) {
	p := workload.Build(workloadtest.FromTrace(lossTrace())).Pools[0]
	o := p.Outputs()
	if o == nil {
		t.Fatal("the log has a loss, the pool none")
	}
	var bytes, ends []int64
	for _, m := range o.Made {
		bytes, ends = append(bytes, m.Bytes), append(ends, int64(m.At)/1e6)
	}
	if !slices.Equal(bytes, []int64{11, 12, 13, 14}) || !slices.Equal(ends, []int64{6, 10, 18, 30}) {
		t.Errorf("outputs of %v bytes at %v s", bytes, ends)
	}
	if len(o.Lost) != 1 || o.Lost[0].At != 11*Second || o.Made[o.Lost[0].Of].Bytes != 11 || !p.Attempts[o.Lost[0].Again].Again {
		t.Errorf("losses %+v", o.Lost)
	}
	if len(o.Reads) != 2 || len(o.Reads[0]) != 0 || !slices.Equal(o.Reads[1], []int32{0}) {
		t.Errorf("phases read %v", o.Reads)
	}
	trace := lossTrace()
	trace.Losses = nil
	if workload.Build(workloadtest.FromTrace(trace)).Pools[0].Outputs() != nil {
		t.Error("a log without losses has outputs to protect")
	}
}
