package alibaba

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"straggler/ingest/read"
	"straggler/ingest/read/extsort"
	"straggler/schema"
)

// A record in the sorter is a task as its table has it, or a window aggregated from its instances. The key is (job, phase, kind
// of record), so that everything known about a job comes together, from whichever files.
const (
	kindJob = iota // phase 0: comes first
	kindTask
	kindWindow
	kindTry
)

// planned is a row of a task table, or of GPU 2020's job table.
type planned struct {
	job, task  string
	kind       string
	status     string
	user       string
	instances  int64 // -1 unknown
	start, end int64 // µs, -1 unknown
}

// columns: task_name, instance_num, job_name, task_type, status, start, end, plan_cpu, plan_mem
func (d *decoder) task2018(f [][]byte) bool {
	return d.plan(kindTask, f[2], f[0], planned{kind: string(f[3]), status: string(f[4]), instances: count(f[1]), start: micros(f[5]), end: micros(f[6])})
}

// columns: create, end, job, task, instances, status, plan_cpu, plan_mem
func (d *decoder) task2017(f [][]byte) bool {
	return d.plan(kindTask, f[2], f[3], planned{kind: "batch", status: string(f[5]), instances: count(f[4]), start: micros(f[0]), end: micros(f[1])})
}

// columns: job_name, task_name, inst_num, status, start, end, plan_cpu, plan_mem, plan_gpu, (gpu_type)
func (d *decoder) taskGPU(f [][]byte) bool {
	return d.plan(kindTask, f[0], f[1], planned{kind: "gpu", status: string(f[3]), instances: count(f[2]), start: micros(f[4]), end: micros(f[5])})
}

// columns: job_name, inst_id, user, status, start, end
func (d *decoder) jobGPU(f [][]byte) bool {
	return d.plan(kindJob, f[0], nil, planned{user: string(f[2]), status: string(f[3]), instances: -1, start: micros(f[4]), end: micros(f[5])})
}

func (d *decoder) plan(kind int64, job, task []byte, p planned) bool {
	if len(job) == 0 || kind == kindTask && len(task) == 0 {
		d.out.defects["rows_without_job"]++
		return true
	}
	p.job, p.task = string(job), string(task)
	var phase schema.Key
	if kind == kindTask {
		phase = d.phaseKey(job, task)
	}
	d.out.plans = append(d.out.plans, plannedRow{extsort.Key{d.jobKey(job), phase, kind}, p.append(nil)})
	return true
}

