package synth

import (
	"fmt"
	"math"

	"straggler/schema"
)

// Why attempts end early, as in the rows.
const (
	reasonBeaten   = "another attempt succeeded"
	reasonOver     = "stage finished"
	reasonAborted  = "job aborted"
	reasonFailed   = "java.lang.RuntimeException: injected failure"
	reasonLost     = "executor lost: Command exited with code 137"
	reasonExecutor = "Command exited with code 137"
)

// endAttempt handles the end of an attempt.
func (s *sim) endAttempt(at int32) {
	a := &s.slab[at]
	r, task, exec := a.run, a.task, a.exec
	switch a.outcome {
	case succeeds:
		out := output{serial: a.serial, exec: exec, number: a.row.Number, bytes: a.written, start: a.start, finish: s.now,
			locality: a.row.Locality.V, speculative: a.marked && a.row.Speculative.V}
		lived := s.now - a.start
		sibling := a.sibling
		if a.row.Number > 0 {
			r.recordTry(task, a.row.Number)
		}
		s.execs[exec].warm = true
		s.finish(at, schema.Success, "")
		s.killOthers(r, task, sibling)
		s.recordOutput(r, task, out)
		s.addDuration(r, lived)
		s.fireLosses(r)
	case fails:
		s.finish(at, schema.Failed, reasonFailed)
		s.requeue(r, task)
		s.countFailure(r, task)
	case failsToFetch:
		s.fetchFailed(at)
	}
}

// killOthers kills the other attempts of a task that has succeeded.
func (s *sim) killOthers(r *run, task int32, sibling ref) {
	if s.alive(sibling) {
		s.finish(sibling.at, schema.Killed, reasonBeaten)
	}
	cur := r.stage.current()
	if cur == nil || cur == r {
		return
	}
	for _, l := range cur.live { // an earlier submission was faster
		if s.alive(l) && s.slab[l.at].task == task {
			s.finish(l.at, schema.Killed, reasonBeaten)
		}
	}
}

func (s *sim) alive(r ref) bool { return r.serial > 0 && s.slab[r.at].serial == r.serial }

// recordOutput records a task's output and completes the stage with its last one.
func (s *sim) recordOutput(r *run, task int32, out output) {
	st := r.stage
	if st.isDone(task) {
		return
	}
	st.done[task>>6] |= 1 << (task & 63)
	st.missing--
	st.outBytes[s.execs[out.exec].machine.index] += out.bytes
	if st.outs != nil {
		st.outs[task] = out
	}
	if i, ok := st.lost[task]; ok {
		s.losses[i].RecomputedBy = schema.Some(s.attemptKeys.Nth(out.serial - 1))
		delete(st.lost, task)
	}
	if r.number == 0 {
		st.ended++
	}
	cur := st.current()
	if cur != nil {
		cur.left--
	}
	switch {
	case st.missing == 0:
		s.complete(st)
	case cur != nil && cur.left == 0: // outputs of earlier submissions have been lost meanwhile
		s.killAll(cur, reasonOver)
		s.endRun(cur, schema.RunSucceeded, "")
		s.submit(st)
	}
}

// complete ends a stage and submits what waited for it.
func (s *sim) complete(st *stage) {
	for _, r := range st.runs {
		s.killAll(r, reasonOver)
	}
	if cur := st.current(); cur != nil {
		s.endRun(cur, schema.RunSucceeded, "")
	}
	if st.kind == "result" {
		s.endJob(st.job, schema.RunSucceeded)
		return
	}
	for _, child := range st.children {
		s.submit(child)
	}
}

func (s *sim) killAll(r *run, why string) {
	for _, l := range r.live {
		if s.alive(l) {
			s.finish(l.at, schema.Killed, why)
		}
	}
}

// endRun ends a submission from the framework's point of view; attempts of it may still run.
func (s *sim) endRun(r *run, status schema.RunStatus, why string) {
	r.over = true
	r.row.Status, r.row.FinishTime = status, s.time(s.now)
	s.send(&Event{Kind: PhaseCompleted, Phase: &r.row, Reason: why})
	s.closeRun(r)
}

// closeRun emits a phase's row when it can no longer change.
func (s *sim) closeRun(r *run) {
	if !r.over || r.running > 0 || r.closed {
		return
	}
	r.closed = true
	if r.last > ms(r.row.FinishTime.V) {
		r.row.FinishTime = s.time(r.last)
	}
	s.send(&Event{Kind: PhaseClosed, Phase: &r.row})
	r.live, r.window, r.tasks, r.retry, r.nextTry, r.failures = nil, nil, nil, nil, nil, nil
}

func (s *sim) endJob(j *job, status schema.RunStatus) {
	for _, st := range j.stages { // recomputations that are no longer needed
		for _, r := range st.runs {
			s.killAll(r, reasonOver)
		}
		if cur := st.current(); cur != nil {
			s.endRun(cur, schema.RunFailed, "Job finished")
		}
	}
	j.over = true
	j.row.FinishTime, j.row.Status = s.time(s.now), status
	s.send(&Event{Kind: JobEnded, Job: &j.row})
	s.jobsOver++
	j.stages = nil
	s.queueNextJob(0)
}

