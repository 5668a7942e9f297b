package canonical

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unsafe"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// reader assigns keys of the store to the rows of all files, and remembers which rows were named and which were described.
type reader struct {
	in      *ingest.Input
	out     *ingest.Sink
	trace   schema.Trace
	rows    int
	there   map[string]map[schema.Key]bool // table → keys described
	named   map[string]map[schema.Key]ref  // table → keys that rows name
	skipped map[string]bool
	seen    seen
	numbers numbers
	serial  int64
	names   []byte                 // names given to attempts without one, concatenated
	ends    []int                  // where each name ends
	of      owners                 // of the previous attempt
	ran     *window                // of its phase
	windows map[schema.Key]*window // of the attempts of phases
	last    [256]lastKey           // by the first letter of the table
}

// ref is what a row states about a thing that it names.
type ref struct {
	text     string
	job, app schema.Key
}

// owners are what an attempt belongs to.
type owners struct{ phase, job, application schema.Key }

// window is the interval in which attempts ran.
type window struct {
	start, finish schema.Null[schema.Time]
	running       bool // one has not ended
}

func (w *window) attempt(a *schema.Attempt) {
	read.Widen(&w.start, &w.finish, a.StartTime, a.FinishTime)
	w.running = w.running || a.Status == schema.Running
}

func (w *window) add(x *window) {
	read.Widen(&w.start, &w.finish, x.start, x.finish)
	w.running = w.running || x.running
}

// times returns when the first attempt began and when all had ended; unknown if there are none (nil), and without an end while
// one runs.
func (w *window) times() (start, finish schema.Null[schema.Time]) {
	switch {
	case w == nil:
		return start, finish
	case w.running:
		return w.start, finish
	}
	return w.start, w.finish
}

// maxNamed bounds the number of phases, jobs and applications remembered together.
const maxNamed = 5_000_000

var errTooMany = errors.New("more than five million phases, jobs and applications; give them in files of their own inputs")

func newReader(in *ingest.Input, out *ingest.Sink) *reader {
	r := &reader{in: in, out: out, there: map[string]map[schema.Key]bool{}, named: map[string]map[schema.Key]ref{}, skipped: map[string]bool{},
		windows: map[schema.Key]*window{}}
	for _, t := range []string{"applications", "jobs", "phases"} {
		r.there[t], r.named[t] = map[schema.Key]bool{}, map[schema.Key]ref{}
	}
	return r
}

func (r *reader) skip(table, column string) { r.skipped[table+"."+column] = true }

// key returns the store's key for a key of the input. The table is part of it: key 1 of jobs is not key 1 of phases.
func (r *reader) key(table, text string) schema.Key {
	return schema.HashKey(r.in.Key, table, []byte(text))
}

// referred returns the table that a key column refers to.
func referred(t *schema.Table, c *schema.Column) string {
	if c.Key == "primary" {
		return t.Name
	}
	return c.Key
}

// record is a row that is being completed: which columns are set, and the text of its keys.
type record struct {
	filer *filer
	row   reflect.Value  // pointer to it
	at    unsafe.Pointer // the same
	keys  []string
	set   uint64
}

func (r *record) has(c *slot) bool { return c != nil && r.set>>c.index&1 == 1 }

func (r *record) key(column string) string {
	for i, c := range r.filer.keys { // a handful
		if c.Name == column {
			return r.keys[i]
		}
	}
	return ""
}

// fold processes the rows of a batch, in the order of the file.
func (r *reader) fold(f *filer, source string, b *batch) error {
	for _, name := range b.unknown {
		r.skip(f.table.Name, name)
	}
	for _, reject := range b.rejects {
		reject.SourceFile = source
		r.out.Reject(reject)
	}
	taken, start := b.decoded, 0
	attempts, _ := b.rows.Interface().([]schema.Attempt)
	for i := range b.n {
		row := b.rows.Index(i).Addr()
		rec := record{filer: f, row: row, at: row.UnsafePointer(), keys: b.keys[i*b.perRow : (i+1)*b.perRow], set: b.set[i]}
		err := r.take(&rec)
		switch {
		case errors.Is(err, errTooMany):
			return err
		case err != nil:
			r.out.Reject(schema.Reject{SourceFile: source, Line: schema.Null[int64]{V: b.where[i].line, OK: b.where[i].line > 0},
				ByteOffset: b.where[i].offset, Reason: err.Error()})
		case f.table.Name != "rejects": // a reject is counted when it is kept
			taken++
		}
		if attempts != nil && (err != nil || i+1-start == flushRows || i+1 == b.n) {
			end := i + 1
			if err != nil {
				end = i
			}
			if err := r.emit(attempts[start:end]); err != nil {
				return err
			}
			start = i + 1
		}
		if err := r.flush(false); err != nil {
			return err
		}
	}
	r.out.Decoded(taken)
	return nil
}

