package alibaba

import (
	"math"
	"strconv"

	"straggler/ingest"
	"straggler/ingest/extsort"
	"straggler/schema"
)

// reader holds what is known across the files of a trace: partial sums of tasks, which spill to disk.
type reader struct {
	in       *ingest.Input
	out      *ingest.Sink
	app      schema.Key
	attempts *schema.Keys
	text     ingest.Interner
	position int64 // of the row in the trace's files
	decoded  int64
	err      error

	sums     map[taskID]*window
	sorter   *extsort.Sorter
	defects  map[string]int64
	machines map[string]bool
	trace    schema.Trace
}

// taskID is a task by its keys.
type taskID struct{ job, phase schema.Key }

// window is what the instances of a task said so far.
type window struct {
	job, task   string // names
	first, last int64  // µs; -1 unknown
	count       int64
}

const (
	maxSums   = 200_000  // tasks whose windows are held before they spill
	sortBytes = 64 << 20 // of a chunk in memory
	flushRows = 4096
)

func newReader(in *ingest.Input, out *ingest.Sink) *reader {
	return &reader{
		in: in, out: out, app: schema.NewKeys(in.Key, "applications").Nth(0), attempts: schema.NewKeys(in.Key, "attempts"),
		sums: map[taskID]*window{}, sorter: extsort.New("", sortBytes), defects: map[string]int64{}, machines: map[string]bool{},
	}
}

func (r *reader) close() { r.sorter.Close() }

// flush hands rows on in batches.
func (r *reader) flush(all bool) error {
	if r.err != nil {
		return r.err
	}
	t := &r.trace
	if !all && len(t.Attempts) < flushRows && len(t.MachineUsage) < flushRows && len(t.Phases) < flushRows && len(t.Machines) < flushRows {
		return nil
	}
	r.out.Decoded(r.decoded)
	r.decoded = 0
	err := ingest.EmitTrace(r.out, t)
	t.Attempts, t.MachineUsage, t.Machines = t.Attempts[:0], t.MachineUsage[:0], t.Machines[:0]
	t.Applications, t.Caveats, t.Jobs, t.Phases, t.Edges = t.Applications[:0], t.Caveats[:0], t.Jobs[:0], t.Phases[:0], t.Edges[:0]
	return err
}

// instance is a row of any year's instance table.
type instance struct {
	job, task  []byte
	name       []byte // of the instance; nil where it has none
	status     []byte
	start, end []byte
	machine    []byte
	sequence   []byte  // number of the try, from 1
	cores      float64 // average; NaN unknown
	quality    schema.Quality
}

// statuses are the words of all years; an instance that never ran is no attempt.
var statuses = map[string]schema.AttemptStatus{
	"Terminated": schema.Success, "Failed": schema.Failed, "Interrupted": schema.Killed, "Interupted": schema.Killed,
	"Cancelled": schema.Killed, "Running": schema.Running, "Ready": "", "Waiting": "",
}

// columns: instance_name, task_name, job_name, task_type, status, start, end, machine, seq, total, cpu avg, max, mem avg, max
func (r *reader) instance2018(f [][]byte) bool {
	return r.instance(instance{
		name: f[0], task: f[1], job: f[2], status: f[4], start: f[5], end: f[6], machine: f[7], sequence: f[8], cores: orNaN(f[10]) / 100,
	})
}

// columns: start, end, job, task, machine, status, seq, total, cpu max, avg, mem max, avg
func (r *reader) instance2017(f [][]byte) bool {
	return r.instance(instance{
		job: f[2], task: f[3], status: f[5], start: f[0], end: f[1], machine: f[4], sequence: f[6], cores: orNaN(f[9]), quality: schema.TaskUnknown,
	})
}

// columns: job_name, task_name, inst_name, worker_name, inst_id, status, start, end, machine
func (r *reader) instanceGPU(f [][]byte) bool {
	return r.instance(instance{
		job: f[0], task: f[1], name: f[2], status: f[5], start: f[6], end: f[7], machine: f[8], cores: math.NaN(), quality: schema.GangMember,
	})
}

