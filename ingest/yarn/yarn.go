package yarn

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// Format returns the format of a ResourceManager log, or a file of summary lines.
func Format() ingest.Format {
	return ingest.Format{
		Name: "yarn",
		Doc:  "YARN ResourceManager application summaries (appId=…,name=…,user=… lines), lists of applications as JSON, and the output of 'yarn application'",
		Detail: `A summary line is an application with one job: its name, user, queue, times and final status. There are no tasks, and no machine
but that of the application master, so nothing can be called slow; the lines tell when and in which queue work ran. memorySeconds,
vcoreSeconds and preempted resources are settings (yarn.memory_seconds, …). Other lines of the log are skipped. The JSON answer of
/ws/v1/cluster/apps contains the same. 'yarn application -list' prints a table without times, and -status a report with times.`,
		Experimental: "applications have no tasks, so nothing can be called slow; only summary lines were tried on real ones, and the other layouts follow the documentation",
		Sniff:        sniff,
		Read:         readLog,
	}
}

func sniff(h ingest.Head) ingest.Match {
	if b := bytes.TrimLeft(h.Bytes, " \t\r\n"); len(b) > 0 && b[0] == '{' {
		if bytes.Contains(b, []byte(`"application_`)) && bytes.Contains(b, []byte(`"finalStatus"`)) {
			return ingest.Match{Confidence: ingest.Certain, Why: "applications with finalStatus, as the ResourceManager lists them"}
		}
		return ingest.Match{}
	}
	for line := range bytes.Lines(h.Bytes) {
		if _, ok := summary(line); ok {
			return ingest.Match{Confidence: ingest.Certain, Why: "lines with appId=application_…"}
		}
		if tableHeader(line) || reportHeader(line) {
			return ingest.Match{Confidence: ingest.Certain, Why: "output of 'yarn application'"}
		}
	}
	return ingest.Match{}
}

var appID = []byte("appId=application_")

// kept lists the counters of a summary that become settings.
var kept = []struct{ key, setting string }{
	{"memorySeconds", "yarn.memory_seconds"}, {"vcoreSeconds", "yarn.vcore_seconds"},
	{"preemptedMemorySeconds", "yarn.preempted_memory_seconds"}, {"preemptedVcoreSeconds", "yarn.preempted_vcore_seconds"},
	{"preemptedAMContainers", "yarn.preempted_am_containers"}, {"preemptedNonAMContainers", "yarn.preempted_non_am_containers"},
}

func readLog(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	r := reader{in: in, out: out, seen: map[string]bool{}, apps: schema.NewKeys(in.Key, "applications"), jobs: schema.NewKeys(in.Key, "jobs")}
	for _, p := range in.Parts {
		if err := r.part(ctx, p); err != nil {
			r.endReport(p)
			return errors.Join(err, r.flush(true))
		}
		r.endReport(p)
		r.cli = cli{}
	}
	r.noTimes()
	return r.flush(true)
}

type reader struct {
	in         *ingest.Input
	out        *ingest.Sink
	apps, jobs *schema.Keys
	cli        cli
	seen       map[string]bool // by application id
	timeless   int64           // applications of tables, which have no times
	trace      schema.Trace
}

// part reads summaries line by line, or a list of applications.
func (r *reader) part(ctx context.Context, p ingest.Part) error {
	f, err := p.Open(ctx)
	if err != nil {
		return err
	}
	br := bufio.NewReader(f)
	head, _ := br.Peek(512)
	if b := bytes.TrimLeft(head, " \t\r\n"); len(b) > 0 && b[0] == '{' {
		return errors.Join(r.list(p, br), f.Close())
	}
	p.Open = func(context.Context) (io.ReadCloser, error) { // the rest comes from the same reader
		return struct {
			io.Reader
			io.Closer
		}{br, f}, nil
	}
	return read.EachLine(ctx, p, r.out, func(line read.Line) error { return r.line(p, line) })
}

func (r *reader) line(p ingest.Part, line read.Line) error {
	b, ok := summary(line.Data)
	if !ok {
		if r.cliLine(p, line) {
			return r.flush(false)
		}
		r.out.Decoded(1)
		return nil
	}
	m, err := pairs(b)
	if err != nil {
		read.RejectLine(r.out, p, line, err.Error())
		return nil
	}
	if !r.application(m) {
		read.RejectLine(r.out, p, line, twice)
		return nil
	}
	r.out.Decoded(1)
	return r.flush(false)
}

