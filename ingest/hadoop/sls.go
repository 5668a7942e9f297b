package hadoop

import (
	"bytes"
	"context"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// SLS returns the format of the input of YARN's Scheduler Load Simulator: jobs with their containers, and node files.
func SLS() ingest.Format {
	return ingest.Format{
		Name: "sls",
		Doc:  "YARN Scheduler Load Simulator: job traces (am.type, job.tasks) and node files",
		Detail: `A container is an attempt on the host that it requested; times count from the start of the simulation (time_origin trace). There
are no retries, outcomes or bytes: a container with an end counts as successful, and other columns stay NULL.
container.request.delay is the time from the job's start to the request. count repeats a container or a job. Nodes with memory-mb
and vcores fill machines. SYNTH input describes distributions and is not a log.`,
		Sniff: sniffSLS,
		Read:  readSLS,
	}
}

func sniffSLS(h ingest.Head) ingest.Match {
	for _, key := range []string{`"job.tasks"`, `"am.type"`, `"yarn.sls.am.type"`, `"job.start.ms"`, `"container.start.ms"`} {
		if bytes.Contains(h.Bytes, []byte(key)) {
			return ingest.Match{Confidence: ingest.Certain, Why: "has the key " + key}
		}
	}
	b := bytes.TrimLeft(h.Bytes, " \t\r\n")
	if len(b) > 0 && b[0] == '{' && bytes.Contains(b, []byte(`"rack"`)) && bytes.Contains(b, []byte(`"nodes"`)) && bytes.Contains(b, []byte(`"node"`)) {
		return ingest.Match{Confidence: 2, Why: "objects of rack and nodes"}
	}
	return ingest.Match{}
}

// slsObject is a header, a job, or a rack of a node file.
type slsObject struct {
	Rack  string `json:"rack"`
	Nodes []struct {
		Node     string         `json:"node"`
		MemoryMB numberOrAbsent `json:"memory-mb"`
		Cores    numberOrAbsent `json:"vcores"`
	} `json:"nodes"`

	AMType string    `json:"am.type"`
	Start  int64     `json:"job.start.ms"`
	End    int64     `json:"job.end.ms"`
	Queue  string    `json:"job.queue.name"`
	ID     string    `json:"job.id"`
	User   string    `json:"job.user"`
	Count  int64     `json:"job.count"`
	Tasks  []slsTask `json:"job.tasks"`
}

type slsTask struct {
	Count    int64          `json:"count"`
	Host     string         `json:"container.host"`
	Start    numberOrAbsent `json:"container.start.ms"`
	End      numberOrAbsent `json:"container.end.ms"`
	Took     numberOrAbsent `json:"container.duration.ms"` // since 3.0
	Duration numberOrAbsent `json:"duration.ms"`
	Delay    numberOrAbsent `json:"container.request.delay"` // ms after the job's start
	Type     string         `json:"container.type"`
}

// numberOrAbsent distinguishes 0, which is the start of the simulation, from a missing key.
type numberOrAbsent struct {
	n  int64
	ok bool
}

func (u *numberOrAbsent) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseInt(string(bytes.Trim(b, `"`)), 10, 64)
	u.n, u.ok = n, err == nil
	return nil
}

const maxSLSCount = 1_000_000 // rows that one count may create

func readSLS(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	s := slsReader{rows: newRows(in.Key, in.Name, "yarn"), out: out}
	var errs []error
	for _, p := range in.Parts {
		errs = append(errs, readObjects(ctx, p, out, 0, s.take))
	}
	return errors.Join(errs...)
}

type slsReader struct {
	rows *rows
	out  *ingest.Sink
}

func (s *slsReader) take(dec *jsontext.Decoder) error {
	var o slsObject
	if err := json.UnmarshalDecode(dec, &o); err != nil {
		return err
	}
	if o.Rack != "" {
		s.nodes(&o)
	}
	if o.AMType == "" && len(o.Tasks) == 0 {
		return s.rows.emit(s.out)
	}
	if o.Count > maxSLSCount {
		return errors.New("job.count is more than a million")
	}
	for range max(o.Count, 1) {
		if err := s.job(&o); err != nil {
			return err
		}
		if err := s.rows.emit(s.out); err != nil {
			return err
		}
	}
	return nil
}

// nodes lists the machines of a rack. Some node files end in empty nodes.
func (s *slsReader) nodes(o *slsObject) {
	for _, n := range o.Nodes {
		if n.Node == "" {
			continue
		}
		m := schema.Machine{Machine: read.Text(n.Node), Rack: read.NullText(rackOf(o.Rack))}
		if n.Cores.ok && n.Cores.n > 0 {
			m.Cores = schema.Some(float64(n.Cores.n))
		}
		if n.MemoryMB.ok && n.MemoryMB.n > 0 && n.MemoryMB.n < 1<<40 {
			m.MemoryBytes = schema.Some(n.MemoryMB.n << 20)
		}
		s.rows.out.Machines = append(s.rows.out.Machines, m)
	}
}