// emit sends attempts on without copying them. Those without a name are named after their task and number.
func (r *reader) emit(rows []schema.Attempt) error {
	r.names, r.ends = r.names[:0], r.ends[:0]
	for i := range rows {
		if a := &rows[i]; a.NativeID == "" {
			r.names = append(strconv.AppendInt(r.names, a.Task, 10), '.')
			r.names = strconv.AppendInt(r.names, int64(a.Number), 10)
		}
		r.ends = append(r.ends, len(r.names))
	}
	all, start := string(r.names), 0 // one allocation for all of them
	for i, end := range r.ends {
		if end > start {
			rows[i].NativeID, start = all[start:end], end
		}
	}
	return ingest.Emit(r.out, rows)
}

// flushRows is the number of rows sent on at once: few enough to still be in a processor's cache.
const flushRows = 512

// take completes a row and keeps it.
func (r *reader) take(rec *record) error {
	r.serial++
	t := rec.filer.table
	for i, c := range rec.filer.keys {
		text, key := rec.keys[i], (*schema.Key)(unsafe.Add(rec.at, c.Offset()))
		if text == "" {
			if c.Nullable {
				continue
			}
			if c.Key == "primary" { // each row is a different thing
				r.names = strconv.AppendInt(append(r.names[:0], "row "...), r.serial, 10)
				*key = schema.HashKey(r.in.Key, t.Name, r.names)
				continue
			}
			if text = r.missing(t, c.Column); text == "" {
				return fmt.Errorf("column %s is needed", c.Name)
			}
		}
		*key = r.keyOf(rec.filer.refers[i], text)
		if c.Nullable {
			*(*bool)(unsafe.Add(rec.at, c.known)) = true
		}
	}
	if err := r.finish(rec); err != nil {
		return err
	}
	return r.remember(rec)
}

// keyOf is key with a cache: the rows of a phase are adjacent, and its key is hashed once.
func (r *reader) keyOf(table, text string) schema.Key {
	m := &r.last[table[0]]
	if m.table != table || m.text != text {
		*m = lastKey{table, text, r.key(table, text)}
	}
	return m.key
}

// lastKey is the key of a table that was hashed last.
type lastKey struct {
	table, text string
	key         schema.Key
}

// missing returns the key of a row's owner if its file leaves it out: all such rows belong to one owner.
func (r *reader) missing(t *schema.Table, c *schema.Column) string {
	if c.Key == "applications" || c.Key == "jobs" || c.Key == "phases" && t.Name == "attempts" {
		return "all"
	}
	return ""
}

// finish sets columns that follow from others, and checks the columns that a row needs.
func (r *reader) finish(rec *record) error {
	switch row := rec.row.Interface().(type) {
	case *schema.Application:
		row.SourceFile = orElse(row.SourceFile, r.in.Name)
		row.Framework = orElse(row.Framework, "canonical")
		row.NativeID = orElse(row.NativeID, rec.key("application_id"))
		row.TimeOrigin = orElse(row.TimeOrigin, "epoch")
		row.Status = schema.RunStatus(orElse(string(row.Status), string(schema.RunUnknown)))
		row.Complete = row.Complete || !rec.has(rec.filer.complete)
	case *schema.Job:
		row.NativeID = orElse(row.NativeID, rec.key("job_id"))
		row.Status = schema.RunStatus(orElse(string(row.Status), string(schema.RunUnknown)))
	case *schema.Phase:
		row.NativeID = orElse(row.NativeID, rec.key("phase_id"))
		row.Kind = orElse(row.Kind, "task")
		row.Status = schema.RunStatus(orElse(string(row.Status), string(schema.RunUnknown)))
	case *schema.Edge:
		row.Pattern = schema.Pattern(orElse(string(row.Pattern), string(schema.UnknownPattern)))
	case *schema.Progress:
		row.Source = schema.ProgressSource(orElse(string(row.Source), string(schema.Reported)))
		if !(row.Progress >= 0 && row.Progress <= 1) {
			return fmt.Errorf("progress %v is not within 0 and 1", row.Progress)
		}
	case *schema.Attempt:
		return finishAttempt(rec, row)
	}
	return nil
}

