package spark

import (
	"strconv"

	"straggler/ingest/read"
	"straggler/schema"
)

// maxRunning bounds the attempts that run at the same time. No cluster reaches it, but a log with lost end events may.
const maxRunning = 1_000_000

// taskStart records the start of an attempt.
func (a *app) taskStart(t *task) {
	a.partitioned = a.partitioned || t.partition >= 0
	p := a.phase(t.stage, t.stageAttempt)
	if p == nil {
		a.count.dropped++
		return
	}
	if a.done.has(t.id) {
		a.count.startsAfterEnd++
		a.count.repeated++
		return
	}
	if _, ok := a.running[t.id]; ok {
		a.count.repeated++
		return
	}
	p.starts++
	p.span.launched(millis(t.launch))
	p.job.span.launched(millis(t.launch))
	if len(a.running) >= maxRunning {
		a.count.untracked++
		return
	}
	a.running[t.id] = a.launch(p, t)
}

// launch returns what is known about an attempt at its start.
func (a *app) launch(p *phase, t *task) run {
	r := run{phase: p, exec: a.executorOf(t), host: t.host, launch: t.launch, number: t.attempt, queued: none,
		locality: t.locality, speculative: t.speculative}
	r.task, r.partition = p.partition(t)
	r.number = a.number(p, r.task, r.number)
	switch {
	case t.speculative.V:
		// The log does not record when the scheduler decided to copy it.
	case r.number == 0:
		r.queued = p.submit
	default:
		if ms, ok := p.ready[r.task]; ok {
			r.queued = ms
		}
	}
	r.recompute = a.isRecompute(p, r.partition)
	return r
}

// taskEnd writes an attempt that has ended.
func (a *app) taskEnd(e *taskEnd) {
	if e.reason == reasonResubmitted {
		a.resubmitted(e)
		return
	}
	p := a.phase(e.stage, e.stageAttempt)
	if p == nil {
		a.count.dropped++
		return
	}
	if !a.done.add(e.id) {
		a.count.repeated++
		return
	}
	r, started := a.running[e.id]
	if started {
		delete(a.running, e.id)
		p = r.phase // the same, unless the log contradicts itself
	}
	if p.stage.kind == taskUnknown {
		p.stage.kind = e.kind
	}
	if !started {
		a.count.endsWithoutStart++
		r = a.launch(p, &e.task)
	}
	if launch := millis(e.launch); launch > 0 {
		r.launch = launch
		p.span.launched(launch)
		p.job.span.launched(launch)
	}
	p.ends++
	ordinal := a.attempts
	finish := a.endRow(&r, e)
	p.span.finished(finish)
	p.job.span.finished(finish)
	switch {
	case e.reason == reasonSuccess:
		a.succeeded(&r, e, ordinal, finish)
		a.sampleAttempt(p, e, ordinal)
	case e.reason == reasonFetchFailed:
		a.fetchFailed(&r, e, ordinal, finish)
		fallthrough
	default:
		p.runAgain(r.task, finish)
	}
}

// runAgain records the time from which a task that must run again is ready.
func (p *phase) runAgain(task, ms int64) {
	if ms <= 0 {
		return
	}
	if p.ready == nil {
		p.ready = map[int64]int64{}
	}
	p.ready[task] = ms
}

// row adds a row with what is known since the launch of an attempt.
func (a *app) row(r *run, id int64) *schema.Attempt {
	if len(a.rows) == rowsAtOnce {
		flush(a.fold, &a.rows)
	}
	if len(a.rows) == 0 {
		a.ids.Reset()
		a.ids.Grow(rowsAtOnce * 8)
	}
	a.rows = append(a.rows, schema.Attempt{
		AttemptID:     a.keys.attempts.Nth(int64(a.attempts)),
		PhaseID:       r.phase.key,
		JobID:         r.phase.job.key,
		ApplicationID: a.key,
		Task:          r.task,
		Number:        r.number,
		NativeID:      a.nativeID(id),
		Machine:       known(r.host),
		Executor:      schema.Null[string]{V: r.exec.id, OK: r.exec.id != ""},
		QueuedTime:    read.Millis(r.queued),
		StartTime:     read.Millis(r.launch),
		Speculative:   r.speculative,
		Recompute:     r.recompute,
		Quality:       schema.RackUnknown,
	})
	a.attempts++
	a.count.attempts++
	row := &a.rows[len(a.rows)-1]
	if r.locality != "" {
		row.Locality = schema.Some(r.locality)
	}
	if r.partition != r.task {
		row.Quality |= schema.TaskUnknown
		if r.partition < 0 {
			a.count.unknownTasks++
		}
	}
	if r.phase.stage.RDDs.Barrier {
		row.Quality |= schema.GangMember
	}
	if row.QueuedTime.OK && row.QueuedTime.V > row.StartTime.V {
		row.QueuedTime = schema.Null[schema.Time]{}
		row.Quality |= schema.TimeRepaired
	}
	if !row.StartTime.OK {
		row.Quality |= schema.TimeRepaired
	}
	return row
}

// nativeID formats a Task ID. The ids of a batch of rows share one allocation.
func (a *app) nativeID(id int64) string {
	var digits [20]byte
	text := strconv.AppendInt(digits[:0], id, 10)
	if a.ids.Cap()-a.ids.Len() < len(text) {
		a.ids.Reset()
		a.ids.Grow(rowsAtOnce * 8)
	}
	start := a.ids.Len()
	a.ids.Write(text)
	return a.ids.String()[start:]
}

// endRow completes the row of an attempt that has ended and returns its finish time in milliseconds; 0 if it has none.
func (a *app) endRow(r *run, e *taskEnd) (finish int64) {
	row := a.row(r, e.id)
	row.Status = statusOf(e.reason)
	row.Reason = known(e.text)
	launch := millis(r.launch)
	finish = millis(e.finish)
	switch {
	case finish == 0 && e.finish <= 0:
		row.Quality |= schema.PartialRow
	case finish == 0 || finish < launch:
		row.Quality |= schema.TimeRepaired
		finish = 0
	default:
		row.FinishTime = read.Millis(finish)
		if launch > 0 {
			row.DurationS = schema.Some(float64(finish-launch) / 1e3)
		}
	}
	a.measure(row, e, finish-launch)
	if row.Quality&schema.MetricsMissing != 0 {
		a.count.unmetered++
	}
	return finish
}

func statusOf(r reason) schema.AttemptStatus {
	switch r {
	case reasonSuccess:
		return schema.Success
	case reasonKilled, reasonCommitDenied:
		return schema.Killed
	case reasonExecutorLost:
		return schema.Lost
	}
	return schema.Failed
}

func known(s string) schema.Null[string] {
	return schema.Null[string]{V: s, OK: s != ""}
}

// millis returns a time of the log in milliseconds, or 0 if it is not valid.
func millis(ms int64) int64 {
	if !read.Millis(ms).OK {
		return 0
	}
	return ms
}
