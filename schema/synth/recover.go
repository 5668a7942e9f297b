package synth

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"straggler/schema"
)

// Losses as in Spark without an external shuffle service: an executor disappears with its running attempts and with the outputs
// on it. A stage that still runs recomputes the lost ones at once. In the stages that read them, attempts that have not
// finished reading fail, as do those launched later; the first failure ends the submission. Stages with missing outputs are
// then submitted again, producers first, with the missing tasks only.

// resubmitAfter is how long the scheduler collects failures before it resubmits stages, as in Spark.
const resubmitAfter = 200

// lossPlan kills an executor when a share of a stage's tasks have succeeded.
type lossPlan struct {
	job    int
	stage  float64 // position among the job's stages, 0 to 1
	after  float64 // share of the tasks
	random random
	done   bool
}

func (s *sim) planLosses() {
	d := s.random.of(-2)
	for i := range d.poisson(forLoss, s.o.Faults.Loss.PerApplication) {
		p := d.of(i)
		s.lossPlans = append(s.lossPlans, lossPlan{job: p.intn(forLoss, s.o.Shape.Jobs), stage: p.of(0).uniform(forLoss),
			after: p.of(1).between(forLoss, Range{0.1, 0.8}), random: p})
	}
}

// fireLosses triggers the losses that wait for a stage to get this far.
func (s *sim) fireLosses(r *run) {
	if r.number > 0 || r.stage.job.over {
		return
	}
	for i := range s.lossPlans {
		p := &s.lossPlans[i]
		stages := r.stage.job.stages
		if p.done || p.job != r.stage.job.id {
			continue
		}
		// Readers are more interesting than first stages, which are chosen only if there is nothing else.
		at := min(len(stages)-1, 1+int(p.stage*float64(len(stages)-1)))
		if stages[at] == r.stage && float64(r.stage.ended) >= math.Ceil(p.after*float64(r.stage.tasks)) {
			p.done = true
			s.loseExecutor(p.random)
		}
	}
}

// loseExecutor kills one of the present executors.
func (s *sim) loseExecutor(d random) {
	var there []int32
	for i, x := range s.execs {
		if !x.gone {
			there = append(there, int32(i))
		}
	}
	if len(there) == 0 {
		return
	}
	exec := there[d.intn(forVictim, len(there))]
	x := s.execs[exec]
	x.gone = true
	x.row.RemovedTime = s.time(s.now)
	s.free = slices.DeleteFunc(s.free, func(e int32) bool { return e == exec })
	for i := range s.slab {
		if a := &s.slab[i]; a.serial > 0 && a.exec == exec {
			r, task := a.run, a.task
			s.finish(int32(i), schema.Lost, reasonLost)
			s.requeue(r, task)
		}
	}
	s.send(&Event{Kind: ExecutorRemoved, Machine: &x.row, Reason: reasonExecutor})
	for _, j := range s.jobs {
		for _, st := range j.stages {
			s.loseOutputs(st, exec)
		}
	}
	back := s.now + max(1, int64(1000*d.between(forCold, s.o.Faults.Loss.RestartS)))
	s.queue.push(event{at: back, kind: executorBack, ref: ref{at: int32(x.machine.index)}})
}

// loseOutputs removes the outputs of a stage on an executor, if they are still needed.
func (s *sim) loseOutputs(st *stage, exec int32) {
	needed := slices.ContainsFunc(st.children, func(c *stage) bool { return c.missing > 0 })
	if !needed {
		return
	}
	cur, any := st.current(), false
	for task := range int32(st.tasks) {
		out := st.outs[task]
		if out.exec != exec || !st.isDone(task) {
			continue
		}
		any = true
		st.done[task>>6] &^= 1 << (task & 63)
		st.missing++
		m := s.execs[exec].machine
		st.outBytes[m.index] -= out.bytes
		if st.lost == nil {
			st.lost = map[int32]int{}
		}
		st.lost[task] = len(s.losses)
		s.makers = append(s.makers, Maker{Task: strconv.FormatInt(out.serial-1, 10), Executor: s.execs[exec].id})
		s.losses = append(s.losses, schema.Loss{PhaseID: st.phaseOf(out.serial), Task: int64(task),
			AttemptID: schema.Some(s.attemptKeys.Nth(out.serial - 1)), Machine: schema.Some(m.Machine), Time: s.time(s.now)})
		if cur != nil && s.losses[len(s.losses)-1].PhaseID == cur.row.PhaseID {
			s.lostWhileRunning(cur, task, out)
		}
	}
	if any {
		s.breakReaders(st)
	}
}

