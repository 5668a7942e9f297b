package nextflow

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// Format returns the format of Nextflow's execution trace.
func Format() ingest.Format {
	return ingest.Format{
		Name: "nextflow",
		Doc:  "Nextflow execution trace (trace.txt: tab-separated, with a header; plain or raw numbers)",
		Detail: `The run is one application with one job, and a process is a phase. If a trace has both start and complete, the times are measured.
With start alone, a task ends its realtime later; with the default fields it starts at its submission plus duration less realtime
(quality: time synthetic). Input and output are rchar and wchar: all bytes that passed through read and write calls, cached or not.
machine is hostname, a field that has to be requested; without it no slow machine can be found. Cached tasks did not run and have no
row. Times without a zone are taken as UTC, with a caveat. The process graph, racks and remote bytes are not in the trace.`,
		Sniff: sniff,
		Read:  readLog,
	}
}

func sniff(h ingest.Head) ingest.Match {
	line, _, _ := bytes.Cut(h.Bytes, []byte("\n"))
	c, separator := columns(line)
	has := func(names ...string) bool {
		for _, n := range names {
			if _, ok := c[n]; ok {
				return true
			}
		}
		return false
	}
	switch {
	case !has("name", "process"):
	case has("task_id") && has("hash", "status"):
		return ingest.Match{Confidence: ingest.Certain, Why: "a header with task_id, name and status or hash"}
	case has("hash", "native_id") && has("realtime", "duration", "peak_rss", "rchar"):
		return ingest.Match{Confidence: 2, Why: "a header with hash, name and realtime or the like"}
	case separator == "\t" && has("realtime") && has("status", "exit", "submit"):
		return ingest.Match{Confidence: 2, Why: "a header with name, realtime and status or the like"}
	}
	return ingest.Match{}
}

// columns maps the names in a header to their positions. The separator is a tab, or that of trace.sep.
func columns(line []byte) (c map[string]int, separator string) {
	text := strings.TrimRight(string(line), "\r")
	separator = "\t"
	for _, s := range []string{",", ";", "|"} {
		if !strings.Contains(text, "\t") && strings.Contains(text, s) {
			separator = s
			break
		}
	}
	c = map[string]int{}
	for i, name := range strings.Split(text, separator) {
		c[columnName(name)] = i
	}
	return c, separator
}

func columnName(field string) string { return strings.ToLower(strings.Trim(field, " \"")) }

func readLog(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	r := &reader{Application: read.NewApplication(in, out, "nextflow"), out: out, tasks: map[taskName]lastTry{}}
	r.Job(in.Base)
	var err error
	for _, p := range in.Parts {
		r.columns = nil
		if err = read.EachLine(ctx, p, out, func(line read.Line) error { return r.line(p, line) }); err != nil {
			break
		}
	}
	if r.columns == nil && err == nil && out.Counts().Rejects == 0 {
		return errNoHeader
	}
	r.caveats()
	r.Widen()
	return errors.Join(r.Emit(), err)
}

type reader struct {
	*read.Application
	out       *ingest.Sink
	columns   map[string]int
	separator string
	fields    []string
	row       int64
	tasks     map[taskName]lastTry
	noZone    int64 // times without a zone
	noMachine int64 // tasks without a machine
	derived   int64 // starts not in the trace
}

var errNoHeader = errors.New("its first line is not the header of a trace: it has neither name nor process")

type taskName struct {
	phase int
	name  string
}

// maxTasks bounds the memory for names of tasks; beyond it, retries are no longer matched with their tasks.
const maxTasks = 1_000_000

