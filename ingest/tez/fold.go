package tez

import (
	"cmp"
	"sort"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/schema"
)

// fold converts entities to rows. Attempts are emitted when they finish; DAGs and vertices, whose entities come in parts, at
// the end.
type fold struct {
	in      *ingest.Input
	out     *ingest.Sink
	apps    map[string]*app
	dags    map[string]*dag
	vertex  map[string]*vertex
	running map[string]*schema.Attempt
	done    map[string]bool       // attempts already emitted, of tasks that may still lose their output
	lost    map[string]lostOutput // by task, until its next attempt
	losses  []schema.Loss
	dropped int64 // entities beyond maxEntities
	hosts   map[string]bool
	trace   schema.Trace
}

// lostOutput is a loss waiting for the attempt that recomputes the output.
type lostOutput struct {
	at     int   // in losses
	number int32 // of the attempt that had made it
}

type app struct {
	id, user, version string
	start             int64
}

type dag struct {
	id, app, name, user, queue, status string
	submit, start, end                 int64
	plan                               plan
}

type vertex struct {
	id, name, status    string
	tasks               int64
	init, start, finish int64
	row                 schema.Phase // the window of its attempts
	byTask              map[int64]int
}

// plan is the edges in a DAG's plan.
type plan struct {
	Edges []struct {
		Input    string `json:"inputVertexName"`
		Output   string `json:"outputVertexName"`
		Movement string `json:"dataMovementType"`
	} `json:"edges"`
}

// maxEntities bounds the DAGs, vertices, running and finished attempts that are remembered.
const maxEntities = 5_000_000

func newFold(in *ingest.Input, out *ingest.Sink) *fold {
	return &fold{
		in: in, out: out, apps: map[string]*app{}, dags: map[string]*dag{}, vertex: map[string]*vertex{},
		running: map[string]*schema.Attempt{}, done: map[string]bool{}, lost: map[string]lostOutput{}, hosts: map[string]bool{},
	}
}

func (f *fold) take(e event) {
	if len(f.done)+len(f.running)+len(f.vertex)+len(f.dags) > maxEntities {
		f.dropped++
		return
	}
	switch e.kind {
	case "app":
		a := f.appOf(applicationID(e.id))
		a.user = cmp.Or(a.user, e.user, e.info.text("user"))
		a.start = earlier(a.start, orTime(e.info.int("startTime"), e.time))
		var v struct {
			Version string `json:"version"`
		}
		if json.Unmarshal(e.info["tezVersion"], &v) == nil {
			a.version = cmp.Or(a.version, v.Version)
		}
	case "dag":
		f.takeDAG(e)
	case "vertex":
		f.takeVertex(e)
	case "attempt":
		f.takeAttempt(e)
	}
}

func (f *fold) appOf(id string) *app {
	a := f.apps[id]
	if a == nil {
		a = &app{id: id}
		f.apps[id] = a
	}
	return a
}

func (f *fold) dagOf(id string) *dag {
	d := f.dags[id]
	if d == nil {
		d = &dag{id: id, app: applicationID(id)}
		f.dags[id] = d
		f.appOf(d.app)
	}
	return d
}

func (f *fold) vertexOf(id string) *vertex {
	v := f.vertex[id]
	if v == nil {
		v = &vertex{id: id, byTask: map[int64]int{}}
		f.vertex[id] = v
		f.dagOf(dagID(id))
	}
	return v
}

