package laws

import (
	"reflect"
	"strings"

	"straggler/schema"
)

// Trace returns every violation in a trace, in the order of the laws' kinds, the tables and the rows.
func Trace(t *schema.Trace) []Violation {
	var found []Violation
	report := Report(func(v Violation) { found = append(found, v) })
	for b := range t.Batches() {
		Rows(b, report)
	}
	for _, u := range Uniques() {
		u.check(t, report)
	}
	x := newIndex(t)
	for _, r := range References() {
		r.check(t, x, report)
	}
	x.joined(report)
	return found
}

// check counts the rows of a trace that have the same values.
func (u Unique) check(t *schema.Trace, report Report) {
	type same struct {
		key string
		n   int64
	}
	rows, twice := map[string]*same{}, []*same(nil)
	for row := range rowsOf(t, u.Table) {
		all, shown := "", []string(nil)
		for _, c := range u.Columns {
			v, ok := value(row, u.Table, c)
			if all += "\x00"; ok {
				all += "=" + text(v)
			}
			if ok && c.Type != schema.Timestamp {
				shown = append(shown, text(v))
			}
		}
		s := rows[all]
		if s == nil {
			s = &same{key: strings.Join(shown, KeySeparator)}
			rows[all] = s
		}
		if s.n++; s.n == 2 {
			twice = append(twice, s)
		}
	}
	for _, s := range twice {
		u.Report(report, s.key, s.n)
	}
}

// check looks up the rows that a column refers to.
func (r Reference) check(t *schema.Trace, x *index, report Report) {
	for row := range rowsOf(t, r.Table) {
		v, ok := value(row, r.Table, r.Column)
		if !ok || x.has(r.Column.Key, v.Int()) {
			continue
		}
		first, _ := value(row, r.Table, &r.Table.Columns[0])
		r.Report(report, text(first), v.Int())
	}
}

// index finds rows of a trace by their keys; of several with the same key, the first.
type index struct {
	t            *schema.Trace
	applications map[schema.Key]*schema.Application
	jobs         map[schema.Key]*schema.Job
	phases       map[schema.Key]*schema.Phase
	attempts     map[schema.Key]*schema.Attempt
	queries      map[schema.Key]*schema.Query
	nodes        map[schema.Key]*schema.PlanNode
}

func newIndex(t *schema.Trace) *index {
	return &index{t: t,
		applications: byKey(t.Applications, func(a *schema.Application) schema.Key { return a.ApplicationID }),
		jobs:         byKey(t.Jobs, func(j *schema.Job) schema.Key { return j.JobID }),
		phases:       byKey(t.Phases, func(p *schema.Phase) schema.Key { return p.PhaseID }),
		attempts:     byKey(t.Attempts, func(a *schema.Attempt) schema.Key { return a.AttemptID }),
		queries:      byKey(t.Queries, func(q *schema.Query) schema.Key { return q.QueryID }),
		nodes:        byKey(t.PlanNodes, func(n *schema.PlanNode) schema.Key { return n.NodeID }),
	}
}

func byKey[R any](rows []R, key func(*R) schema.Key) map[schema.Key]*R {
	m := make(map[schema.Key]*R, len(rows))
	for i := range rows {
		if k := key(&rows[i]); m[k] == nil {
			m[k] = &rows[i]
		}
	}
	return m
}

func (x *index) has(table string, key schema.Key) bool {
	switch table {
	case "applications":
		return x.applications[key] != nil
	case "jobs":
		return x.jobs[key] != nil
	case "phases":
		return x.phases[key] != nil
	case "attempts":
		return x.attempts[key] != nil
	case "queries":
		return x.queries[key] != nil
	case "plan_nodes":
		return x.nodes[key] != nil
	}
	panic("laws: no index of " + table)
}