// countFailure aborts the job of a task that failed too often.
func (s *sim) countFailure(r *run, task int32) {
	most := s.o.Faults.Failure.Most
	if most == 0 || r.over {
		return
	}
	if r.failures == nil {
		r.failures = map[int32]int{}
	}
	if r.failures[task]++; r.failures[task] < most {
		return
	}
	j := r.stage.job
	for _, st := range j.stages {
		for _, other := range st.runs {
			s.killAll(other, reasonAborted)
		}
		if cur := st.current(); cur != nil {
			s.endRun(cur, schema.RunFailed, fmt.Sprintf("Job aborted: task %d failed %d times", task, most))
		}
		if len(st.runs) == 0 {
			row := s.phaseRow(st, 0, st.tasks)
			s.send(&Event{Kind: PhaseClosed, Phase: &row, Edges: edges(st, &row)})
		}
	}
	s.endJob(j, schema.RunFailed)
}

// requeue queues a task for retry, unless it has an output or another attempt of it runs.
func (s *sim) requeue(r *run, task int32) {
	if r.over || r.stage.isDone(task) {
		return
	}
	for _, l := range r.live {
		if s.alive(l) && s.slab[l.at].task == task {
			return
		}
	}
	r.retry = append(r.retry, retry{task, s.now})
	s.wait(r)
}

// dropDead removes dead attempts from a submission's list when there are many.
func (s *sim) dropDead(r *run) {
	if len(r.live) <= 2*r.running+64 {
		return
	}
	kept, head := r.live[:0], 0
	for i, l := range r.live {
		if s.alive(l) {
			if i < r.head {
				head++
			}
			kept = append(kept, l)
		}
	}
	r.live, r.head = kept, head
}

// finish ends an attempt now: its row is complete, and its slot is free.
func (s *sim) finish(at int32, status schema.AttemptStatus, reason string) {
	a := &s.slab[at]
	r, x := a.run, s.execs[a.exec]
	lived := s.now - a.start
	if status != schema.Success {
		r.recordTry(a.task, a.row.Number)
		a.row.Reason = schema.Some(reason)
		s.cut(a, lived, status == schema.Lost || a.outcome == failsToFetch && status == schema.Failed)
	}
	a.row.Status = status
	a.row.FinishTime, a.row.DurationS = s.time(s.now), schema.Some(float64(lived)/1000)
	if a.row.Recompute {
		a.truth.By[byRecompute] = float64(lived)/1000 + a.truth.CutS
	}
	e := Event{Kind: AttemptEnded, Attempt: &a.row, Truth: &a.truth, Phase: &r.row}
	if a.loss >= 0 && status == schema.Failed {
		e.Loss, e.Maker = &s.losses[a.loss], s.makers[a.loss]
	}
	s.send(&e)
	if s.alive(a.sibling) {
		s.slab[a.sibling.at].sibling = ref{}
	}
	if !x.gone {
		s.free = append(s.free, a.exec)
	}
	*a = attempt{}
	s.spare = append(s.spare, at)
	r.running--
	r.last = s.now
	s.closeRun(r)
}

// cut reduces a row to the part of the attempt that actually ran.
func (s *sim) cut(a *attempt, lived int64, silent bool) {
	a.truth.CutS = float64(a.whole-lived) / 1000
	row := &a.row
	if silent { // the framework never heard from it
		row.Quality |= schema.MetricsMissing
		for _, v := range []*schema.Null[int64]{&row.InputBytes, &row.LocalBytes, &row.RemoteBytes, &row.CrossRackBytes, &row.InputRecords,
			&row.OutputBytes, &row.ShuffleWriteBytes, &row.SpillBytes, &row.PeakMemoryBytes} {
			*v = schema.Null[int64]{}
		}
		for _, v := range []*schema.Null[float64]{&row.CPUS, &row.GCS, &row.FetchWaitS, &row.SchedulerDelayS, &row.DeserializeS, &row.ResultS} {
			*v = schema.Null[float64]{}
		}
		return
	}
	part := float64(lived) / float64(a.whole)
	scale := func(v *schema.Null[int64]) { v.V = int64(float64(v.V) * part) }
	scale(&row.LocalBytes)
	scale(&row.RemoteBytes)
	row.InputBytes.V = row.LocalBytes.V + row.RemoteBytes.V
	scale(&row.CrossRackBytes)
	scale(&row.InputRecords)
	scale(&row.SpillBytes)
	for _, v := range []*schema.Null[float64]{&row.CPUS, &row.GCS, &row.FetchWaitS} {
		v.V = math.Floor(v.V*part*1000) / 1000
	}
	// Written at the end, or found by comparing with the end: unknown.
	row.OutputBytes, row.ShuffleWriteBytes = schema.Null[int64]{}, schema.Null[int64]{}
	row.SchedulerDelayS, row.DeserializeS, row.ResultS = schema.Null[float64]{}, schema.Null[float64]{}, schema.Null[float64]{}
}