// phaseOf returns the submission in which an output was made.
func (st *stage) phaseOf(serial int64) schema.Key {
	for _, r := range st.runs {
		if serial <= r.lastSerial {
			return r.row.PhaseID
		}
	}
	return st.phaseKey
}

// lostWhileRunning recomputes a task of a running stage.
func (s *sim) lostWhileRunning(r *run, task int32, out output) {
	r.left++
	r.recordTry(task, out.number)
	r.retry = append(r.retry, retry{task, s.now})
	s.wait(r)
	x := s.execs[out.exec]
	row := schema.Attempt{ // as the framework reports it: the attempt that had succeeded, once more
		AttemptID: s.attemptKeys.Nth(out.serial - 1), PhaseID: r.row.PhaseID, JobID: r.row.JobID, ApplicationID: s.app.ApplicationID,
		Task: int64(task), Number: out.number, NativeID: strconv.FormatInt(out.serial-1, 10), Machine: schema.Some(x.machine.Machine),
		Executor: schema.Some(x.id), StartTime: s.time(out.start), FinishTime: s.time(out.finish), Status: schema.Success,
		Locality: schema.Some(out.locality), Speculative: schema.Some(out.speculative),
	}
	s.send(&Event{Kind: OutputLost, Attempt: &row, Phase: &r.row, Loss: &s.losses[len(s.losses)-1], Maker: s.makers[len(s.losses)-1]})
}

// breakReaders makes the running attempts fail that have not finished reading a stage's outputs.
func (s *sim) breakReaders(st *stage) {
	for _, child := range st.children {
		cur := child.current()
		if cur == nil {
			continue
		}
		for _, l := range cur.live {
			if !s.alive(l) {
				continue
			}
			a := &s.slab[l.at]
			if a.outcome == failsToFetch || a.fetched <= s.now {
				continue
			}
			own := child.random.of(int(a.task)).of(int(cur.number)).of(int(a.row.Number))
			s.failToFetch(a, st, s.now+100+int64(900*own.uniform(forDetection)))
			s.queue.push(event{at: a.end, kind: attemptEnds, ref: l})
		}
	}
}

// failToFetch makes an attempt fail at an instant, on one of the lost outputs of a stage.
func (s *sim) failToFetch(a *attempt, st *stage, at int64) {
	a.outcome, a.end = failsToFetch, min(at, a.start+a.whole)
	task := a.run.stage.random.of(int(a.task))
	pick := task.intn(forVictim, st.missing)
	for t := range int32(st.tasks) {
		if st.isDone(t) {
			continue
		}
		if pick--; pick < 0 {
			if i, ok := st.lost[t]; ok {
				a.loss = i
			}
			return
		}
	}
}

// fetchFailed ends an attempt that could not read its input, and with the first of them the submission.
func (s *sim) fetchFailed(at int32) {
	a := &s.slab[at]
	r := a.run
	reason := "fetch failed"
	if a.loss >= 0 {
		l := &s.losses[a.loss]
		if !l.DetectedBy.OK && !l.RecomputedBy.OK {
			l.DetectedBy = schema.Some(a.row.AttemptID)
		}
		reason = fmt.Sprintf("fetch failed: output of task %d is lost with %s", l.Task, l.Machine.V)
	}
	s.finish(at, schema.Failed, reason)
	if r.over {
		return
	}
	s.endRun(r, schema.RunFailed, reason)
	s.queue.push(event{at: s.now + resubmitAfter, kind: stageAgain, stage: r.stage})
}