func (r *reader) instance(i instance) bool {
	st, ok := statuses[string(i.status)]
	if !ok { // the words of 2018 are not documented
		st = schema.UnknownStatus
	}
	if len(i.job) == 0 || len(i.task) == 0 {
		r.defects["rows_without_job"]++
		return true
	}
	if st == "" {
		return true
	}
	job, phase := r.jobKey(i.job), r.phaseKey(i.job, i.task)
	row := schema.Attempt{
		AttemptID: r.attempts.Next(), PhaseID: phase, JobID: job, ApplicationID: r.app, Status: st,
		Machine: r.nullText(i.machine), Quality: i.quality | schema.RackUnknown | schema.MetricsMissing,
	}
	if n, ok := number(i.sequence); ok && n >= 1 && n < 1<<30 {
		row.Number = int32(n) - 1
	}
	r.nameTask(&row, i.name)
	r.times(&row, i.start, i.end)
	if row.DurationS.OK && i.cores >= 0 {
		row.CPUS = schema.Some(i.cores * row.DurationS.V)
	}
	r.trace.Attempts = append(r.trace.Attempts, row)
	r.observe(taskID{job, phase}, i, &row)
	return true
}

// nameTask takes the number out of the instance's name, ins_74901877, which tells the tasks of a phase apart and is no index
// among them. Without a name it is the row's position.
func (r *reader) nameTask(row *schema.Attempt, name []byte) {
	row.Quality |= schema.TaskUnknown
	end := len(name)
	for end > 0 && name[end-1] >= '0' && name[end-1] <= '9' {
		end--
	}
	if n, err := strconv.ParseInt(string(name[end:]), 10, 62); err == nil {
		row.Task = n
	} else {
		row.Task = r.position
		if len(name) > 0 { // hexadecimal ids
			row.Task = schema.HashKey(0, "task", name)
		}
	}
	if len(name) > 0 {
		row.NativeID = ingest.Text(string(name))
	} else {
		row.NativeID = "row " + strconv.FormatInt(r.position, 10)
	}
}

// times: seconds from the start of the trace; 0 and less stand for unknown, an end before its start is dropped.
func (r *reader) times(row *schema.Attempt, start, end []byte) {
	row.StartTime, row.FinishTime = instant(start), instant(end)
	if row.Status == schema.Running {
		row.FinishTime = schema.Null[schema.Time]{}
	}
	switch {
	case row.StartTime.OK && row.FinishTime.OK && row.FinishTime.V < row.StartTime.V:
		row.FinishTime = schema.Null[schema.Time]{}
		row.Quality |= schema.TimeRepaired | schema.PartialRow
		r.defects["end_before_start"]++
	case row.StartTime.OK && row.FinishTime.OK:
		row.DurationS = schema.Some(row.FinishTime.V.Sub(row.StartTime.V))
	default:
		row.Quality |= schema.PartialRow
	}
}

// observe widens the window of the row's task.
func (r *reader) observe(id taskID, i instance, row *schema.Attempt) {
	w := r.sums[id]
	if w == nil {
		if len(r.sums) >= maxSums {
			r.spill()
		}
		w = &window{job: ingest.Text(string(i.job)), task: ingest.Text(string(i.task)), first: -1, last: -1}
		r.sums[id] = w
	}
	w.count++
	if row.StartTime.OK && (w.first < 0 || int64(row.StartTime.V) < w.first) {
		w.first = int64(row.StartTime.V)
	}
	if row.FinishTime.OK {
		w.last = max(w.last, int64(row.FinishTime.V))
	}
}

func (r *reader) jobKey(job []byte) schema.Key { return schema.HashKey(r.in.Key, "jobs", job) }
func (r *reader) phaseKey(job, task []byte) schema.Key {
	return schema.HashKey(r.in.Key, "phases", job, task)
}

func (r *reader) nullText(b []byte) schema.Null[string] {
	if len(b) == 0 {
		return schema.Null[string]{}
	}
	return schema.Some(r.text.Text(b))
}

func instant(b []byte) schema.Null[schema.Time] {
	s, ok := number(b)
	if !ok || s <= 0 || s > 1e10 {
		return schema.Null[schema.Time]{}
	}
	return schema.Some(schema.Time(math.Round(s * 1e6)))
}

// number reads a decimal number; the common case, a short whole one, without strconv.
func number(b []byte) (float64, bool) {
	if n := len(b); n > 0 && n <= 15 {
		var v int64
		for i, c := range b {
			if c < '0' || c > '9' {
				break
			}
			if v = v*10 + int64(c-'0'); i == n-1 {
				return float64(v), true
			}
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

func orNaN(b []byte) float64 {
	if v, ok := number(b); ok && v >= 0 {
		return v
	}
	return math.NaN()
}
