package yarn

import (
	"cmp"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"straggler/live"
	"straggler/schema"
)

// rows converts answers to the rows that ingest makes of the job's history, as far as the master reports them. It does not
// report what tasks have read.
type rows struct {
	schema.Trace
	keys   *schema.Keys
	phases map[string]int // by type of task, indices in Trace.Phases
	byID   map[string]int // attempts, indices in Trace.Attempts
	of     map[string][]int
	shares map[schema.Key]float64 // reported by running attempts
}

func newRows(app, source string) *rows {
	input := schema.InputKey(app, nil)
	r := &rows{keys: schema.NewKeys(input, "attempts"), phases: map[string]int{}, byID: map[string]int{}, of: map[string][]int{},
		shares: map[schema.Key]float64{}}
	r.Applications = []schema.Application{{ApplicationID: schema.NewKeys(input, "applications").Next(), NativeID: app,
		Framework: "mapreduce", SourceFile: source, TimeOrigin: "epoch"}}
	r.Jobs = []schema.Job{{JobID: schema.NewKeys(input, "jobs").Next(), ApplicationID: r.Applications[0].ApplicationID}}
	phases := schema.NewKeys(input, "phases")
	for i, kind := range []string{"map", "reduce"} {
		r.phases[strings.ToUpper(kind)] = i
		r.Phases = append(r.Phases, schema.Phase{PhaseID: phases.Next(), JobID: r.Jobs[0].JobID, NativeID: kind, Name: text(kind),
			Kind: kind, Status: schema.RunUnknown})
	}
	r.Edges = []schema.Edge{{JobID: r.Jobs[0].JobID, FromPhase: r.Phases[0].PhaseID, ToPhase: r.Phases[1].PhaseID, Pattern: schema.AllToAll}}
	return r
}

func text(s string) schema.Null[string] { return schema.Null[string]{V: s, OK: s != ""} }

func instant(ms int64) schema.Null[schema.Time] {
	return schema.Null[schema.Time]{V: schema.FromMillis(ms), OK: ms > 0}
}

var runStatus = map[string]schema.RunStatus{"SUCCEEDED": schema.RunSucceeded, "FAILED": schema.RunFailed, "KILLED": schema.RunFailed, "ERROR": schema.RunFailed}

func (r *rows) job(j *job) {
	app, x := &r.Applications[0], &r.Jobs[0]
	status, ended := runStatus[j.State]
	if !ended {
		status = schema.RunRunning
	}
	app.Name, app.User = text(j.Name), text(j.User)
	app.StartTime, app.FinishTime, app.Status, app.Complete = instant(j.StartTime), instant(j.FinishTime), status, ended
	x.NativeID, x.Name, x.Status = j.ID, text(j.Name), status
	x.SubmitTime, x.StartTime, x.FinishTime = instant(j.StartTime), instant(j.StartTime), instant(j.FinishTime)
	for kind, total := range map[string]int64{"MAP": j.MapsTotal, "REDUCE": j.ReducesTotal} {
		p := &r.Phases[r.phases[kind]]
		p.TaskCount = schema.Null[int64]{V: total, OK: total > 0}
		if ended {
			p.Status = status
		}
	}
}

// over records the phases whose tasks have all succeeded.
func (r *rows) over(list []task) {
	for kind, at := range r.phases {
		p, done := &r.Phases[at], int64(0)
		for i := range list {
			if t := &list[i]; t.Type == kind && t.State == "SUCCEEDED" {
				done++
			}
		}
		if p.TaskCount.OK && done == p.TaskCount.V {
			p.Status = schema.RunSucceeded
		} else if p.Status == schema.RunSucceeded { // an output was lost
			p.Status = schema.RunRunning
		}
	}
}

var attemptStatus = map[string]schema.AttemptStatus{"RUNNING": schema.Running, "COMMIT_PENDING": schema.Running, "SUCCESS_FINISHING_CONTAINER": schema.Running,
	"SUCCESS_CONTAINER_CLEANUP": schema.Running, "SUCCEEDED": schema.Success, "FAILED": schema.Failed, "KILLED": schema.Killed}

