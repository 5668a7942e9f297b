package google

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"straggler/ingest"
	"straggler/ingest/extsort"
	"straggler/schema"
)

// kind is what an event says, in one numbering for both years.
type kind int64

const (
	other kind = iota
	submit
	schedule
	evict
	fail
	finish
	kill
	lost
)

// ends says whether an attempt ends with the event, and how.
func (k kind) ends() (schema.AttemptStatus, string, bool) {
	switch k {
	case evict:
		return schema.Killed, "evicted", true
	case fail:
		return schema.Failed, "failed", true
	case finish:
		return schema.Success, "", true
	case kill:
		return schema.Killed, "killed", true
	case lost:
		return schema.Lost, "lost", true
	}
	return "", "", false
}

// event is an event of a job (index -1) or of a task.
type event struct {
	job, index, time int64
	kind             kind
	machine          int64 // -1 unknown
	user, name       string
	after            []int64 // collections that it waits for
}

// reader sorts the events of all shards.
type reader struct {
	in       *ingest.Input
	out      *ingest.Sink
	text     ingest.Interner
	events   *extsort.Sorter
	usage    *extsort.Sorter
	machines map[int64]*machine
	decoded  int64
	buf      []byte
	err      error

	attempts *schema.Keys
	first    schema.Key // of an application, for caveats of the trace
	orphans  int64      // ends without a start
	doubled  int64      // starts within an attempt
	waiting  int64      // jobs that wait for others
	trace    schema.Trace
}

const (
	sortBytes = 48 << 20
	usageSort = 32 << 20
	flushRows = 4096
)

func newReader(in *ingest.Input, out *ingest.Sink) *reader {
	return &reader{
		in: in, out: out, events: extsort.New("", sortBytes), usage: extsort.New("", usageSort),
		machines: map[int64]*machine{},
		attempts: schema.NewKeys(in.Key, "attempts"),
	}
}

func (r *reader) close() {
	r.events.Close()
	r.usage.Close()
}

func (r *reader) flush() error {
	r.out.Decoded(r.decoded)
	r.decoded = 0
	if r.err != nil {
		return r.err
	}
	return ingest.EmitTrace(r.out, r.take())
}

func (r *reader) take() *schema.Trace {
	t := r.trace
	r.trace = schema.Trace{Attempts: t.Attempts[:0:0]}
	return &t
}

// event puts an event to be sorted by (job, task, time, kind). Events of other kinds say nothing that a row needs, but
// one of them may be all that is known of a job.
func (r *reader) event(e event) {
	if e.kind == other && e.index >= 0 {
		return
	}
	b := binary.AppendVarint(r.buf[:0], e.machine)
	b = appendText(appendText(b, e.user), e.name)
	b = binary.AppendUvarint(b, uint64(len(e.after)))
	for _, id := range e.after {
		b = binary.AppendVarint(b, id)
	}
	r.buf = b
	if err := r.events.Add(extsort.Key{e.job, e.index, e.time, int64(e.kind)}, b); err != nil && r.err == nil {
		r.err = err
	}
}

