package alibaba

import (
	"math"

	"straggler/schema"
)

// instance is a row of any year's instance table.
type instance struct {
	job, task  []byte
	name       []byte // of the instance; nil if it has none
	status     []byte
	start, end []byte
	machine    []byte
	sequence   []byte  // number of the try, from 1; nil if the trace does not give it
	cores      float64 // average; NaN unknown
	quality    schema.Quality
}

// columns: instance_name, task_name, job_name, task_type, status, start, end, machine, seq, total, cpu avg, max, mem avg, max
func (d *decoder) instance2018(f [][]byte) bool {
	if len(f[0]) == 0 || !isRetry(f[8]) && !isRetry(f[9]) {
		return d.instance(of2018(f))
	}
	return d.retry(f)
}

func of2018(f [][]byte) instance {
	return instance{name: f[0], task: f[1], job: f[2], status: f[4], start: f[5], end: f[6], machine: f[7], cores: orNaN(f[10]) / 100}
}

// columns: start, end, job, task, machine, status, seq, total, cpu max, avg, mem max, avg
func (d *decoder) instance2017(f [][]byte) bool {
	return d.instance(instance{
		job: f[2], task: f[3], status: f[5], start: f[0], end: f[1], machine: f[4], sequence: f[6], cores: orNaN(f[9]), quality: schema.TaskUnknown,
	})
}

// columns: job_name, task_name, inst_name, worker_name, inst_id, status, start, end, machine
func (d *decoder) instanceGPU(f [][]byte) bool {
	return d.instance(instance{
		job: f[0], task: f[1], name: f[2], status: f[5], start: f[6], end: f[7], machine: f[8], cores: math.NaN(), quality: schema.GangMember,
	})
}

func (d *decoder) instance(i instance) bool {
	if len(i.job) == 0 || len(i.task) == 0 {
		d.out.defects["rows_without_job"]++
		return true
	}
	st, _ := statusOf(i.status)
	if st == "" {
		return true
	}
	phase := d.phaseKey(i.job, i.task)
	d.out.rows.Attempts = append(d.out.rows.Attempts, schema.Attempt{}) // filled in in place, because it is large
	row := &d.out.rows.Attempts[len(d.out.rows.Attempts)-1]
	row.PhaseID, row.JobID, row.ApplicationID, row.Status = phase, d.jobHash, d.app, st
	row.Machine, row.Quality = d.nullText(i.machine), i.quality|schema.RackUnknown|schema.MetricsMissing
	if n, ok := number(i.sequence); ok && n >= 1 && n < 1<<30 {
		row.Number = int32(n) - 1
	}
	d.nameTask(row, i.name)
	d.times(row, i.start, i.end)
	if row.DurationS.OK && i.cores >= 0 {
		row.CPUS = schema.Some(i.cores * row.DurationS.V)
	}
	d.observe(taskID{d.jobHash, phase}, &i, row)
	return true
}

// statusOf maps the words of all years; an instance that never ran ("") is not an attempt.
func statusOf(word []byte) (schema.AttemptStatus, bool) {
	switch string(word) {
	case "Terminated":
		return schema.Success, true
	case "Failed":
		return schema.Failed, true
	case "Interrupted", "Interupted", "Cancelled":
		return schema.Killed, true
	case "Running":
		return schema.Running, true
	case "Ready", "Waiting":
		return "", true
	}
	return schema.UnknownStatus, false // the words of 2018 are not documented
}

// nameTask extracts the number from the instance's name, ins_74901877, which distinguishes the tasks of a phase but is not an
// index among them. Without a name the number is the row's position, relative to its file until the block is folded.
func (d *decoder) nameTask(row *schema.Attempt, name []byte) {
	row.Quality |= schema.TaskUnknown
	d.names = append(d.names, name...)
	d.out.ends = append(d.out.ends, len(d.names))
	end := len(name)
	for end > 0 && name[end-1] >= '0' && name[end-1] <= '9' {
		end--
	}
	switch digits := name[end:]; {
	case len(name) == 0:
		row.Task = d.line
	case len(digits) > 0 && len(digits) <= 18:
		for _, c := range digits {
			row.Task = row.Task*10 + int64(c-'0')
		}
	default: // hexadecimal ids
		row.Task = schema.HashKey(0, "task", name)
	}
}

// observe extends the window of the row's task.
func (d *decoder) observe(id taskID, i *instance, row *schema.Attempt) {
	n := len(d.out.windows)
	if n == 0 || d.out.windows[n-1].id != id {
		d.out.windows = append(d.out.windows, window{id: id, job: d.text.Text(i.job), task: d.text.Text(i.task), first: -1, last: -1})
		n++
	}
	w := &d.out.windows[n-1]
	w.count++
	if row.StartTime.OK && (w.first < 0 || int64(row.StartTime.V) < w.first) {
		w.first = int64(row.StartTime.V)
	}
	if row.FinishTime.OK {
		w.last = max(w.last, int64(row.FinishTime.V))
	}
}

// times: seconds from the start of the trace; 0 and less mean unknown, and an end before its start is dropped.
func (d *decoder) times(row *schema.Attempt, start, end []byte) {
	row.StartTime, row.FinishTime = instant(start), instant(end)
	if row.Status == schema.Running {
		row.FinishTime = schema.Null[schema.Time]{}
	}
	switch {
	case row.StartTime.OK && row.FinishTime.OK && row.FinishTime.V < row.StartTime.V:
		row.FinishTime = schema.Null[schema.Time]{}
		row.Quality |= schema.TimeRepaired | schema.PartialRow
		d.out.defects["end_before_start"]++
	case row.StartTime.OK && row.FinishTime.OK:
		row.DurationS = schema.Some(row.FinishTime.V.Sub(row.StartTime.V))
	default:
		row.Quality |= schema.PartialRow
	}
}