// attempts adds the attempts of a task, except those not launched yet.
func (r *rows) attempts(t *task, list []attempt) {
	at, ok := r.phases[t.Type]
	index, numbered := number(t.ID)
	if !ok || !numbered {
		return
	}
	p := &r.Phases[at]
	for i := range list {
		a := &list[i]
		status, known := attemptStatus[a.State]
		n, numbered := number(a.ID)
		if !known || !numbered || a.StartTime <= 0 {
			continue
		}
		k, seen := r.byID[a.ID]
		if seen && r.Attempts[k].Status != schema.Running {
			continue
		}
		if !seen {
			k = len(r.Attempts)
			r.Attempts = append(r.Attempts,
				schema.Attempt{AttemptID: r.keys.Next(), PhaseID: p.PhaseID, JobID: p.JobID, ApplicationID: r.Applications[0].ApplicationID,
					Task: index, Number: int32(n), NativeID: a.ID, Quality: schema.MetricsMissing, Speculative: r.copies(t.ID, a)})
			r.byID[a.ID], r.of[t.ID] = k, append(r.of[t.ID], k)
		}
		x := &r.Attempts[k]
		x.Machine, x.Rack, x.Executor = text(host(a.Node)), text(a.Rack), text(a.Container)
		x.StartTime, x.Status = instant(a.StartTime), status
		if status != schema.Running {
			x.FinishTime, x.Reason = instant(a.FinishTime), text(live.Reason(strings.TrimSpace(a.Diagnostics)))
			if x.FinishTime.OK && x.FinishTime.V >= x.StartTime.V {
				x.DurationS = schema.Some(x.FinishTime.V.Sub(x.StartTime.V))
			}
			delete(r.shares, x.AttemptID)
		} else if a.Progress > 0 {
			r.shares[x.AttemptID] = min(a.Progress/100, 1)
		}
		p.ExtendWindow(x)
		if p.Status == schema.RunUnknown {
			p.Status, p.SubmitTime = schema.RunRunning, p.StartTime
		}
	}
}

// copies reports whether an attempt was started while another one of its task ran.
func (r *rows) copies(task string, a *attempt) schema.Null[bool] {
	for _, k := range r.of[task] {
		if x := &r.Attempts[k]; x.StartTime.V < instant(a.StartTime).V &&
			(x.Status == schema.Running || x.FinishTime.OK && x.FinishTime.V > instant(a.StartTime).V) {
			return schema.Some(true)
		}
	}
	return schema.Some(false)
}

// slots sets the slots of a machine to the largest number of the job's attempts that it has run at once. The application
// master does not say what the resource manager would give to the job, so the containers that it has had are the best
// estimate.
func (r *rows) slots() {
	type edge struct {
		at    schema.Time
		delta int64
	}
	edges := map[string][]edge{}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if !a.Machine.OK {
			continue
		}
		edges[a.Machine.V] = append(edges[a.Machine.V], edge{a.StartTime.V, 1})
		if a.FinishTime.OK {
			edges[a.Machine.V] = append(edges[a.Machine.V], edge{a.FinishTime.V, -1})
		}
	}
	r.Machines = r.Machines[:0]
	for _, host := range slices.Sorted(maps.Keys(edges)) {
		list := edges[host]
		slices.SortFunc(list, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.delta, b.delta)) })
		most, now := int64(0), int64(0)
		for _, e := range list {
			now += e.delta
			most = max(most, now)
		}
		r.Machines = append(r.Machines, schema.Machine{ApplicationID: schema.Some(r.Applications[0].ApplicationID), Machine: host, Slots: schema.Some(most)})
	}
}

// progress uses a task's figure in the list, which is that of its best attempt, if only one is running.
func (r *rows) progress(t *task) {
	var one *schema.Attempt
	for _, k := range r.of[t.ID] {
		if a := &r.Attempts[k]; a.Status == schema.Running {
			if one != nil {
				return
			}
			one = a
		}
	}
	if one != nil && t.State == "RUNNING" && t.Progress > 0 {
		r.shares[one.AttemptID] = min(t.Progress/100, 1)
	}
}

// number returns the last number of an id such as task_1326232085508_0004_m_000017.
func number(id string) (int64, bool) {
	n, err := strconv.ParseInt(id[strings.LastIndexByte(id, '_')+1:], 10, 32)
	return n, err == nil && n >= 0
}

// host returns the host of an address with a port.
func host(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		return h
	}
	return address
}