func appendText(b []byte, s string) []byte {
	s = ingest.Text(s)
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func parseEvent(rec extsort.Record) event {
	e := event{job: rec.Key[0], index: rec.Key[1], time: rec.Key[2], kind: kind(rec.Key[3])}
	b := rec.Payload
	var n int
	e.machine, n = binary.Varint(b)
	b = b[n:]
	for _, s := range []*string{&e.user, &e.name} {
		size, n := binary.Uvarint(b)
		*s, b = string(b[n:n+int(size)]), b[n+int(size):]
	}
	count, n := binary.Uvarint(b)
	b = b[n:]
	for range count {
		id, n := binary.Varint(b)
		e.after, b = append(e.after, id), b[n:]
	}
	return e
}

// finish makes rows of the sorted events, job by job, then of machines and their use.
func (r *reader) finish(ctx context.Context) error {
	if err := r.flush(); err != nil {
		return err
	}
	var j *job
	n := 0
	for rec, err := range r.events.Merge() {
		if err != nil {
			return err
		}
		if n++; n%8192 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if j == nil || rec.Key[0] != j.id {
			if err := j.end(); err != nil {
				return err
			}
			j = r.begin(rec.Key[0])
		}
		j.take(parseEvent(rec))
	}
	if err := j.end(); err != nil {
		return err
	}
	r.machineRows()
	r.caveats()
	if err := r.flush(); err != nil {
		return err
	}
	return r.usageRows(ctx)
}

// job is the job whose events are being read; its own come before its tasks'.
type job struct {
	*reader
	id    int64
	name  []byte // the id as text
	user  string
	label string
	app   schema.Application
	job   schema.Job
	phase schema.Phase
	after []int64
	tasks int64
	task  task
}

// task is the task whose events are being read.
type task struct {
	index   int64
	number  int32
	queued  schema.Null[schema.Time]
	running *schema.Attempt
	same    []event // at one time, not yet applied
}

func (r *reader) begin(id int64) *job {
	name := strconv.AppendInt(nil, id, 10)
	j := &job{reader: r, id: id, name: name, task: task{index: -1}}
	j.app = schema.Application{
		ApplicationID: schema.HashKey(r.in.Key, "applications", name), NativeID: string(name), Framework: "google", Status: schema.RunUnknown,
		SourceFile: r.in.Name, Complete: true, TimeOrigin: "trace",
	}
	j.job = schema.Job{JobID: r.jobKey(name), ApplicationID: j.app.ApplicationID, NativeID: string(name), Status: schema.RunUnknown}
	j.phase = schema.Phase{PhaseID: r.phaseKey(name), JobID: j.job.JobID, NativeID: string(name), Kind: "job", Status: schema.RunUnknown}
	if r.first == 0 {
		r.first = j.app.ApplicationID
	}
	return j
}

func (r *reader) jobKey(name []byte) schema.Key   { return schema.HashKey(r.in.Key, "jobs", name) }
func (r *reader) phaseKey(name []byte) schema.Key { return schema.HashKey(r.in.Key, "phases", name) }

func (j *job) take(e event) {
	if e.index < 0 {
		j.own(e)
		return
	}
	if e.index != j.task.index {
		j.endTask()
		j.task = task{index: e.index, same: j.task.same[:0]}
		j.tasks++
	}
	if len(j.task.same) > 0 && (j.task.same[0].time != e.time || len(j.task.same) >= 64) {
		j.apply()
	}
	j.task.same = append(j.task.same, e)
}

// own takes an event of the job itself.
func (j *job) own(e event) {
	if e.user != "" {
		j.user = e.user
	}
	if e.name != "" {
		j.label = e.name
	}
	j.after = append(j.after, e.after...)
	at := instant(e.time)
	switch status, _, ended := e.kind.ends(); {
	case e.kind == submit && !j.job.SubmitTime.OK:
		j.job.SubmitTime = at
	case ended:
		j.job.FinishTime = at
		switch status {
		case schema.Success:
			j.job.Status = schema.RunSucceeded
		case schema.Failed, schema.Lost:
			j.job.Status = schema.RunFailed
		default:
			j.job.Status = schema.RunKilled
		}
	}
}

// apply takes the events of a task at one time in an order that makes sense: what ends a running attempt comes before
// a new start, and a start before what ends it.
func (j *job) apply() {
	t := &j.task
	for len(t.same) > 0 {
		at := slices.IndexFunc(t.same, func(e event) bool {
			_, _, ends := e.kind.ends()
			return ends == (t.running != nil)
		})
		if at < 0 {
			at = 0
		}
		e := t.same[at]
		t.same = slices.Delete(t.same, at, at+1)
		j.step(e)
	}
}

func (j *job) step(e event) {
	t := &j.task
	status, reason, ends := e.kind.ends()
	switch {
	case e.kind == submit:
		t.queued = instant(e.time)
	case e.kind == schedule:
		if t.running != nil {
			j.doubled++
			j.emit(schema.UnknownStatus, "", schema.Null[schema.Time]{})
		}
		t.running = j.start(e)
	case ends && t.running == nil:
		if e.kind == kill || e.kind == evict || e.kind == fail || e.kind == lost { // while it waited: nothing ran
			return
		}
		j.orphans++
		t.running = j.start(event{time: 0, machine: e.machine})
		j.emit(status, reason, instant(e.time))
	case ends:
		if t.running.Machine == (schema.Null[string]{}) {
			t.running.Machine = j.machineName(e.machine)
		}
		j.emit(status, reason, instant(e.time))
	}
}

func (j *job) start(e event) *schema.Attempt {
	return &schema.Attempt{
		PhaseID: j.phase.PhaseID, JobID: j.job.JobID, ApplicationID: j.app.ApplicationID, Task: j.task.index, Number: j.task.number,
		NativeID: string(j.name) + "/" + strconv.FormatInt(j.task.index, 10) + "/" + strconv.Itoa(int(j.task.number)),
		Machine:  j.machineName(e.machine), QueuedTime: j.task.queued, StartTime: instant(e.time),
		Speculative: schema.Some(false), Quality: schema.MetricsMissing,
	}
}

func (j *job) machineName(id int64) schema.Null[string] {
	if id < 0 {
		return schema.Null[string]{}
	}
	return schema.Some(j.text.Text(strconv.AppendInt(nil, id, 10)))
}

// emit ends the running attempt.
func (j *job) emit(status schema.AttemptStatus, reason string, at schema.Null[schema.Time]) {
	a := j.task.running
	j.task.running, j.task.queued = nil, schema.Null[schema.Time]{}
	j.task.number++
	a.AttemptID, a.Status, a.Reason, a.FinishTime = j.attempts.Next(), status, ingest.NullText(reason), at
	if a.StartTime.OK && at.OK {
		a.DurationS = schema.Some(at.V.Sub(a.StartTime.V))
	} else {
		a.Quality |= schema.PartialRow
	}
	if m := j.machines[machineID(a.Machine)]; m != nil && m.rack != "" {
		a.Rack = schema.Some(m.rack)
	} else {
		a.Quality |= schema.RackUnknown
	}
	j.phase.Cover(a)
	j.trace.Attempts = append(j.trace.Attempts, *a)
	if len(j.trace.Attempts) >= flushRows && j.err == nil { // a job may have millions
		j.err = j.flush()
	}
}

func machineID(name schema.Null[string]) int64 {
	id, err := strconv.ParseInt(name.V, 10, 64)
	if err != nil {
		return -1
	}
	return id
}

func (j *job) endTask() {
	j.apply()
	if j.task.running != nil {
		j.emit(schema.Running, "", schema.Null[schema.Time]{})
	}
}

// end emits the job's rows.
func (j *job) end() error {
	if j == nil {
		return nil
	}
	j.endTask()
	if j.tasks > 0 { // the files at hand may miss some
		j.phase.TaskCount = schema.Some(max(j.tasks, j.task.index+1))
	}
	j.phase.Status, j.phase.SubmitTime = j.job.Status, j.job.SubmitTime
	j.job.StartTime = j.phase.StartTime
	j.job.Name = ingest.NullText(j.label)
	j.app.Name, j.app.User = ingest.NullText(j.label), ingest.NullText(j.user)
	j.app.StartTime, j.app.FinishTime, j.app.Status = j.job.SubmitTime, j.job.FinishTime, j.job.Status
	t := &j.trace
	t.Applications, t.Jobs, t.Phases = append(t.Applications, j.app), append(t.Jobs, j.job), append(t.Phases, j.phase)
	j.wait()
	if len(t.Attempts) < flushRows && len(t.Jobs) < flushRows {
		return nil
	}
	return j.flush()
}

// waitsFor is the setting that names what a job waits for. The tables' edges join the phases of one job.
const waitsFor = "google.start_after_collection_ids"

func (j *job) wait() {
	if len(j.after) == 0 {
		return
	}
	slices.Sort(j.after)
	var ids []string
	for _, id := range slices.Compact(j.after) {
		ids = append(ids, strconv.FormatInt(id, 10))
	}
	j.waiting++
	j.trace.Settings = append(j.trace.Settings, schema.Setting{ApplicationID: j.app.ApplicationID, Name: waitsFor, Value: ingest.Text(strings.Join(ids, ","))})
}

func (r *reader) caveats() {
	say := func(code string, n int64, detail string) {
		if r.first != 0 && n != 0 {
			c := schema.Caveat{ApplicationID: r.first, Code: code, Detail: detail + " (said of the first application for the whole trace)"}
			if n > 0 {
				c.Count = schema.Some(n)
			}
			r.trace.Caveats = append(r.trace.Caveats, c)
		}
	}
	say("ends_without_start", r.orphans, "tasks finish without having been scheduled in the files at hand; their starts are unknown")
	say("starts_within_attempt", r.doubled, "tasks are scheduled while they run; the earlier attempt's end is unknown")
	say("waits_between_jobs", r.waiting, "jobs wait for other jobs, which their setting "+waitsFor+" names: edges join the phases of one job")
	say("no_bytes", -1, "the trace has no bytes and no records: slowness is judged by duration alone")
}

// instant: 0 is before the trace, 2^63-1 after it.
func instant(us int64) schema.Null[schema.Time] {
	if us <= 0 || us >= math.MaxInt64-1 || us > 253402300799999999 {
		return schema.Null[schema.Time]{}
	}
	return schema.Some(schema.Time(us))
}
