package read

import (
	"straggler/ingest"
	"straggler/schema"
)

// Application builds the rows of an input that is one application. Attempts go to the sink as they come, the rest with
// Emit.
type Application struct {
	Trace schema.Trace // its first application is the one

	out                    *ingest.Sink
	jobs, phases, attempts *schema.Keys
	index                  map[phaseName]int // position of a phase
	jobOf                  []int             // by phase
	jobIndex               map[string]int
}

type phaseName struct {
	job  int
	name string
}

// NewApplication begins the rows of an input.
func NewApplication(in *ingest.Input, out *ingest.Sink, framework string) *Application {
	a := &Application{
		out: out, jobs: schema.NewKeys(in.Key, "jobs"), phases: schema.NewKeys(in.Key, "phases"), attempts: schema.NewKeys(in.Key, "attempts"),
		index: map[phaseName]int{}, jobIndex: map[string]int{},
	}
	a.Trace.Applications = []schema.Application{{
		ApplicationID: schema.NewKeys(in.Key, "applications").Nth(0), NativeID: in.Base, Framework: framework, Status: schema.RunUnknown,
		SourceFile: in.Name, Complete: true, TimeOrigin: "epoch",
	}}
	return a
}

// Job is the position in the trace of a job, which is added when it is first named.
func (a *Application) Job(native string) int {
	n, ok := a.jobIndex[native]
	if !ok {
		n = len(a.Trace.Jobs)
		a.jobIndex[native] = n
		a.Trace.Jobs = append(a.Trace.Jobs, schema.Job{
			JobID: a.jobs.Next(), ApplicationID: a.Trace.Applications[0].ApplicationID, NativeID: Text(native), Status: schema.RunUnknown,
		})
	}
	return n
}

// Phase is the position in the trace of a job's phase, which is added when it is first named.
func (a *Application) Phase(job int, name, kind string) int {
	n, ok := a.index[phaseName{job, name}]
	if !ok {
		n = len(a.Trace.Phases)
		a.index[phaseName{job, name}], a.jobOf = n, append(a.jobOf, job)
		a.Trace.Phases = append(a.Trace.Phases, schema.Phase{
			PhaseID: a.phases.Next(), JobID: a.Trace.Jobs[job].JobID, NativeID: Text(name), Name: NullText(name), Kind: kind, Status: schema.RunUnknown,
			TaskCount: schema.Some(int64(0)),
		})
	}
	return n
}

// Task counts a new task of a phase and gives its index.
func (a *Application) Task(phase int) int64 {
	count := &a.Trace.Phases[phase].TaskCount.V
	*count++
	return *count - 1
}

// Attempt begins the row of an attempt.
func (a *Application) Attempt(phase int) schema.Attempt {
	p := &a.Trace.Phases[phase]
	return schema.Attempt{
		AttemptID: a.attempts.Next(), PhaseID: p.PhaseID, JobID: p.JobID, ApplicationID: a.Trace.Applications[0].ApplicationID,
		Quality: schema.RackUnknown,
	}
}

// flushRows is how many attempts wait before they go to the sink.
const flushRows = 4096

// Add takes the row of an attempt, whose times widen those of its phase.
func (a *Application) Add(phase int, row *schema.Attempt) error {
	a.Trace.Phases[phase].ExtendWindow(row)
	if a.Trace.Attempts = append(a.Trace.Attempts, *row); len(a.Trace.Attempts) < flushRows {
		return nil
	}
	err := ingest.Emit(a.out, a.Trace.Attempts)
	a.Trace.Attempts = a.Trace.Attempts[:0]
	return err
}

// Widen gives jobs and the application the times from the first start to the last finish of their phases.
func (a *Application) Widen() {
	app := &a.Trace.Applications[0]
	for i := range a.Trace.Phases {
		p, job := &a.Trace.Phases[i], &a.Trace.Jobs[a.jobOf[i]]
		Widen(&job.StartTime, &job.FinishTime, p.StartTime, p.FinishTime)
		Widen(&app.StartTime, &app.FinishTime, p.StartTime, p.FinishTime)
	}
}

// Edge adds a dependency between two phases of a job.
func (a *Application) Edge(from, to int) {
	p, q := &a.Trace.Phases[from], &a.Trace.Phases[to]
	a.Trace.Edges = append(a.Trace.Edges, schema.Edge{JobID: p.JobID, FromPhase: p.PhaseID, ToPhase: q.PhaseID, Pattern: schema.UnknownPattern})
}

// Caveat says what to know of the application.
func (a *Application) Caveat(code, detail string) {
	a.Trace.Caveats = append(a.Trace.Caveats, schema.Caveat{ApplicationID: a.Trace.Applications[0].ApplicationID, Code: code, Detail: detail})
}

// CaveatOf says it of so many rows, and nothing of none.
func (a *Application) CaveatOf(n int64, code, detail string) {
	if n > 0 {
		a.Caveat(code, detail)
		a.Trace.Caveats[len(a.Trace.Caveats)-1].Count = schema.Some(n)
	}
}

// Emit gives all rows that wait to the sink. An input without a record that was decoded is no application.
func (a *Application) Emit() error {
	if a.out.Counts().Decoded == 0 { // blank, or no log of the format
		return nil
	}
	return ingest.EmitTrace(a.out, &a.Trace)
}