func finishAttempt(rec *record, a *schema.Attempt) error {
	if !rec.has(rec.filer.task) {
		return errors.New("column task is needed: the index of the task in its phase")
	}
	if a.NativeID == "" {
		a.NativeID = rec.key("attempt_id")
	}
	a.Status = schema.AttemptStatus(orElse(string(a.Status), string(schema.Success)))
	switch {
	case a.StartTime.OK && a.FinishTime.OK:
		if a.FinishTime.V < a.StartTime.V {
			return errors.New("finish_time is before start_time")
		}
		a.DurationS = schema.Some(a.FinishTime.V.Sub(a.StartTime.V))
	case a.StartTime.OK && a.DurationS.OK:
		a.FinishTime = schema.Some(a.StartTime.V.Add(a.DurationS.V))
		if a.FinishTime.V < a.StartTime.V { // the sum overflows 64 bits
			return fmt.Errorf("duration_s %g is longer than the 292 000 years that microseconds can tell", a.DurationS.V)
		}
		a.DurationS = schema.Some(a.FinishTime.V.Sub(a.StartTime.V))
	}
	if !rec.has(rec.filer.quality) { // a quality given in the file takes precedence
		if !a.StartTime.OK || !a.FinishTime.OK {
			a.Quality |= schema.PartialRow
		}
		if !a.Rack.OK {
			a.Quality |= schema.RackUnknown
		}
	}
	return nil
}

// remember keeps a row, and records which keys it describes and which it names.
func (r *reader) remember(rec *record) error {
	t := &r.trace
	r.rows++
	switch row := rec.row.Interface().(type) {
	case *schema.Application:
		if err := r.describe("applications", row.ApplicationID, rec.key("application_id")); err != nil {
			return err
		}
		t.Applications = append(t.Applications, *row)
	case *schema.Job:
		if err := r.describe("jobs", row.JobID, rec.key("job_id")); err != nil {
			return err
		}
		t.Jobs = append(t.Jobs, *row)
		r.name("applications", row.ApplicationID, rec.key("application_id"), ref{})
	case *schema.Phase:
		if err := r.describe("phases", row.PhaseID, rec.key("phase_id")); err != nil {
			return err
		}
		t.Phases = append(t.Phases, *row)
		r.name("jobs", row.JobID, rec.key("job_id"), ref{app: r.key("applications", "all")})
	case *schema.Attempt: // is sent on without copying
		if id := rec.key("attempt_id"); id != "" {
			if err := r.seen.add(id, row.AttemptID); err != nil {
				return err
			}
		}
		if !rec.has(rec.filer.number) {
			r.numbers.number(row)
		}
		of := owners{row.PhaseID, row.JobID, row.ApplicationID}
		if of == r.of { // the rows of a phase are adjacent
			r.ran.attempt(row)
			return nil
		}
		r.of, r.ran = of, r.windows[row.PhaseID]
		if r.ran == nil {
			r.ran = &window{}
			r.windows[row.PhaseID] = r.ran
		}
		r.ran.attempt(row)
		r.name("phases", row.PhaseID, rec.key("phase_id"), ref{job: row.JobID})
		r.name("jobs", row.JobID, rec.key("job_id"), ref{app: row.ApplicationID})
		r.name("applications", row.ApplicationID, rec.key("application_id"), ref{})
	default:
		add(t, rec.row.Elem())
	}
	if len(r.named["phases"])+len(r.named["jobs"])+len(r.named["applications"])+len(r.there["phases"]) > maxNamed {
		return errTooMany
	}
	return nil
}