func (s *slsReader) job(o *slsObject) error {
	r := s.rows
	app, id := r.applications.Next(), r.jobs.Next()
	start, end := schema.Some(schema.FromMillis(o.Start)), schema.Null[schema.Time]{}
	if o.End > o.Start {
		end = schema.Some(schema.FromMillis(o.End))
	}
	r.out.Applications = append(r.out.Applications, schema.Application{
		ApplicationID: app, NativeID: o.ID, User: read.NullText(o.User), Queue: read.NullText(o.Queue), Framework: "yarn",
		StartTime: start, FinishTime: end, Status: schema.RunUnknown, SourceFile: r.source, Complete: true, TimeOrigin: "trace",
	})
	r.out.Caveats = append(r.out.Caveats,
		schema.Caveat{ApplicationID: app, Code: "no_bytes",
			Detail: "the input of the simulator has no bytes and no records: slowness is judged by duration alone"},
		schema.Caveat{ApplicationID: app, Code: "host_requested", Detail: "a container's host is the one that it asked for; it may have run elsewhere"})
	first := schema.Null[schema.Time]{}
	for _, k := range []kind{mapTask, reduceTask} {
		p := schema.Phase{JobID: id, NativeID: k.String(), Name: read.NullText(k.String()), Kind: k.String(), SubmitTime: start, Status: schema.RunUnknown}
		var n int64
		for i := range o.Tasks {
			if t := &o.Tasks[i]; t.kind() == k {
				if n == 0 {
					p.PhaseID = r.phases.Next()
				}
				if t.Count > maxSLSCount {
					return errors.New("count is more than a million containers")
				}
				for range max(t.Count, 1) {
					row := s.attempt(t, n)
					if queued := schema.Some(schema.FromMillis(o.Start + t.Delay.n)); t.Delay.ok && t.Delay.n >= 0 && !before(row.StartTime, queued) {
						row.QueuedTime = queued
					}
					row.ApplicationID, row.JobID, row.PhaseID = app, id, p.PhaseID
					r.out.Attempts = append(r.out.Attempts, row)
					p.ExtendWindow(&row)
					n++
				}
			}
		}
		if n > 0 {
			p.TaskCount = schema.Some(n)
			r.out.Phases = append(r.out.Phases, p)
			if !first.OK || p.StartTime.OK && p.StartTime.V < first.V {
				first = p.StartTime
			}
		}
	}
	r.out.Jobs = append(r.out.Jobs, schema.Job{JobID: id, ApplicationID: app, NativeID: o.ID, SubmitTime: start, StartTime: first,
		FinishTime: end, Status: schema.RunUnknown})
	return nil
}

func (t *slsTask) kind() kind {
	if t.Type == "reduce" {
		return reduceTask
	}
	return mapTask
}

func (s *slsReader) attempt(t *slsTask, task int64) schema.Attempt {
	p := locationOf(t.Host)
	row := schema.Attempt{
		AttemptID: s.rows.attemptKeys.Next(), Task: task, NativeID: strconv.FormatInt(task, 10),
		Machine: read.NullText(p.host), Rack: read.NullText(p.rack), Status: schema.UnknownStatus, Speculative: schema.Some(false),
		Quality: schema.MetricsMissing,
	}
	if !row.Rack.OK {
		row.Quality |= schema.RackUnknown
	}
	if t.Took.ok {
		t.Duration = t.Took
	}
	if t.Start.ok && t.Start.n >= 0 {
		row.StartTime = schema.Some(schema.FromMillis(t.Start.n))
		end := t.End
		if !end.ok && t.Duration.ok {
			end = numberOrAbsent{t.Start.n + t.Duration.n, true}
		}
		if end.ok && end.n >= t.Start.n {
			row.FinishTime = schema.Some(schema.FromMillis(end.n))
		}
	}
	switch {
	case row.StartTime.OK && row.FinishTime.OK:
		row.DurationS = schema.Some(row.FinishTime.V.Sub(row.StartTime.V))
	case t.Duration.ok && t.Duration.n >= 0:
		row.DurationS = schema.Some(float64(t.Duration.n) / 1000)
	}
	if row.DurationS.OK { // the simulator's containers neither fail nor are killed
		row.Status = schema.Success
	}
	if !row.FinishTime.OK {
		row.Quality |= schema.PartialRow
	}
	return row
}