// joined joins rows with those they refer to, as package verify does in SQL.
func (x *index) joined(report Report) {
	tasks, task := map[schema.Key]int64{}, map[[2]int64]bool{}
	for i := range x.t.Attempts {
		a := &x.t.Attempts[i]
		if p := x.phases[a.PhaseID]; p != nil {
			x.attemptInPhase(a, p).Check(report)
		}
		if k := [2]int64{a.PhaseID, a.Task}; !task[k] {
			task[k] = true
			tasks[a.PhaseID]++
		}
	}
	for i := range x.t.Phases {
		p := &x.t.Phases[i]
		(&PhaseTasks{p.PhaseID, p.TaskCount, tasks[p.PhaseID]}).Check(report)
	}
	var cycles Cycles
	for i := range x.t.Edges {
		e := x.edge(&x.t.Edges[i])
		e.Check(report)
		cycles.Add(e, report)
	}
	cycles.End(report)
	for i := range x.t.Progress {
		p := &x.t.Progress[i]
		if a := x.attempts[p.AttemptID]; a != nil {
			(&ProgressOfAttempt{p.AttemptID, p.Time, a.StartTime, a.FinishTime}).Check(report)
		}
	}
	for i := range x.t.PlanNodes {
		n := &x.t.PlanNodes[i]
		if p := x.nodes[n.ParentID.V]; n.ParentID.OK && p != nil {
			(&NodeOfPlan{"plan_nodes", n.NodeID, n.QueryID, n.Plan, n.Position, p.QueryID, p.Plan, p.Position}).Check(report)
		}
	}
	for i := range x.t.NodePhases {
		r := &x.t.NodePhases[i]
		if n := x.nodes[r.NodeID]; n != nil {
			(&NodeOfPlan{"node_phases", r.NodeID, r.QueryID, schema.FinalPlan, 0, n.QueryID, n.Plan, 0}).Check(report)
		}
	}
	for i := range x.t.Losses {
		x.loss(&x.t.Losses[i]).Check(report)
	}
}

func (x *index) attemptInPhase(a *schema.Attempt, p *schema.Phase) *AttemptInPhase {
	v := &AttemptInPhase{AttemptID: a.AttemptID, PhaseID: a.PhaseID, JobID: a.JobID, ApplicationID: a.ApplicationID, Task: a.Task,
		StartTime: a.StartTime, FinishTime: a.FinishTime, Quality: int64(a.Quality),
		PhaseJob: p.JobID, PhaseStatus: p.Status, PhaseStart: p.StartTime, PhaseFinish: p.FinishTime, PhaseAttempt: p.Attempt,
		PhaseRecompute: p.Recompute, TaskCount: p.TaskCount}
	if j := x.jobs[a.JobID]; j != nil {
		v.JobApplication = schema.Some(j.ApplicationID)
	}
	return v
}

func (x *index) edge(e *schema.Edge) *EdgeOfPhases {
	v := &EdgeOfPhases{JobID: e.JobID, FromPhase: e.FromPhase, ToPhase: e.ToPhase}
	side := func(phase schema.Key) (job, application schema.Null[schema.Key]) {
		p := x.phases[phase]
		if p == nil {
			return job, application
		}
		if j := x.jobs[p.JobID]; j != nil {
			application = schema.Some(j.ApplicationID)
		}
		return schema.Some(p.JobID), application
	}
	_, v.FromApplication = side(e.FromPhase)
	v.ToJob, v.ToApplication = side(e.ToPhase)
	return v
}

func (x *index) loss(l *schema.Loss) *LossOfAttempt {
	v := &LossOfAttempt{PhaseID: l.PhaseID, Task: l.Task, AttemptID: l.AttemptID, RecomputedBy: l.RecomputedBy, Time: l.Time}
	if a := x.attempts[l.AttemptID.V]; l.AttemptID.OK && a != nil {
		v.AttemptPhase, v.AttemptTask = schema.Some(a.PhaseID), schema.Some(a.Task)
	}
	if a := x.attempts[l.RecomputedBy.V]; l.RecomputedBy.OK && a != nil {
		v.RecomputedFinish = a.FinishTime
	}
	return v
}

// rowsOf returns the rows of a table as structs.
func rowsOf(t *schema.Trace, table *schema.Table) func(func(reflect.Value) bool) {
	return func(yield func(reflect.Value) bool) {
		for b := range t.Batches() {
			for i := 0; b.Table() == table && i < b.Len(); i++ {
				if !yield(b.Row(i)) {
					return
				}
			}
		}
	}
}

// value returns the value of a column of a row, or false if it is NULL.
func value(row reflect.Value, t *schema.Table, c *schema.Column) (reflect.Value, bool) {
	for i := range t.Columns {
		if &t.Columns[i] == c {
			return known(row.Field(i), c)
		}
	}
	panic("laws: " + t.Name + " has no column " + c.Name)
}
