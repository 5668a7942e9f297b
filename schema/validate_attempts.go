package schema

import "math"

// The laws of attempts and of the edges between their phases.

type taskOf struct {
	phase Key
	task  int64
}

type attemptOf struct {
	taskOf
	number int32
}

func (v *validator) attempts(t *Trace) {
	numbers := make(map[attemptOf]int, len(t.Attempts))
	tasks := make(map[taskOf]bool)
	distinct := make(map[Key]int64)
	for i := range t.Attempts {
		a := &t.Attempts[i]
		v.attempt(i, a)
		if p := v.row("phases", a.PhaseID); p >= 0 {
			v.attemptInPhase(t, i, a, &t.Phases[p])
		}
		task := taskOf{a.PhaseID, a.Task}
		if first, ok := numbers[attemptOf{task, a.Number}]; ok {
			v.add("attempts", i, a.AttemptID, "number", RuleNumber, "attempt %d of task %d of phase %d is also row %d", a.Number, a.Task, a.PhaseID, first)
		} else {
			numbers[attemptOf{task, a.Number}] = i
		}
		if !tasks[task] {
			tasks[task] = true
			distinct[a.PhaseID]++
		}
	}
	for i := range t.Phases {
		p := &t.Phases[i]
		if n := distinct[p.PhaseID]; p.TaskCount.OK && n > p.TaskCount.V {
			v.add("phases", i, p.PhaseID, "task_count", RuleTask, "%d tasks have attempts and %d were planned", n, p.TaskCount.V)
		}
	}
}

// attempt checks an attempt's row by itself.
func (v *validator) attempt(i int, a *Attempt) {
	v.ordered("attempts", i, a.AttemptID, []string{"queued_time", "start_time", "finish_time"}, a.QueuedTime, a.StartTime, a.FinishTime)
	v.stillRuns("attempts", i, a.AttemptID, a.Status == Running, a.FinishTime)
	v.duration(i, a)
	if a.DurationS.OK {
		v.part(i, a, "scheduler_delay_s", a.SchedulerDelayS)
		v.part(i, a, "deserialize_s", a.DeserializeS)
		v.part(i, a, "result_s", a.ResultS)
	}
	if a.InputBytes.OK && a.LocalBytes.Or(0)+a.RemoteBytes.Or(0) > a.InputBytes.V {
		v.add("attempts", i, a.AttemptID, "input_bytes", RuleBytes, "local %d + remote %d > input %d", a.LocalBytes.Or(0), a.RemoteBytes.Or(0), a.InputBytes.V)
	}
	if a.RemoteBytes.OK && a.CrossRackBytes.Or(0) > a.RemoteBytes.V {
		v.add("attempts", i, a.AttemptID, "cross_rack_bytes", RuleBytes, "cross-rack %d > remote %d", a.CrossRackBytes.V, a.RemoteBytes.V)
	}
}

func (v *validator) duration(i int, a *Attempt) {
	known := a.StartTime.OK && a.FinishTime.OK
	switch {
	case known && !a.DurationS.OK:
		v.add("attempts", i, a.AttemptID, "duration_s", RuleDuration, "NULL, though start and finish are known")
	case !known && a.DurationS.OK && a.Quality&PartialRow == 0: // archives know how long and not when
		v.add("attempts", i, a.AttemptID, "duration_s", RuleDuration, "%v, though start or finish is NULL and the row is not marked partial", a.DurationS.V)
	case known && !(math.Abs(a.FinishTime.V.Sub(a.StartTime.V)-a.DurationS.V) < durationEpsilon):
		v.add("attempts", i, a.AttemptID, "duration_s", RuleDuration, "%v, and finish − start is %v", a.DurationS.V, a.FinishTime.V.Sub(a.StartTime.V))
	}
}

func (v *validator) part(i int, a *Attempt, column string, s Null[float64]) {
	if s.OK && s.V > a.DurationS.V+partTolerance {
		v.add("attempts", i, a.AttemptID, column, RulePart, "%v s of an attempt of %v s", s.V, a.DurationS.V)
	}
}