// pairs splits key=value pairs at commas. Commas, equals signs and backslashes within values are escaped by a backslash;
// unescaped angle brackets group resources: <memory:1024, vCores:1>.
func pairs(b []byte) (map[string]string, error) {
	m := map[string]string{}
	var key, text []byte
	inValue := false
	depth := 0
	end := func() {
		if inValue {
			m[string(bytes.TrimSpace(key))] = string(text)
		}
		key, text, inValue = nil, nil, false
	}
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case c == '\\' && i+1 < len(b):
			i++
			text = append(text, b[i])
		case c == ',' && depth == 0:
			end()
		case c == '=' && !inValue:
			key, text, inValue = text, nil, true
		default:
			if c == '<' {
				depth++
			} else if c == '>' && depth > 0 {
				depth--
			}
			text = append(text, c)
		}
		if len(m) > 200 {
			return nil, errors.New("more than 200 pairs")
		}
	}
	end()
	return m, nil
}

// summary finds the pairs in a summary line, after whatever a logger wrote before them.
func summary(line []byte) ([]byte, bool) {
	i := bytes.Index(line, appID)
	if i < 0 || i > 0 && line[i-1] != ' ' && line[i-1] != '\t' {
		return nil, false
	}
	return bytes.TrimRight(line[i:], "\r\n"), true
}

func (r *reader) flush(all bool) error {
	if !all && len(r.trace.Jobs) < 4096 {
		return nil
	}
	err := ingest.EmitTrace(r.out, &r.trace)
	r.trace.Reset()
	return err
}

// maxSeen bounds the applications that are remembered, at a hundred bytes each.
const maxSeen = 1_000_000

// twice is the reason for rejecting an application: a restarted ResourceManager logs ended applications again.
const twice = "the application was there before, and is taken from there"

// application emits an application, unless it was seen before.
func (r *reader) application(m map[string]string) bool {
	if id := m["appId"]; r.seen[id] {
		return false
	} else if len(r.seen) < maxSeen {
		r.seen[id] = true
	}
	status, ended := statusOf(m)
	a := schema.Application{
		ApplicationID: r.apps.Next(), NativeID: read.Text(m["appId"]), Name: read.NullText(m["name"]), User: read.NullText(m["user"]),
		Queue: read.NullText(m["queue"]), Framework: strings.ToLower(cmp.Or(read.Text(m["applicationType"]), "yarn")),
		StartTime:  read.MillisText(m["startTime"]),
		FinishTime: read.MillisText(m["finishTime"]), Status: status, SourceFile: r.in.Name, Complete: ended, TimeOrigin: "epoch",
	}
	if s := read.MillisText(m["submitTime"]); s.OK {
		a.StartTime = s
	}
	if a.StartTime.OK && a.FinishTime.OK && a.FinishTime.V < a.StartTime.V {
		a.FinishTime = schema.Null[schema.Time]{}
	}
	r.trace.Applications = append(r.trace.Applications, a)
	r.trace.Jobs = append(r.trace.Jobs, schema.Job{
		JobID: r.jobs.Next(), ApplicationID: a.ApplicationID, NativeID: a.NativeID, Name: a.Name, SubmitTime: a.StartTime,
		StartTime: read.MillisText(m["launchTime"]), FinishTime: a.FinishTime, Status: status,
	})
	for _, k := range kept {
		if v := m[k.key]; v != "" {
			r.trace.Settings = append(r.trace.Settings, schema.Setting{ApplicationID: a.ApplicationID, Name: k.setting, Value: read.Text(v)})
		}
	}
	if len(r.trace.Caveats) == 0 && r.apps.Nth(0) == a.ApplicationID {
		r.trace.Caveats = append(r.trace.Caveats, schema.Caveat{ApplicationID: a.ApplicationID, Code: "no_tasks",
			Detail: "summaries have applications but no tasks: nothing in them can be called slow"})
	}
	return true
}

// statusOf combines finalStatus, which the application reports, with state, which says whether YARN saw it end.
func statusOf(m map[string]string) (status schema.RunStatus, ended bool) {
	switch m["state"] {
	case "FINISHED", "FAILED", "KILLED":
		ended = true
	}
	switch m["finalStatus"] {
	case "SUCCEEDED":
		return schema.RunSucceeded, ended
	case "FAILED":
		return schema.RunFailed, ended
	case "KILLED":
		return schema.RunKilled, ended
	}
	if !ended && m["state"] != "" {
		return schema.RunRunning, false
	}
	return schema.RunUnknown, ended
}