func (r *reader) line(p ingest.Part, line read.Line) error {
	if len(bytes.TrimSpace(line.Data)) == 0 {
		r.out.Decoded(1)
		return nil
	}
	if r.columns == nil {
		c, separator := columns(line.Data)
		_, name := c["name"]
		if _, process := c["process"]; !name && !process {
			return errNoHeader
		}
		r.columns, r.separator = c, separator
		r.out.Decoded(1)
		return nil
	}
	r.fields = strings.Split(strings.TrimRight(string(line.Data), "\r"), r.separator)
	if r.isHeader() {
		r.columns, _ = columns(line.Data)
		r.out.Decoded(1)
		return nil
	}
	if _, ok := r.columns["task_id"]; ok && r.get("task_id") == "" || len(r.fields) > len(r.columns) {
		read.RejectLine(r.out, p, line, "the line does not have the "+strconv.Itoa(len(r.columns))+" fields of the header")
		return nil
	}
	r.out.Decoded(1)
	status := r.get("status")
	if status == "CACHED" {
		return nil
	}
	return r.task(statusOf(status, r.get("exit")))
}

// isHeader reports whether all fields are names of columns, as in concatenated traces.
func (r *reader) isHeader() bool {
	for _, f := range r.fields {
		if _, ok := r.columns[columnName(f)]; !ok {
			return false
		}
	}
	return true
}

// get returns a field by column; - means unknown.
func (r *reader) get(column string) string {
	i, ok := r.columns[column]
	if !ok || i >= len(r.fields) || r.fields[i] == "-" {
		return ""
	}
	return strings.TrimSpace(r.fields[i])
}

func (r *reader) task(status schema.AttemptStatus) error {
	phase := r.phase()
	row := r.Attempt(phase)
	row.NativeID, row.Machine, row.Status, row.Reason = read.Text(r.id()), read.NullText(r.get("hostname")), status, read.NullText(r.get("error_action"))
	row.InputBytes, row.OutputBytes, row.PeakMemoryBytes = size(r.get("rchar")), size(r.get("wchar")), size(r.get("peak_rss"))
	if row.InputBytes == schema.Some[int64](0) { // not measured, and neither were the others: every task reads its script
		row.InputBytes, row.OutputBytes = schema.Null[int64]{}, schema.Null[int64]{}
	}
	if row.PeakMemoryBytes.V == 0 { // too short to be measured: every process uses memory
		row.PeakMemoryBytes = schema.Null[int64]{}
	}
	if !row.Machine.OK {
		r.noMachine++
	}
	r.times(&row)
	row.Task = r.taskOf(phase, &row)
	row.CPUS = r.cpu(&row)
	return r.Add(phase, &row)
}

// cpu returns %cpu, the share of the run's real time, in seconds: the task may have staged its files before and after the run.
func (r *reader) cpu(row *schema.Attempt) schema.Null[float64] {
	ran := duration(r.get("realtime"))
	if !ran.OK {
		ran = row.DurationS
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(r.get("%cpu"), "%"), 64)
	if err != nil || !(percent >= 0 && percent < 1e7) || !ran.OK || percent == 0 && !row.InputBytes.OK {
		return schema.Null[float64]{}
	}
	return schema.Some(percent / 100 * ran.V)
}

// id returns the task's own id; a trace with non-default fields may lack it.
func (r *reader) id() string {
	r.row++
	for _, column := range []string{"task_id", "hash", "native_id"} {
		if id := r.get(column); id != "" {
			return id
		}
	}
	return "row " + strconv.FormatInt(r.row, 10)
}

func (r *reader) phase() int {
	name := r.get("process")
	if name == "" {
		name, _, _ = strings.Cut(r.get("name"), " (")
	}
	return r.Phase(0, name, "process")
}

// taskOf numbers the tasks of a phase. A retry has a task_id of its own and the name of its task. If the trace does not
// number attempts, a task submitted under the same name after the earlier one failed is its retry. Tags need not be unique,
// so one submitted before that is another task.
func (r *reader) taskOf(phase int, row *schema.Attempt) int64 {
	k := taskName{phase, r.get("name")}
	if k.name == "" {
		k.name = r.get("tag")
	}
	before, known := r.tasks[k]
	n, err := strconv.ParseInt(r.get("attempt"), 10, 32)
	numbered := err == nil && n > 0
	switch {
	case numbered:
		row.Number = int32(n - 1)
		if known = known && row.Number > 0; known { // a damaged trace may give two the same number
			row.Number = max(row.Number, before.number+1)
		}
	case known && before.failed && k.name != "" && !earlier(row, before.end):
		row.Number = before.number + 1
	default:
		known = false
	}
	if !known {
		before = lastTry{task: r.Task(phase)}
	}
	before.number, before.failed, before.end = row.Number, row.Status == schema.Failed, row.FinishTime
	if _, there := r.tasks[k]; there || len(r.tasks) < maxTasks {
		r.tasks[k] = before
	}
	return before.task
}

