package philly

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// loggedJob is an element of cluster_job_log.
type loggedJob struct {
	Status    text        `json:"status"`
	VC        text        `json:"vc"`
	JobID     text        `json:"jobid"`
	Submitted text        `json:"submitted_time"`
	User      text        `json:"user"`
	Attempts  []loggedRun `json:"attempts"`
}

// loggedRun is an attempt of a job: all its machines start and end together.
type loggedRun struct {
	Start  text `json:"start_time"`
	End    text `json:"end_time"`
	Detail []struct {
		IP text `json:"ip"`
	} `json:"detail"`
}

// text is a string; null, the word None, and values that are neither string nor number are missing.
type text string

func (t *text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case '"', '0':
		v, err := dec.ReadToken()
		if *t = text(v.String()); *t == "None" {
			*t = ""
		}
		return err
	}
	return dec.SkipValue()
}

func readLog(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	r := reader{
		in: in, out: out, apps: schema.NewKeys(in.Key, "applications"), jobs: schema.NewKeys(in.Key, "jobs"),
		phases: schema.NewKeys(in.Key, "phases"), attempts: schema.NewKeys(in.Key, "attempts"),
	}
	var errs []error
	for _, p := range in.Parts {
		errs = append(errs, r.part(ctx, p))
	}
	return errors.Join(append(errs, r.flush())...)
}

type reader struct {
	in                           *ingest.Input
	out                          *ingest.Sink
	apps, jobs, phases, attempts *schema.Keys
	said                         bool
	trace                        schema.Trace
}

// part reads the job log, or a side table recognised by its header.
func (r *reader) part(ctx context.Context, p ingest.Part) error {
	f, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	dec := read.NewJSON(f)
	if dec.PeekKind() != '[' {
		return r.sideTable(ctx, p)
	}
	return read.EachObject(ctx, p, dec, r.out, func(v jsontext.Value) (unusable, err error) {
		var j loggedJob
		if err := read.UnmarshalJSON(v, &j); err != nil {
			return fmt.Errorf("not a job of the log: %w", err), nil
		}
		r.job(&j)
		if len(r.trace.Attempts) < 4096 {
			return nil, nil
		}
		return nil, r.flush()
	})
}

func (r *reader) flush() error {
	err := ingest.EmitTrace(r.out, &r.trace)
	r.trace = schema.Trace{}
	return err
}

func (r *reader) job(l *loggedJob) {
	app, job := r.apps.Next(), r.jobs.Next()
	if !r.said {
		r.said = true
		const all = "; said of the first application for the whole trace"
		r.trace.Caveats = append(r.trace.Caveats,
			schema.Caveat{ApplicationID: app, Code: "gang",
				Detail: "the machines of a job start and end together: none of them can be called slower than another" + all},
			schema.Caveat{ApplicationID: app, Code: "no_bytes", Detail: "the trace has no bytes and no records" + all},
			schema.Caveat{ApplicationID: app, Code: "time_zone_unknown", Detail: "times are local without a zone and taken as UTC" + all})
	}
	a := schema.Application{
		ApplicationID: app, NativeID: read.Text(string(l.JobID)), User: read.NullText(string(l.User)), Queue: read.NullText(string(l.VC)), Framework: "philly",
		StartTime: instant(string(l.Submitted)), Status: runStatus(string(l.Status)), SourceFile: r.in.Name, Complete: true, TimeOrigin: "epoch",
	}
	p := schema.Phase{
		PhaseID: r.phases.Next(), JobID: job, NativeID: a.NativeID, Kind: "gang", SubmitTime: a.StartTime, Status: a.Status, Gang: true,
	}
	tasks := 0
	for n := range l.Attempts {
		r.run(l, n, app, job, &p)
		tasks = max(tasks, len(l.Attempts[n].Detail), 1)
	}
	if len(l.Attempts) > 0 {
		p.TaskCount = schema.Some(int64(tasks))
	}
	if p.SubmitTime.OK && p.StartTime.OK && p.SubmitTime.V > p.StartTime.V { // what started had been submitted by then
		p.SubmitTime, a.StartTime = p.StartTime, p.StartTime
	}
	a.FinishTime = p.FinishTime
	r.trace.Applications = append(r.trace.Applications, a)
	r.trace.Phases = append(r.trace.Phases, p)
	r.trace.Jobs = append(r.trace.Jobs, schema.Job{
		JobID: job, ApplicationID: app, NativeID: a.NativeID, SubmitTime: a.StartTime, StartTime: p.StartTime, FinishTime: p.FinishTime, Status: a.Status,
	})
}

// run emits the gang of an attempt: a row per machine, or one row without a machine if the log names none.
func (r *reader) run(l *loggedJob, n int, app, job schema.Key, p *schema.Phase) {
	run := &l.Attempts[n]
	start, end := instant(string(run.Start)), instant(string(run.End))
	machines := make([]string, 0, max(len(run.Detail), 1))
	for _, d := range run.Detail {
		machines = append(machines, string(d.IP))
	}
	if len(machines) == 0 {
		machines = append(machines, "")
	}
	for task, ip := range machines {
		row := schema.Attempt{
			AttemptID: r.attempts.Next(), PhaseID: p.PhaseID, JobID: job, ApplicationID: app, Task: int64(task), Number: int32(n),
			NativeID: read.Text(string(l.JobID)) + "/" + strconv.Itoa(n) + "/" + strconv.Itoa(task), Machine: read.NullText(ip),
			StartTime: start, FinishTime: end, Status: attemptStatus(l, n, end.OK), Speculative: schema.Some(false),
			Quality: schema.GangMember | schema.RackUnknown | schema.MetricsMissing,
		}
		if n == 0 {
			row.QueuedTime = instant(string(l.Submitted))
		}
		switch {
		case start.OK && end.OK && end.V >= start.V:
			row.DurationS = schema.Some(end.V.Sub(start.V))
		case start.OK && end.OK:
			row.FinishTime = schema.Null[schema.Time]{}
			row.Quality |= schema.TimeRepaired | schema.PartialRow
		default:
			row.Quality |= schema.PartialRow
		}
		row.DropLateQueue()
		p.ExtendWindow(&row)
		r.trace.Attempts = append(r.trace.Attempts, row)
	}
}

// attemptStatus derives the status of an attempt, since the log has one for the job only. An attempt followed by another did
// not succeed; the last ended as the job did.
func attemptStatus(l *loggedJob, n int, ended bool) schema.AttemptStatus {
	if n < len(l.Attempts)-1 {
		return schema.Failed
	}
	switch l.Status {
	case "Pass":
		return schema.Success
	case "Failed":
		return schema.Failed
	case "Killed":
		return schema.Killed
	}
	if !ended {
		return schema.Running
	}
	return schema.UnknownStatus
}

func runStatus(word string) schema.RunStatus {
	switch word {
	case "Pass":
		return schema.RunSucceeded
	case "Failed":
		return schema.RunFailed
	case "Killed":
		return schema.RunKilled
	}
	return schema.RunUnknown
}

// instant reads YYYY-MM-DD HH:MM:SS. In side tables PST or PDT follows, and the same clock is meant as in the job log, which names
// no zone: the trace's own analysis joins the two without it. Missing times are null, empty, or the word None.
func instant(s string) schema.Null[schema.Time] {
	text := strings.TrimSpace(s)
	text = strings.TrimSuffix(strings.TrimSuffix(text, " PST"), " PDT")
	return read.ParseTime(text, time.DateTime)
}
