package google

import (
	"slices"
	"strconv"
	"strings"

	"straggler/ingest/read"
	"straggler/schema"
)

// job is the current job; its own events come before those of its tasks.
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

// task is the current task.
type task struct {
	index   int64
	number  int32
	queued  schema.Null[schema.Time]
	running bool
	start   schema.Null[schema.Time] // of the running attempt
	machine int64                    // machine of the running attempt; -1 unknown
	same    []event                  // at one time, not yet applied
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

// own processes an event of the job itself.
func (j *job) own(e event) {
	if e.user != "" {
		j.user = e.user
	}
	if e.name != "" {
		j.label = e.name
	}
	j.after = append(j.after, e.after...)
	at := read.Micros(e.time)
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

// apply processes the simultaneous events of a task in a consistent order: the end of a running attempt comes before a new
// start, and a start before its end.
func (j *job) apply() {
	t := &j.task
	for len(t.same) > 1 {
		at := slices.IndexFunc(t.same, func(e event) bool {
			_, _, ends := e.kind.ends()
			return ends == t.running
		})
		at = max(at, 0)
		e := t.same[at]
		t.same = slices.Delete(t.same, at, at+1)
		j.step(&e)
	}
	if len(t.same) == 1 {
		j.step(&t.same[0])
		t.same = t.same[:0]
	}
}

func (j *job) step(e *event) {
	t := &j.task
	status, reason, ends := e.kind.ends()
	switch {
	case e.kind == submit:
		t.queued = read.Micros(e.time)
	case e.kind == schedule:
		if t.running {
			j.doubled++
			j.emit(schema.UnknownStatus, "", schema.Null[schema.Time]{})
		}
		t.running, t.start, t.machine = true, read.Micros(e.time), e.machine
	case ends && !t.running:
		if e.kind != finish { // while it waited: nothing ran
			return
		}
		j.orphans++
		t.start, t.machine = schema.Null[schema.Time]{}, e.machine
		j.emit(status, reason, read.Micros(e.time))
	case ends:
		if t.machine < 0 {
			t.machine = e.machine
		}
		j.emit(status, reason, read.Micros(e.time))
	}
}

// location is a machine and its rack, as rows name them.
type location struct{ machine, rack schema.Null[string] }

func (r *reader) locate(id int64) location {
	if id < 0 {
		return location{}
	}
	p, ok := r.locations[id]
	if ok {
		return p
	}
	p.machine = schema.Some(strconv.FormatInt(id, 10))
	if m := r.machines[id]; m != nil {
		p.rack = read.NullText(m.rack)
	}
	if len(r.locations) >= maxMachines {
		clear(r.locations)
	}
	r.locations[id] = p
	return p
}

// emit ends the running attempt.
func (j *job) emit(status schema.AttemptStatus, reason string, at schema.Null[schema.Time]) {
	t, where := &j.task, j.locate(j.task.machine)
	j.trace.Attempts = append(j.trace.Attempts, schema.Attempt{}) // filled in in place, because it is large
	a := &j.trace.Attempts[len(j.trace.Attempts)-1]
	a.AttemptID, a.PhaseID, a.JobID, a.ApplicationID = j.attempts.Next(), j.phase.PhaseID, j.job.JobID, j.app.ApplicationID
	a.Task, a.Number, a.Machine, a.Rack = t.index, t.number, where.machine, where.rack
	a.QueuedTime, a.StartTime, a.FinishTime = t.queued, t.start, at
	a.Status, a.Reason, a.Speculative, a.Quality = status, read.NullText(reason), schema.Some(false), schema.MetricsMissing
	if a.StartTime.OK && at.OK {
		a.DurationS = schema.Some(at.V.Sub(a.StartTime.V))
	} else {
		a.Quality |= schema.PartialRow
	}
	if !a.Rack.OK {
		a.Quality |= schema.RackUnknown
	}
	j.nameAttempt()
	j.phase.ExtendWindow(a)
	t.running, t.queued = false, schema.Null[schema.Time]{}
	t.number++
	if len(j.trace.Attempts) >= flushRows && j.err == nil { // a job may have millions
		j.err = j.flush()
	}
}

// nameAttempt records the native id of the attempt just added: job, task and number.
func (j *job) nameAttempt() {
	b := append(append(j.names, j.name...), '/')
	b = append(strconv.AppendInt(b, j.task.index, 10), '/')
	j.names = strconv.AppendInt(b, int64(j.task.number), 10)
	j.ends = append(j.ends, len(j.names))
}

func (j *job) endTask() {
	j.apply()
	if j.task.running {
		j.emit(schema.Running, "", schema.Null[schema.Time]{})
	}
}

// end emits the job's rows.
func (j *job) end() error {
	if j == nil {
		return nil
	}
	j.endTask()
	if j.tasks > 0 { // the available files may lack some
		j.phase.TaskCount = schema.Some(max(j.tasks, j.task.index+1))
	}
	j.phase.Status, j.phase.SubmitTime = j.job.Status, j.job.SubmitTime
	j.job.StartTime = j.phase.StartTime
	j.job.Name = read.NullText(j.label)
	j.app.Name, j.app.User = read.NullText(j.label), read.NullText(j.user)
	j.app.StartTime, j.app.FinishTime, j.app.Status = j.job.SubmitTime, j.job.FinishTime, j.job.Status
	t := j.trace
	t.Applications, t.Jobs, t.Phases = append(t.Applications, j.app), append(t.Jobs, j.job), append(t.Phases, j.phase)
	j.wait()
	if len(t.Attempts) < flushRows && len(t.Jobs) < flushRows {
		return nil
	}
	return j.flush()
}

// waitsFor is the setting that names the jobs that a job waits for. Edges in the tables join phases of one job only.
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
	j.trace.Settings = append(j.trace.Settings, schema.Setting{ApplicationID: j.app.ApplicationID, Name: waitsFor, Value: read.Text(strings.Join(ids, ","))})
}