// lastTry is the last attempt of a task.
type lastTry struct {
	task   int64
	number int32
	failed bool
	end    schema.Null[schema.Time]
}

// earlier reports whether an attempt was submitted, or started, before a time.
func earlier(row *schema.Attempt, end schema.Null[schema.Time]) bool {
	from := row.QueuedTime
	if !from.OK {
		from = row.StartTime
	}
	return from.OK && end.OK && from.V < end.V
}

// times sets start, end and duration from start and complete, or else from submit, duration (since submission) and realtime
// (of the run).
func (r *reader) times(row *schema.Attempt) {
	realtime, sinceSubmit := duration(r.get("realtime")), duration(r.get("duration"))
	row.QueuedTime = r.instant("submit")
	row.StartTime, row.FinishTime = r.instant("start"), r.instant("complete")
	if row.Status == schema.Running { // its end is only the time of the report
		row.FinishTime, realtime, sinceSubmit = schema.Null[schema.Time]{}, schema.Null[float64]{}, schema.Null[float64]{}
	}
	row.DropLateQueue()
	if !row.FinishTime.OK && row.QueuedTime.OK && sinceSubmit.OK {
		row.FinishTime = schema.Some(row.QueuedTime.V.Add(sinceSubmit.V))
	}
	if !row.FinishTime.OK && row.StartTime.OK && realtime.OK {
		row.FinishTime = schema.Some(row.StartTime.V.Add(realtime.V))
		row.Quality |= schema.TimeSynthetic
	}
	if !row.StartTime.OK && row.FinishTime.OK && realtime.OK {
		row.StartTime = schema.Some(max(row.FinishTime.V.Add(-realtime.V), row.QueuedTime.V))
		row.Quality |= schema.TimeSynthetic
		r.derived++
	}
	switch {
	case row.StartTime.OK && row.FinishTime.OK && row.FinishTime.V >= row.StartTime.V:
		row.DurationS = schema.Some(row.FinishTime.V.Sub(row.StartTime.V))
	case row.StartTime.OK && row.FinishTime.OK:
		row.FinishTime = schema.Null[schema.Time]{}
		row.Quality |= schema.TimeRepaired | schema.PartialRow
		row.DurationS = realtime
	default:
		row.DurationS = realtime
		row.Quality |= schema.PartialRow
	}
}

func (r *reader) instant(column string) schema.Null[schema.Time] {
	t, zoned := instant(r.get(column))
	if t.OK && !zoned {
		r.noZone++
	}
	return t
}

// statusOf returns the status, derived from the exit code if the trace lacks it.
func statusOf(word, exit string) schema.AttemptStatus {
	switch word {
	case "":
		if code, err := strconv.Atoi(exit); err == nil && code == 0 {
			return schema.Success
		} else if err == nil {
			return schema.Failed
		}
	case "COMPLETED":
		return schema.Success
	case "FAILED":
		return schema.Failed
	case "ABORTED":
		return schema.Killed
	case "RUNNING", "SUBMITTED", "NEW":
		return schema.Running
	}
	return schema.UnknownStatus
}

func (r *reader) caveats() {
	r.CaveatOf(int64(len(r.Trace.Phases)), "no_edges", "the trace does not say which process waits for which")
	r.CaveatOf(r.noMachine, "no_machine", "tasks have no hostname, which has to be added to 'trace.fields': slow machines cannot be found")
	r.CaveatOf(r.noZone, "time_zone_unknown", "times have no zone and are taken as UTC")
	r.CaveatOf(r.derived, "start_derived", "starts are computed as end − realtime, since the trace has no start column")
}