// describe records that a row of a table describes a key, which no other row may.
func (r *reader) describe(table string, key schema.Key, text string) error {
	if r.there[table][key] {
		return fmt.Errorf("%.100q of %s was described before, and is taken from there", text, table)
	}
	r.there[table][key] = true
	return nil
}

func (r *reader) name(table string, key schema.Key, text string, f ref) {
	if old, ok := r.named[table][key]; ok && (old.app != 0 || f.app == 0) {
		return
	}
	f.text = orElse(text, "all")
	r.named[table][key] = f
}

func orElse(s, d string) string {
	if s == "" {
		return d
	}
	return s
}

// add appends a row to its table in the trace.
func add(t *schema.Trace, row reflect.Value) {
	tables := reflect.ValueOf(t).Elem()
	for i := range tables.NumField() {
		if tables.Field(i).Type().Elem() == row.Type() {
			tables.Field(i).Set(reflect.Append(tables.Field(i), row))
		}
	}
}

func (r *reader) flush(all bool) error {
	if !all && r.rows < flushRows {
		return nil
	}
	err := ingest.EmitTrace(r.out, &r.trace)
	for _, reject := range r.trace.Rejects {
		r.out.Reject(reject)
	}
	r.trace, r.rows = schema.Trace{}, 0
	return err
}

// complete adds the rows that others name and no file describes, and the caveats of the input. A phase ran while its attempts
// did, and a job while its phases did.
func (r *reader) complete() {
	for _, key := range r.absent("phases") {
		f := r.named["phases"][key]
		start, finish := r.windows[key].times()
		r.trace.Phases = append(r.trace.Phases, schema.Phase{PhaseID: key, JobID: f.job, NativeID: f.text, Kind: "task", Status: schema.RunUnknown,
			StartTime: start, FinishTime: finish})
	}
	jobs := r.jobWindows()
	for _, key := range r.absent("jobs") {
		f := r.named["jobs"][key]
		start, finish := jobs[key].times()
		r.trace.Jobs = append(r.trace.Jobs, schema.Job{JobID: key, ApplicationID: f.app, NativeID: f.text, Status: schema.RunUnknown,
			StartTime: start, FinishTime: finish})
		if _, ok := r.named["applications"][f.app]; !ok && !r.there["applications"][f.app] {
			r.named["applications"][f.app] = ref{text: "all"}
		}
	}
	added := r.absent("applications")
	for _, key := range added {
		f := r.named["applications"][key]
		r.trace.Applications = append(r.trace.Applications, schema.Application{
			ApplicationID: key, NativeID: f.text, Framework: "canonical", Status: schema.RunUnknown, SourceFile: r.in.Name, Complete: true, TimeOrigin: "epoch",
		})
	}
	if len(r.skipped) == 0 {
		return
	}
	names := make([]string, 0, len(r.skipped))
	for name := range r.skipped {
		names = append(names, name)
	}
	slices.Sort(names)
	apps := added
	for key := range r.there["applications"] {
		apps = append(apps, key)
	}
	slices.Sort(apps)
	if len(apps) > 0 {
		r.trace.Caveats = append(r.trace.Caveats, schema.Caveat{ApplicationID: apps[0], Code: "columns_skipped", Count: schema.Some(int64(len(names))),
			Detail: read.Text(fmt.Sprintf("columns that the tables do not have were skipped: %.500v", names))})
	}
}

// jobWindows returns the windows of jobs, computed from those of the phases that attempts name.
func (r *reader) jobWindows() map[schema.Key]*window {
	jobs := map[schema.Key]*window{}
	for phase, w := range r.windows {
		job := r.named["phases"][phase].job
		if jobs[job] == nil {
			jobs[job] = &window{}
		}
		jobs[job].add(w)
	}
	return jobs
}

// absent returns the keys of a table that rows name and no row describes, in order.
func (r *reader) absent(table string) []schema.Key {
	var keys []schema.Key
	for key := range r.named[table] {
		if !r.there[table][key] {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
