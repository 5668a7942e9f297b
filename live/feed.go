package live

import (
	"slices"
	"time"

	"straggler/schema"
	"straggler/whatif/replay"
)

// feed converts the states of an application to events for the policies.
type feed struct {
	to       *replay.Observed
	origin   schema.Time // the application's start, which instants count from
	jobs     map[schema.Key]int32
	phases   map[schema.Key]*watchedPhase
	attempts map[schema.Key]*attempt
	list     []*attempt // by the number that events name
	settings map[string]string
	came     map[string]int64 // slots of executors, or of machines as a whole, that were reported
	left     map[string]bool
	beats    map[string]*heartbeat // by executor
}

// watchedPhase is a phase as seen by the policies.
type watchedPhase struct {
	number  int32
	tasks   []int64 // by the policies' number, -1: none of it was seen
	numbers map[int64]int32
	spare   int32 // numbers beyond it are taken
	over    bool
	read    schema.Time // when it was last read what its attempts report
	pace    pace
}

// attempt is an observed attempt, with the last two reports of its progress.
type attempt struct {
	phase   *watchedPhase
	task    int32
	number  int32
	started schema.Time
	ended   bool
	samples [2]sample // the older one first; At 0: none
}

// sample is the progress of an attempt at an instant between two others, and when it was first seen.
type sample struct {
	from, to, at schema.Time
	bytes        int64   // that it had read
	progress     float64 // the share of its work, as it says itself; 0: not said
}

// maxTasks bounds the tasks of a phase that are watched. Spark itself keeps 100,000 of a stage for its pages.
const maxTasks = 2_000_000

func (f *feed) setting(name string) string { return f.settings[name] }

func (f *feed) time(t schema.Time) replay.Time { return replay.Time(t - f.origin) }

// update reports what is new in a state, and returns the phases that have ended since the last one.
func (f *feed) update(s *State) (over []*watchedPhase) {
	t := s.Trace
	f.executors(t)
	for i := range t.Jobs {
		if k := t.Jobs[i].JobID; !has(f.jobs, k) {
			f.jobs[k] = f.to.Job(k)
		}
	}
	for i := range t.Phases {
		f.phase(&t.Phases[i])
	}
	for i := range t.Attempts {
		a := &t.Attempts[i]
		f.attempt(a, s.Progress[a.AttemptID], s.Now, s.Heartbeat)
	}
	for i := range t.Phases {
		p := &t.Phases[i]
		w := f.phases[p.PhaseID]
		if w != nil && !s.Stale[p.PhaseID] {
			w.read = s.Now
		}
		if w != nil && !w.over && p.FinishTime.OK && p.Status != schema.RunRunning {
			w.over = true
			over = append(over, w)
			f.to.Report(replay.Event{What: replay.Over, At: f.time(p.FinishTime.V), Phase: w.number})
		}
	}
	return over
}

func has[K comparable, V any](m map[K]V, k K) bool { _, ok := m[k]; return ok }

// executors reports executors that joined, gained slots, or left. A machine whose slots belong to no executor counts as one, by
// its name.
func (f *feed) executors(t *schema.Trace) {
	for i := range t.Machines {
		m := &t.Machines[i]
		if !m.Slots.OK {
			continue
		}
		name, slots := m.Executor.Or(m.Machine), min(m.Slots.V, 10_000)
		if more := slots - f.came[name]; more > 0 {
			f.came[name] = slots
			f.to.Report(replay.Event{What: replay.ExecutorCame, At: f.time(m.AddedTime.Or(f.origin)), Machine: m.Machine,
				Executor: name, Slots: int(more)})
		}
		if m.RemovedTime.OK && !f.left[name] {
			f.left[name] = true
			f.to.Report(replay.Event{What: replay.ExecutorLeft, At: f.time(m.RemovedTime.V), Executor: name})
		}
	}
}

func (f *feed) phase(p *schema.Phase) {
	job, ok := f.jobs[p.JobID]
	since := p.SubmitTime
	if !since.OK {
		since = p.StartTime
	}
	if !ok || !since.OK || !p.TaskCount.OK || p.TaskCount.V <= 0 || p.TaskCount.V > maxTasks || has(f.phases, p.PhaseID) {
		return
	}
	size := int(p.TaskCount.V)
	w := &watchedPhase{number: f.to.Phase(job, p.PhaseID, p.Kind, p.Gang, size), tasks: slices.Repeat([]int64{-1}, size),
		numbers: map[int64]int32{}, spare: int32(size) - 1}
	f.phases[p.PhaseID] = w
	f.to.Report(replay.Event{What: replay.Released, At: f.time(since.V), Phase: w.number})
}

// taskNumber returns the policies' number of a task: its own, or the highest free one if its own is taken or not below the number
// of tasks, as when a stage is submitted again for some of its partitions. It returns -1 if there are more tasks than were
// planned.
func (w *watchedPhase) taskNumber(task int64) int32 {
	if n, ok := w.numbers[task]; ok {
		return n
	}
	n := int32(-1)
	if task >= 0 && task < int64(len(w.tasks)) && w.tasks[task] < 0 {
		n = int32(task)
	} else {
		for ; w.spare >= 0 && w.tasks[w.spare] >= 0; w.spare-- {
		}
		n = w.spare
	}
	if n >= 0 {
		w.tasks[n], w.numbers[task] = task, n
	}
	return n
}

func (f *feed) attempt(a *schema.Attempt, progress float64, now schema.Time, heartbeats time.Duration) {
	w := f.phases[a.PhaseID]
	if w == nil || !a.StartTime.OK {
		return
	}
	x := f.attempts[a.AttemptID]
	if x == nil {
		task := w.taskNumber(a.Task)
		if task < 0 {
			return
		}
		x = &attempt{phase: w, task: task, number: int32(len(f.list)), started: a.StartTime.V}
		f.attempts[a.AttemptID], f.list = x, append(f.list, x)
		f.report(x, a, replay.Launched, a.StartTime.V)
	}
	switch {
	case x.ended:
	case a.Status == schema.Running:
		if n, last := a.InputBytes.Or(0), x.samples[1]; n > last.bytes || progress > 0 {
			from, to := f.beat(a.Executor.V).last(max(w.read, x.started), now, heartbeats)
			x.samples = [2]sample{last, {from, to, now, max(n, last.bytes), min(max(progress, last.progress), 1)}}
			f.report(x, a, replay.Reported, now)
		}
	default:
		x.ended = true
		what := replay.Failed
		if a.Status == schema.Success {
			what = replay.Succeeded
		} else if a.Status == schema.Killed {
			w.pace.killed(a.Machine.V, a.DurationS.V)
		}
		f.report(x, a, what, a.FinishTime.Or(now))
	}
}

func (f *feed) beat(executor string) *heartbeat {
	h := f.beats[executor]
	if h == nil {
		h = &heartbeat{}
		f.beats[executor] = h
	}
	return h
}

func (f *feed) report(x *attempt, a *schema.Attempt, what replay.What, at schema.Time) {
	executor := a.Executor.V
	if _, whole := f.came[a.Machine.V]; whole {
		executor = a.Machine.V
	}
	f.to.Report(replay.Event{What: what, At: f.time(at), Phase: x.phase.number, Task: x.task, Attempt: x.number,
		Machine: a.Machine.V, Executor: executor, Copy: a.Speculative.Or(false),
		Bytes: a.InputBytes.Or(-1), Records: a.InputRecords.Or(-1)})
}
