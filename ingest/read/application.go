package read

import (
	"straggler/ingest"
	"straggler/schema"
)

// Application builds the rows of an input that is one application. Attempts go to the sink as they are read, all other rows
// with Emit.
type Application struct {
	Trace schema.Trace // its first application is this one

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

// NewApplication starts the rows of an input.
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

// Job returns the position of a job in the trace. The job is added when it is first named.
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

// Phase returns the position in the trace of a job's phase. The phase is added when it is first named.
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

// Task counts a new task of a phase and returns its index.
func (a *Application) Task(phase int) int64 {
	count := &a.Trace.Phases[phase].TaskCount.V
	*count++
	return *count - 1
}

// Attempt starts the row of an attempt.
func (a *Application) Attempt(phase int) schema.Attempt {
	p := &a.Trace.Phases[phase]
	return schema.Attempt{
		AttemptID: a.attempts.Next(), PhaseID: p.PhaseID, JobID: p.JobID, ApplicationID: a.Trace.Applications[0].ApplicationID,
		Quality: schema.RackUnknown,
	}
}

// flushRows is the number of attempts collected before they go to the sink.
const flushRows = 4096

// Add adds the row of an attempt, and extends the times of its phase to include the attempt's.
func (a *Application) Add(phase int, row *schema.Attempt) error {
	a.Trace.Phases[phase].ExtendWindow(row)
	if a.Trace.Attempts = append(a.Trace.Attempts, *row); len(a.Trace.Attempts) < flushRows {
		return nil
	}
	err := ingest.Emit(a.out, a.Trace.Attempts)
	a.Trace.Attempts = a.Trace.Attempts[:0]
	return err
}

// Widen sets the times of jobs and the application from the first start to the last finish of their phases.
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

// Caveat adds a caveat about the application.
func (a *Application) Caveat(code, detail string) {
	a.Trace.Caveats = append(a.Trace.Caveats, schema.Caveat{ApplicationID: a.Trace.Applications[0].ApplicationID, Code: code, Detail: detail})
}

// CaveatOf adds a caveat about n rows, unless n is 0.
func (a *Application) CaveatOf(n int64, code, detail string) {
	if n > 0 {
		a.Caveat(code, detail)
		a.Trace.Caveats[len(a.Trace.Caveats)-1].Count = schema.Some(n)
	}
}

// Emit sends all remaining rows to the sink. An input without a decoded record is not an application.
func (a *Application) Emit() error {
	if a.out.Counts().Decoded == 0 { // blank, or not a log of the format
		return nil
	}
	return ingest.EmitTrace(a.out, &a.Trace)
}