func (p *planned) append(b []byte) []byte {
	for _, n := range []int64{p.instances, p.start, p.end} {
		b = binary.AppendVarint(b, n)
	}
	for _, s := range []string{p.job, p.task, p.kind, p.status, p.user} {
		s = read.Text(s)
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

// finish emits jobs, phases and edges, job by job.
func (r *reader) finish(ctx context.Context) error {
	r.spill()
	if r.err != nil {
		return r.err
	}
	j := jobRows{reader: r, tries: newTries(r.in.Key, r.app)}
	n := 0
	for rec, err := range r.sorter.Merge() {
		if err != nil {
			return err
		}
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if rec.Key[0] != j.key || !j.open {
			if err := j.end(); err != nil {
				return err
			}
			j.begin(rec.Key[0])
		}
		if err := j.take(rec); err != nil {
			return err
		}
	}
	if err := j.end(); err != nil {
		return err
	}
	if rows := r.out.Counts().Rows; len(r.trace.Jobs)+len(r.trace.Machines) > 0 ||
		rows["jobs"]+rows["attempts"]+rows["machines"]+rows["machine_usage"] > 0 { // otherwise it is blank
		r.application(j.first, j.last)
	}
	return r.flush(true)
}

// jobRows gathers the records of one job.
type jobRows struct {
	*reader
	key         schema.Key
	open        bool
	job         planned
	tasks       []task
	tries       *tries
	texts       [5]string // of the previous record, which usually has the same
	first, last int64     // of the whole trace, µs; 0 unknown
}

type task struct {
	key     schema.Key
	plan    planned
	planned bool // it has a row of its own
	seen    int64
	first   int64
	last    int64
}

func (j *jobRows) begin(key schema.Key) {
	j.key, j.open, j.job, j.tasks = key, true, planned{start: -1, end: -1}, j.tasks[:0]
}

func (j *jobRows) take(rec extsort.Record) error {
	if rec.Key[2] == kindTry {
		return j.try(rec)
	}
	p := j.parsePlanned(rec.Payload)
	if rec.Key[2] == kindJob {
		j.job = p
		return nil
	}
	if n := len(j.tasks); n == 0 || j.tasks[n-1].key != rec.Key[1] {
		j.tasks = append(j.tasks, task{key: rec.Key[1], first: -1, last: -1})
	}
	t := &j.tasks[len(j.tasks)-1]
	if rec.Key[2] == kindTask {
		if t.planned {
			j.defects["task_twice"]++
		}
		t.plan, t.planned = p, true
		return nil
	}
	if !t.planned {
		t.plan = planned{job: p.job, task: p.task, instances: -1, start: -1, end: -1}
	}
	t.seen += p.instances
	if p.start >= 0 && (t.first < 0 || p.start < t.first) {
		t.first = p.start
	}
	t.last = max(t.last, p.end)
	return nil
}

// parsePlanned parses what append wrote.
func (j *jobRows) parsePlanned(b []byte) planned {
	var p planned
	for _, n := range []*int64{&p.instances, &p.start, &p.end} {
		v, k := binary.Varint(b)
		*n, b = v, b[k:]
	}
	for i, s := range []*string{&p.job, &p.task, &p.kind, &p.status, &p.user} {
		n, k := binary.Uvarint(b)
		text := b[k : k+int(n)]
		if b = b[k+int(n):]; j.texts[i] != string(text) {
			j.texts[i] = string(text)
		}
		*s = j.texts[i]
	}
	return p
}

// end emits the rows of the current job.
func (j *jobRows) end() error {
	if !j.open {
		return nil
	}
	j.open = false
	slices.SortFunc(j.tasks, func(a, b task) int { return cmp.Compare(a.plan.task, b.plan.task) })
	name := j.job.job
	row := schema.Job{JobID: j.key, ApplicationID: j.app, SubmitTime: known(j.job.start), FinishTime: known(j.job.end), Status: runStatus(j.job.status)}
	all, finish, goesOn := schema.RunSucceeded, schema.Null[schema.Time]{}, false
	for i := range j.tasks {
		t := &j.tasks[i]
		name = t.plan.job
		p := t.phase(j.key)
		j.trace.Phases = append(j.trace.Phases, p)
		if p.Status != schema.RunSucceeded && all != schema.RunRunning {
			all = p.Status
		}
		goesOn = goesOn || t.planned && !ended(p.Status)
		read.Widen(&row.StartTime, &finish, p.StartTime, p.FinishTime)
		read.Widen(&row.SubmitTime, &finish, p.SubmitTime, p.FinishTime)
		if first := cmp.Or(p.StartTime, p.SubmitTime); first.OK && (j.first == 0 || int64(first.V) < j.first) {
			j.first = int64(first.V)
		}
		j.last = max(j.last, int64(p.FinishTime.V))
	}
	if j.job.job == "" && len(j.tasks) > 0 {
		row.Status = all
		if !goesOn {
			row.FinishTime = finish
		}
	}
	row.NativeID = name
	j.trace.Jobs = append(j.trace.Jobs, row)
	j.edges()
	return j.flush(false)
}

func (t *task) phase(job schema.Key) schema.Phase {
	p := schema.Phase{
		PhaseID: t.key, JobID: job, NativeID: t.plan.task, Name: read.NullText(t.plan.task), Kind: "task",
		SubmitTime: known(t.plan.start), StartTime: known(t.first), FinishTime: known(t.last), Status: runStatus(t.plan.status),
	}
	if t.plan.kind != "" {
		p.Kind = t.plan.kind
	}
	switch {
	case t.plan.instances >= 0:
		p.TaskCount = schema.Some(t.plan.instances)
		p.Gang = t.plan.kind == "gpu" && t.plan.instances > 1
	case t.seen > 0 && !t.planned:
		p.TaskCount = schema.Null[int64]{}
	}
	// Without instances, the end of a task that has ended is the one of its own row.
	if t.last < 0 && ended(p.Status) && t.plan.end > 0 && t.plan.end >= t.plan.start {
		p.FinishTime = known(t.plan.end)
	}
	// A task is registered before or after its first instance starts; one that starts earlier was ready then.
	if p.StartTime.OK && p.SubmitTime.OK && p.SubmitTime.V > p.StartTime.V {
		p.SubmitTime = p.StartTime
	}
	return p
}

// application emits the row of the trace as a whole.
func (r *reader) application(first, last int64) {
	a := schema.Application{
		ApplicationID: r.app, NativeID: r.in.Base, Framework: "alibaba", Status: schema.RunUnknown, SourceFile: r.in.Name, Complete: true, TimeOrigin: "trace",
	}
	if last > 0 {
		a.StartTime, a.FinishTime = known(first), known(last)
	}
	r.trace.Applications = append(r.trace.Applications, a)
	for _, d := range []struct{ code, detail string }{
		{"edge_cycle", "dependencies that would close a cycle of tasks are left out"},
		{"edge_to_itself", "tasks that depend on themselves; those edges are left out"},
		{"edge_unknown_parent", "dependencies on tasks that are not in the trace; those edges are left out"},
		{"end_before_start", "instances end before they start; their ends are dropped"},
		{"machine_errors", "errors of machines that stay have no place in the tables"},
		{"rows_without_job", "rows without a job or task id are left out"},
		{"task_twice", "tasks with several rows; the last one in the order of their content counts"},
	} {
		if n := r.defects[d.code]; n > 0 {
			r.trace.Caveats = append(r.trace.Caveats, schema.Caveat{ApplicationID: r.app, Code: d.code, Count: schema.Some(n), Detail: d.detail})
		}
	}
	r.trace.Caveats = append(r.trace.Caveats, schema.Caveat{ApplicationID: r.app, Code: "no_bytes",
		Detail: "the trace has no bytes and no records: slowness is judged by duration alone"})
}

func runStatus(word string) schema.RunStatus {
	switch word {
	case "Terminated":
		return schema.RunSucceeded
	case "Failed":
		return schema.RunFailed
	case "Cancelled", "Interrupted":
		return schema.RunKilled
	case "Running":
		return schema.RunRunning
	}
	return schema.RunUnknown
}

func ended(s schema.RunStatus) bool {
	return s == schema.RunSucceeded || s == schema.RunFailed || s == schema.RunKilled
}

func known(us int64) schema.Null[schema.Time] {
	if us < 0 {
		return schema.Null[schema.Time]{}
	}
	return schema.Some(schema.Time(us))
}

func micros(b []byte) int64 {
	t := instant(b)
	if !t.OK {
		return -1
	}
	return int64(t.V)
}

func count(b []byte) int64 {
	if n, ok := number(b); ok && n >= 0 && n < 1<<40 {
		return int64(n)
	}
	return -1
}
