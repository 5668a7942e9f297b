package reporttest

import (
	"fmt"

	"straggler/schema"
)

// Origin is when the traces start.
const Origin = schema.Time(1_700_000_000_000_000)

// Trace is a trace of one application that a test builds.
type Trace struct {
	schema.Trace
	next schema.Key
}

// NewTrace has an application without jobs.
func NewTrace() *Trace {
	m := &Trace{}
	m.Applications = []schema.Application{{ApplicationID: 1, NativeID: "app-1", Framework: "spark", StartTime: schema.Some(Origin),
		Status: schema.RunSucceeded, SourceFile: "made", Complete: true, TimeOrigin: "epoch"}}
	return m
}

// Job adds a job that takes some seconds.
func (m *Trace) Job(start, seconds float64) schema.Key {
	k := schema.Key(len(m.Jobs) + 1)
	m.Jobs = append(m.Jobs, schema.Job{JobID: k, ApplicationID: 1, NativeID: fmt.Sprint(k), SubmitTime: schema.Some(Origin.Add(start)),
		StartTime: schema.Some(Origin.Add(start)), FinishTime: schema.Some(Origin.Add(start + seconds)), Status: schema.RunSucceeded})
	return k
}

// Phase adds a phase whose tasks start together and take these seconds, each on a machine of its own in turn of eight.
func (m *Trace) Phase(job schema.Key, start float64, seconds ...float64) schema.Key {
	p := schema.Key(len(m.Phases) + 1)
	longest := 0.0
	for i, s := range seconds {
		longest = max(longest, s)
		m.next++
		m.Attempts = append(m.Attempts, schema.Attempt{AttemptID: m.next, PhaseID: p, JobID: job, ApplicationID: 1,
			Task: int64(i), NativeID: fmt.Sprint(m.next),
			Machine: schema.Some(fmt.Sprintf("m%d", i%8+1)), StartTime: schema.Some(Origin.Add(start)), FinishTime: schema.Some(Origin.Add(start + s)),
			DurationS: schema.Some(s), Status: schema.Success, InputBytes: schema.Some(int64(1 << 20))})
	}
	m.Phases = append(m.Phases, schema.Phase{PhaseID: p, JobID: job, NativeID: fmt.Sprint(p), Kind: "map", Status: schema.RunSucceeded,
		StartTime: schema.Some(Origin.Add(start)), FinishTime: schema.Some(Origin.Add(start + longest))})
	return p
}

// LittleTraces returns traces with nothing, or too little, to judge.
func LittleTraces() map[string]*schema.Trace {
	single, equal, zero, unknown := NewTrace(), NewTrace(), NewTrace(), NewTrace()
	single.Phase(single.Job(0, 5), 0, 5)
	equal.Phase(equal.Job(0, 5), 0, 5, 5, 5, 5, 5)
	zero.Phase(zero.Job(0, 0), 0, 0, 0, 0, 0)
	p := unknown.Phase(unknown.Job(0, 5), 0, 5, 5, 50)
	noTime := schema.Null[schema.Time]{}
	for i := range unknown.Attempts {
		a := &unknown.Attempts[i]
		a.Machine, a.StartTime, a.FinishTime, a.DurationS, a.InputBytes = schema.Null[string]{}, noTime, noTime, schema.Null[float64]{}, schema.Null[int64]{}
	}
	unknown.Phases[p-1].StartTime, unknown.Phases[p-1].FinishTime = noTime, noTime
	unknown.Jobs[0].SubmitTime, unknown.Jobs[0].StartTime, unknown.Jobs[0].FinishTime = noTime, noTime, noTime
	return map[string]*schema.Trace{"nothing": &NewTrace().Trace, "one task": &single.Trace, "all alike": &equal.Trace,
		"no duration": &zero.Trace, "no times": &unknown.Trace}
}