func (f *fold) takeDAG(e event) {
	d := f.dagOf(e.id)
	d.name = cmp.Or(d.name, e.info.text("dagName"))
	d.user = cmp.Or(d.user, e.user, e.info.text("user"))
	d.queue = cmp.Or(d.queue, e.info.text("queueName"))
	d.status = cmp.Or(e.info.text("status"), d.status)
	switch e.word {
	case "DAG_SUBMITTED":
		d.submit = orTime(e.time, d.submit)
	case "DAG_STARTED":
		d.start = orTime(e.time, d.start)
	case "DAG_FINISHED":
		d.end = orTime(e.time, d.end)
	}
	d.start, d.end = orTime(d.start, e.info.int("startTime")), orTime(d.end, e.info.int("endTime"))
	if d.submit == 0 {
		d.submit = orTime(e.info.int("submitTime"), e.info.int("initTime"))
	}
	if p := e.info["dagPlan"]; len(p) > 0 {
		var named struct {
			Name string `json:"dagName"`
		}
		json.Unmarshal(p, &d.plan, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
		if json.Unmarshal(p, &named, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) == nil {
			d.name = cmp.Or(d.name, named.Name)
		}
	}
}

func (f *fold) takeVertex(e event) {
	v := f.vertexOf(e.id)
	v.name = cmp.Or(v.name, e.info.text("vertexName"))
	v.status = cmp.Or(e.info.text("status"), v.status)
	if n := e.info.int("numTasks"); n > 0 {
		v.tasks = n
	}
	v.init = orTime(v.init, e.info.int("initTime"))
	v.start = orTime(v.start, e.info.int("startTime"))
	v.finish = orTime(v.finish, e.info.int("endTime"))
	if e.word == "VERTEX_STARTED" {
		v.start = orTime(v.start, e.time)
	}
}

func (f *fold) takeAttempt(e event) {
	id, ok := parseAttempt(e.id)
	if !ok {
		return
	}
	e.id = id.text()
	if e.word == "TASK_ATTEMPT_STARTED" {
		if f.done[e.id] { // repeated or late
			return
		}
		a := f.attempt(id, e)
		a.StartTime = read.Millis(orTime(e.info.int("startTime"), e.time))
		a.Status = schema.Running
		if f.siblingRuns(id) {
			a.Speculative = schema.Some(true)
		}
		f.running[e.id] = a
		return
	}
	if e.word != "" && e.word != "TASK_ATTEMPT_FINISHED" {
		return
	}
	lost := e.info.text("taskAttemptErrorEnum") == "OUTPUT_LOST" || e.info.text("taskAttemptErrorEnum") == "NODE_FAILED" && f.done[e.id]
	if lost {
		f.loss(id, e)
	}
	if f.done[e.id] {
		return
	}
	a := f.running[e.id]
	delete(f.running, e.id)
	if a == nil {
		a = f.attempt(id, e)
	}
	f.finishAttempt(a, id, e, lost)
	f.emit(a, id)
}

// attempt starts a row.
func (f *fold) attempt(id attemptID, e event) *schema.Attempt {
	f.vertexOf(id.vertex)
	return &schema.Attempt{
		AttemptID: f.attemptKey(e.id), PhaseID: f.phaseKey(id.vertex), JobID: f.jobKey(id.dag), ApplicationID: f.appKey(id.app),
		Task: id.task, Number: id.number, NativeID: read.Text(e.id), Quality: schema.RackUnknown,
		Machine: read.NullText(host(e.info.text("nodeId"))), Executor: read.NullText(e.info.text("containerId")),
	}
}

func (f *fold) siblingRuns(id attemptID) bool {
	for n := range min(id.number, 1000) { // a damaged log may have any number
		if f.running[id.sibling(n)] != nil {
			return true
		}
	}
	return false
}

func (f *fold) finishAttempt(a *schema.Attempt, id attemptID, e event, lost bool) {
	m := e.info
	if h := host(m.text("nodeId")); h != "" {
		a.Machine = read.NullText(h)
	}
	if c := m.text("containerId"); c != "" {
		a.Executor = read.NullText(c)
	}
	if t := read.Millis(m.int("startTime")); t.OK {
		a.StartTime = t
	}
	a.QueuedTime = read.Millis(m.int("creationTime"))
	a.FinishTime = read.Millis(orTime(m.int("endTime"), e.time))
	if a.StartTime.OK && a.FinishTime.OK && a.FinishTime.V < a.StartTime.V {
		a.FinishTime = schema.Null[schema.Time]{}
		a.Quality |= schema.TimeRepaired
	}
	a.DropLateQueue()
	if a.StartTime.OK && a.FinishTime.OK {
		a.DurationS = schema.Some(a.FinishTime.V.Sub(a.StartTime.V))
	} else {
		a.Quality |= schema.PartialRow
	}
	a.Status, a.Reason = statusOf(m, lost)
	switch m.text("taskAttemptErrorEnum") {
	case "TERMINATED_INEFFECTIVE_SPECULATION":
		a.Speculative = schema.Some(true)
	case "TERMINATED_EFFECTIVE_SPECULATION":
		a.Speculative = schema.Some(false)
	}
	if !a.Speculative.OK && id.number == 0 {
		a.Speculative = schema.Some(false)
	}
	if o, ok := f.lost[id.taskID()]; ok && id.number > o.number {
		a.Recompute = true
		l := &f.losses[o.at]
		l.RecomputedBy = schema.Some(a.AttemptID)
		if causal := m.text("creationCausalAttempt"); causal != "" {
			l.DetectedBy = schema.Some(f.attemptKey(causal))
		}
		delete(f.lost, id.taskID())
	}
	setCounters(a, m["counters"])
	a.DropLongParts()
}

func statusOf(m info, lost bool) (schema.AttemptStatus, schema.Null[string]) {
	if lost {
		return schema.Success, schema.Null[string]{}
	}
	reason := m.text("taskAttemptErrorEnum")
	if d := m.text("diagnostics"); d != "" {
		d, _, _ = strings.Cut(d, "\n")
		reason = strings.TrimLeft(reason+": "+d[:min(len(d), 300)], ": ")
	}
	switch m.text("status") {
	case "SUCCEEDED":
		return schema.Success, schema.Null[string]{}
	case "FAILED":
		if m.text("taskAttemptErrorEnum") == "NODE_FAILED" || m.text("taskAttemptErrorEnum") == "CONTAINER_EXITED" {
			return schema.Lost, read.NullText(reason)
		}
		return schema.Failed, read.NullText(reason)
	case "KILLED":
		if m.text("taskAttemptErrorEnum") == "NODE_FAILED" {
			return schema.Lost, read.NullText(reason)
		}
		return schema.Killed, read.NullText(reason)
	case "RUNNING", "STARTING", "NEW":
		return schema.Running, schema.Null[string]{}
	}
	return schema.UnknownStatus, read.NullText(reason)
}

// loss records that a finished output was lost; the next attempt of the task recomputes it.
func (f *fold) loss(id attemptID, e event) {
	f.lost[id.taskID()] = lostOutput{len(f.losses), id.number}
	f.losses = append(f.losses, schema.Loss{
		PhaseID: f.phaseKey(id.vertex), Task: id.task, AttemptID: schema.Some(f.attemptKey(e.id)),
		Machine: read.NullText(host(e.info.text("nodeId"))), Time: read.Millis(e.time),
	})
}

func (f *fold) emit(a *schema.Attempt, id attemptID) {
	f.done[a.NativeID] = true
	v := f.vertexOf(id.vertex)
	v.row.ExtendWindow(a)
	v.byTask[id.task]++
	if a.Machine.OK {
		f.hosts[id.app+"\x00"+a.Machine.V] = true
	}
	f.trace.Attempts = append(f.trace.Attempts, *a)
}

func (f *fold) flush(all bool) error {
	if !all && len(f.trace.Attempts) < 4096 {
		return nil
	}
	err := ingest.EmitTrace(f.out, &f.trace)
	f.trace = schema.Trace{}
	return err
}

// finish emits running attempts, then phases, edges, jobs, applications.
func (f *fold) finish() error {
	for _, id := range sorted(f.running) {
		parsed, _ := parseAttempt(id)
		f.running[id].Quality |= schema.PartialRow | schema.MetricsMissing
		f.emit(f.running[id], parsed)
	}
	f.trace.Losses = f.losses
	byName := map[string]schema.Key{} // dag and vertex name
	for _, id := range sorted(f.vertex) {
		v := f.vertex[id]
		byName[dagID(id)+"\x00"+v.name] = f.phaseKey(id)
		f.trace.Phases = append(f.trace.Phases, f.phase(v))
	}
	for _, id := range sorted(f.dags) {
		f.job(f.dags[id], byName)
	}
	for _, id := range sorted(f.apps) {
		f.application(f.apps[id])
	}
	if apps := f.trace.Applications; f.dropped > 0 && len(apps) > 0 {
		f.trace.Caveats = append(f.trace.Caveats, schema.Caveat{ApplicationID: apps[0].ApplicationID, Code: "too_many_entities", Count: schema.Some(f.dropped),
			Detail: "the input has more entities than are remembered; those beyond were left out: split it by application"})
	}
	for _, h := range sorted(f.hosts) {
		app, machine, _ := strings.Cut(h, "\x00")
		f.trace.Machines = append(f.trace.Machines, schema.Machine{ApplicationID: schema.Some(f.appKey(app)), Machine: machine})
	}
	return f.flush(true)
}

func (f *fold) phase(v *vertex) schema.Phase {
	p := v.row
	p.PhaseID, p.JobID, p.NativeID, p.Name = f.phaseKey(v.id), f.jobKey(dagID(v.id)), read.Text(v.id), read.NullText(v.name)
	p.SubmitTime, p.Status, p.Kind = read.Millis(orTime(v.init, v.start)), runStatus(v.status), "vertex"
	switch {
	case strings.HasPrefix(v.name, "Map"):
		p.Kind = "map"
	case strings.HasPrefix(v.name, "Reducer"):
		p.Kind = "reduce"
	}
	if n := max(v.tasks, int64(len(v.byTask))); n > 0 {
		p.TaskCount = schema.Some(n)
	}
	if len(v.byTask) == 0 && v.status == "" {
		p.Status = schema.RunSkipped
	}
	return p
}

// movements are Tez's data movements.
var movements = map[string]schema.Pattern{
	"SCATTER_GATHER": schema.AllToAll, "BROADCAST": schema.AllToAll, "ONE_TO_ONE": schema.OneToOne,
}

func (f *fold) job(d *dag, byName map[string]schema.Key) {
	key := f.jobKey(d.id)
	j := schema.Job{
		JobID: key, ApplicationID: f.appKey(d.app), NativeID: read.Text(d.id), Name: read.NullText(d.name),
		SubmitTime: read.Millis(orTime(d.submit, d.start)), StartTime: read.Millis(d.start), FinishTime: read.Millis(d.end), Status: runStatus(d.status),
	}
	if d.end == 0 && j.Status == schema.RunUnknown {
		j.Status = schema.RunRunning
	}
	f.trace.Jobs = append(f.trace.Jobs, j)
	for _, e := range d.plan.Edges {
		from, ok1 := byName[d.id+"\x00"+e.Input]
		to, ok2 := byName[d.id+"\x00"+e.Output]
		if !ok1 || !ok2 || from == to {
			continue
		}
		pattern := movements[e.Movement]
		if pattern == "" {
			pattern = schema.UnknownPattern
		}
		f.trace.Edges = append(f.trace.Edges, schema.Edge{JobID: key, FromPhase: from, ToPhase: to, Pattern: pattern})
	}
}

func (f *fold) application(a *app) {
	row := schema.Application{
		ApplicationID: f.appKey(a.id), NativeID: read.Text(a.id), User: read.NullText(a.user), Framework: "tez", FrameworkVersion: read.NullText(a.version),
		StartTime: read.Millis(a.start), Status: schema.RunUnknown, SourceFile: f.in.Name, Complete: true, TimeOrigin: "epoch",
	}
	for _, id := range sorted(f.dags) {
		d := f.dags[id]
		if d.app != a.id {
			continue
		}
		row.Name, row.Queue = read.NullText(cmp.Or(row.Name.V, d.name)), read.NullText(cmp.Or(row.Queue.V, d.queue))
		row.User = read.NullText(cmp.Or(row.User.V, d.user))
		read.Widen(&row.StartTime, &row.FinishTime, read.Millis(orTime(d.submit, d.start)), read.Millis(d.end))
		row.Complete = row.Complete && d.end > 0
	}
	f.trace.Applications = append(f.trace.Applications, row)
	if !row.Complete {
		f.trace.Caveats = append(f.trace.Caveats,
			schema.Caveat{ApplicationID: row.ApplicationID, Code: "log_incomplete", Detail: "a DAG has no end in the history"})
	}
	f.trace.Caveats = append(f.trace.Caveats,
		schema.Caveat{ApplicationID: row.ApplicationID, Code: "no_rack", Detail: "the history names no racks: traffic between racks is unknown"})
}

func (f *fold) appKey(id string) schema.Key {
	return schema.HashKey(f.in.Key, "applications", []byte(id))
}
func (f *fold) jobKey(id string) schema.Key   { return schema.HashKey(f.in.Key, "jobs", []byte(id)) }
func (f *fold) phaseKey(id string) schema.Key { return schema.HashKey(f.in.Key, "phases", []byte(id)) }
func (f *fold) attemptKey(id string) schema.Key {
	return schema.HashKey(f.in.Key, "attempts", []byte(id))
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func runStatus(word string) schema.RunStatus {
	switch word {
	case "SUCCEEDED":
		return schema.RunSucceeded
	case "FAILED", "ERROR":
		return schema.RunFailed
	case "KILLED":
		return schema.RunKilled
	case "RUNNING":
		return schema.RunRunning
	}
	return schema.RunUnknown
}

func orTime(ms, d int64) int64 {
	if ms > 0 {
		return ms
	}
	return d
}

func earlier(a, b int64) int64 {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}
