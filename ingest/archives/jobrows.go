package archives

import (
	"context"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// jobRows makes the rows of formats in which every record is an application with one job.
type jobRows struct {
	in         *ingest.Input
	framework  string
	out        *ingest.Sink
	apps, jobs *schema.Keys
	first      schema.Key
	trace      schema.Trace
}

// add completes the two rows and returns the application's key.
func (r *jobRows) add(a schema.Application, j schema.Job) schema.Key {
	a.ApplicationID, a.Framework, a.SourceFile, a.Complete = r.apps.Next(), r.framework, r.in.Name, true
	if a.Status == "" {
		a.Status = schema.RunUnknown
	}
	if r.first == 0 {
		r.first = a.ApplicationID
	}
	j.JobID, j.ApplicationID, j.NativeID, j.Status = r.jobs.Next(), a.ApplicationID, a.NativeID, a.Status
	r.trace.Applications = append(r.trace.Applications, a)
	r.trace.Jobs = append(r.trace.Jobs, j)
	return a.ApplicationID
}

// caveat emits a caveat once for the whole input, on its first application.
func (r *jobRows) caveat(code, detail string) {
	if r.first != 0 {
		r.trace.Caveats = append(r.trace.Caveats, schema.Caveat{ApplicationID: r.first, Code: code, Detail: detail})
	}
}

// caveatOf is a caveat about n rows, if there are any.
func (r *jobRows) caveatOf(n int64, code, detail string) {
	if r.first != 0 && n > 0 {
		r.trace.Caveats = append(r.trace.Caveats, schema.Caveat{ApplicationID: r.first, Code: code, Count: schema.Some(n), Detail: detail})
	}
}

const flushRows = 4096

func (r *jobRows) flush(all bool) error {
	t := &r.trace
	if !all && len(t.Jobs) < flushRows {
		return nil
	}
	err := ingest.EmitTrace(r.out, t)
	r.trace = schema.Trace{}
	return err
}

// eachLine calls take for the lines of all parts.
func eachLine(ctx context.Context, in *ingest.Input, out *ingest.Sink, take func(ingest.Part, read.Line) error) error {
	for _, p := range in.Parts {
		if err := read.EachLine(ctx, p, out, func(line read.Line) error { return take(p, line) }); err != nil {
			return err
		}
	}
	return nil
}