// attemptInPhase checks an attempt against the phase it belongs to.
func (v *validator) attemptInPhase(t *Trace, i int, a *Attempt, p *Phase) {
	if a.JobID != p.JobID {
		v.add("attempts", i, a.AttemptID, "job_id", RuleOwner, "%d, and its phase's is %d", a.JobID, p.JobID)
	} else if j := v.row("jobs", a.JobID); j >= 0 && t.Jobs[j].ApplicationID != a.ApplicationID {
		v.add("attempts", i, a.AttemptID, "application_id", RuleOwner, "%d, and its job's is %d", a.ApplicationID, t.Jobs[j].ApplicationID)
	}
	if p.Status == RunSkipped {
		v.add("attempts", i, a.AttemptID, "phase_id", RuleSkipped, "phase %d was skipped", p.PhaseID)
	}
	if a.StartTime.OK && p.StartTime.OK && a.StartTime.V < p.StartTime.V {
		v.add("attempts", i, a.AttemptID, "start_time", RuleWindow, "%d is before its phase's %d", a.StartTime.V, p.StartTime.V)
	}
	if a.FinishTime.OK && p.FinishTime.OK && a.FinishTime.V > p.FinishTime.V {
		v.add("attempts", i, a.AttemptID, "finish_time", RuleWindow, "%d is after its phase's %d", a.FinishTime.V, p.FinishTime.V)
	}
	// A re-submission runs the missing tasks only and keeps their indexes: its task_count is no bound for them.
	whole := p.Attempt == 0 && !p.Recompute && a.Quality&TaskUnknown == 0
	if whole && p.TaskCount.OK && a.Task >= p.TaskCount.V {
		v.add("attempts", i, a.AttemptID, "task", RuleTask, "%d of a phase of %d tasks", a.Task, p.TaskCount.V)
	}
}

func (v *validator) edges(t *Trace) {
	type edge struct{ job, from, to Key }
	seen := make(map[edge]bool, len(t.Edges))
	next := make(map[Key][]Key)
	for i, e := range t.Edges {
		if seen[edge{e.JobID, e.FromPhase, e.ToPhase}] {
			v.add("edges", i, e.JobID, "to_phase", RuleEdge, "%d → %d again", e.FromPhase, e.ToPhase)
		}
		seen[edge{e.JobID, e.FromPhase, e.ToPhase}] = true
		next[e.FromPhase] = append(next[e.FromPhase], e.ToPhase)
		v.edgeOwner(t, i, e)
	}
	state := make(map[Key]int8)
	for i, e := range t.Edges {
		if cyclic(next, state, e.FromPhase) {
			v.add("edges", i, e.JobID, "from_phase", RuleEdge, "phase %d depends on itself", e.FromPhase)
			return // one cycle says it all
		}
	}
}

func (v *validator) edgeOwner(t *Trace, i int, e Edge) {
	from, to := v.row("phases", e.FromPhase), v.row("phases", e.ToPhase)
	if to >= 0 && t.Phases[to].JobID != e.JobID {
		v.add("edges", i, e.JobID, "to_phase", RuleOwner, "phase %d belongs to job %d", e.ToPhase, t.Phases[to].JobID)
	}
	if from < 0 || to < 0 {
		return
	}
	a, b := v.row("jobs", t.Phases[from].JobID), v.row("jobs", t.Phases[to].JobID)
	if a >= 0 && b >= 0 && t.Jobs[a].ApplicationID != t.Jobs[b].ApplicationID {
		v.add("edges", i, e.JobID, "from_phase", RuleOwner, "phases %d and %d belong to different applications", e.FromPhase, e.ToPhase)
	}
}

// cyclic walks depth first from a phase, without recursion because a log may hold very long chains. state: 1 = on the
// current path, 2 = done.
func cyclic(next map[Key][]Key, state map[Key]int8, from Key) bool {
	if state[from] == 2 {
		return false
	}
	type frame struct {
		phase Key
		child int
	}
	path := []frame{{from, 0}}
	state[from] = 1
	for len(path) > 0 {
		top := &path[len(path)-1]
		if top.child == len(next[top.phase]) {
			state[top.phase] = 2
			path = path[:len(path)-1]
			continue
		}
		to := next[top.phase][top.child]
		top.child++
		if state[to] == 1 {
			return true
		}
		if state[to] == 0 {
			state[to] = 1
			path = append(path, frame{to, 0})
		}
	}
	return false
}
