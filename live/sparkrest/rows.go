package sparkrest

import (
	"strconv"
	"strings"
	"time"

	"straggler/ingest/spark"
	"straggler/live"
	"straggler/schema"
)

// rows converts answers to the rows that ingest makes of the same application's event log, as far as the API reports them. It
// does not report which stages read which (edges), nor which outputs were lost.
type rows struct {
	schema.Trace
	keys      map[string]*schema.Keys // by table
	jobs      map[int64]int           // indices in Trace.Jobs
	jobOf     map[int64]int           // by stage
	phases    map[stageID]int         // indices in Trace.Phases
	attempts  map[int64]int           // indices in Trace.Attempts, by task id
	executors map[string]int          // indices in Trace.Machines
	last      map[int]int64           // by job: its last stage, which computes the result
	cpus      int64                   // of a task
	heartbeat time.Duration           // of executors
}

type stageID struct {
	id      int64
	attempt int32
}

func newRows(app *application, a *applicationAttempt, source string) *rows {
	r := &rows{keys: map[string]*schema.Keys{}, jobs: map[int64]int{}, jobOf: map[int64]int{}, phases: map[stageID]int{},
		attempts: map[int64]int{}, executors: map[string]int{}, last: map[int]int64{}, cpus: 1,
		heartbeat: 10 * time.Second}
	input := schema.InputKey(app.ID, []byte(a.AttemptID))
	for _, table := range []string{"applications", "jobs", "phases", "attempts"} {
		r.keys[table] = schema.NewKeys(input, table)
	}
	r.Applications = []schema.Application{{ApplicationID: r.key("applications", 0), Framework: "spark", SourceFile: source, TimeOrigin: "epoch"}}
	r.application(app, a)
	return r
}

func (r *rows) key(table string, n int) schema.Key { return r.keys[table].Nth(int64(n)) }

func text(s string) schema.Null[string] { return schema.Null[string]{V: s, OK: s != ""} }

func (r *rows) application(app *application, a *applicationAttempt) {
	x := &r.Applications[0]
	x.NativeID, x.Name, x.User, x.FrameworkVersion = app.ID, text(app.Name), text(a.SparkUser), text(a.AppSparkVersion)
	x.StartTime, x.Status = a.StartTime.Null, schema.RunRunning
	if a.Completed {
		x.FinishTime, x.Status, x.Complete = a.EndTime.Null, schema.RunSucceeded, true
	}
}

// environment keeps the settings that ingest keeps.
func (r *rows) environment(e *environment) {
	for _, p := range e.SparkProperties {
		if len(p) == 2 && p[0] == "spark.executor.heartbeatInterval" {
			if d := duration(p[1]); d > 0 {
				r.heartbeat = d
			}
		}
		if len(p) != 2 || !spark.KeepSetting(p[0], p[1]) {
			continue
		}
		r.Settings = append(r.Settings, schema.Setting{ApplicationID: r.Applications[0].ApplicationID, Name: p[0], Value: p[1]})
		if p[0] == "spark.task.cpus" {
			if n, err := strconv.ParseInt(p[1], 10, 32); err == nil && n > 0 {
				r.cpus = n
			}
		}
	}
}

// duration parses a time in Spark's settings: 10s, 500ms, and without a unit in milliseconds; 0 if invalid.
func duration(text string) time.Duration {
	text = strings.ToLower(strings.TrimSpace(text))
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return time.Duration(n) * time.Millisecond
	}
	text = strings.NewReplacer("min", "m", "sec", "s").Replace(text)
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}

var runStatus = map[string]schema.RunStatus{"RUNNING": schema.RunRunning, "SUCCEEDED": schema.RunSucceeded, "FAILED": schema.RunFailed,
	"ACTIVE": schema.RunRunning, "COMPLETE": schema.RunSucceeded, "PENDING": schema.RunUnknown, "SKIPPED": schema.RunSkipped}

func status(s string) schema.RunStatus {
	if x, ok := runStatus[s]; ok {
		return x
	}
	return schema.RunUnknown
}

func (r *rows) job(j *job) {
	n, ok := r.jobs[j.JobID]
	if !ok {
		n = len(r.Jobs)
		r.jobs[j.JobID] = n
		r.Jobs = append(r.Jobs, schema.Job{JobID: r.key("jobs", n), ApplicationID: r.Applications[0].ApplicationID, NativeID: strconv.FormatInt(j.JobID, 10)})
	}
	x := &r.Jobs[n]
	x.Name, x.SubmitTime, x.FinishTime, x.Status = text(j.Name), j.SubmissionTime.Null, j.CompletionTime.Null, status(j.Status)
	for _, s := range j.StageIDs {
		if _, ok := r.jobOf[s]; !ok { // a stage shared by several belongs to the first
			r.jobOf[s] = n
		}
		r.last[n] = max(r.last[n], s)
	}
}

// stage adds a stage; false if its job is unknown.
func (r *rows) stage(s *stage) bool {
	job, ok := r.jobOf[s.StageID]
	if !ok {
		return false
	}
	id := stageID{s.StageID, s.AttemptID}
	n, ok := r.phases[id]
	if !ok {
		n = len(r.Phases)
		r.phases[id] = n
		r.Phases = append(r.Phases, schema.Phase{PhaseID: r.key("phases", n), JobID: r.Jobs[job].JobID, NativeID: strconv.FormatInt(s.StageID, 10),
			Attempt: s.AttemptID, Kind: "shuffle_map"})
	}
	x := &r.Phases[n]
	if r.last[job] == s.StageID {
		x.Kind = "result"
	}
	x.Name, x.TaskCount, x.Status = text(s.Name), schema.Some(s.NumTasks), status(s.Status)
	x.SubmitTime, x.StartTime, x.FinishTime = s.SubmissionTime.Null, s.FirstTaskLaunch.Null, s.CompletionTime.Null
	return true
}

func (r *rows) executor(e *executor) {
	host := e.HostPort
	if n := strings.LastIndexByte(host, ':'); n > 0 {
		host = host[:n]
	}
	if host == "" || e.ID == "driver" && e.MaxTasks == 0 {
		return
	}
	n, ok := r.executors[e.ID]
	if !ok {
		n = len(r.Machines)
		r.executors[e.ID] = n
		r.Machines = append(r.Machines, schema.Machine{ApplicationID: schema.Some(r.Applications[0].ApplicationID), Machine: host, Executor: text(e.ID)})
	}
	x := &r.Machines[n]
	x.AddedTime, x.RemovedTime = e.AddTime.Null, e.RemoveTime.Null
	if e.TotalCores > 0 {
		x.Cores, x.Slots = schema.Some(float64(e.TotalCores)), schema.Some(max(e.TotalCores/r.cpus, 1))
	}
}

var attemptStatus = map[string]schema.AttemptStatus{"RUNNING": schema.Running, "SUCCESS": schema.Success, "FAILED": schema.Failed,
	"KILLED": schema.Killed, "UNKNOWN": schema.UnknownStatus}

var localities = map[string]schema.Locality{"PROCESS_LOCAL": schema.ProcessLocal, "NODE_LOCAL": schema.NodeLocal, "RACK_LOCAL": schema.RackLocal,
	"ANY": schema.AnyLocality, "NO_PREF": schema.NoPreference}

// task adds a task of a known stage.
func (r *rows) task(id stageID, t *task) {
	state, ok := attemptStatus[t.Status]
	at, known := r.phases[id]
	if !ok || !known || !t.LaunchTime.OK {
		return // PENDING, or a status of later versions
	}
	n, ok := r.attempts[t.TaskID]
	if ok && r.Attempts[n].Status != schema.Running {
		return
	}
	if !ok {
		n = len(r.Attempts)
		r.attempts[t.TaskID] = n
		p := &r.Phases[at]
		r.Attempts = append(r.Attempts, schema.Attempt{AttemptID: r.key("attempts", n), PhaseID: p.PhaseID, JobID: p.JobID,
			ApplicationID: r.Applications[0].ApplicationID, NativeID: strconv.FormatInt(t.TaskID, 10)})
	}
	a := &r.Attempts[n]
	a.Task, a.Number, a.Machine, a.Executor = t.Index, t.Attempt, text(t.Host), text(t.ExecutorID)
	if t.PartitionID != nil && *t.PartitionID >= 0 {
		a.Task = *t.PartitionID
	} else {
		a.Quality |= schema.TaskUnknown
	}
	a.StartTime, a.Status, a.Speculative, a.Reason = t.LaunchTime.Null, state, schema.Some(t.Speculative), text(live.Reason(t.ErrorMessage))
	a.Quality |= schema.RackUnknown
	if l, ok := localities[t.TaskLocality]; ok {
		a.Locality = schema.Some(l)
	}
	if state != schema.Running && t.Duration != nil && *t.Duration >= 0 {
		a.FinishTime = schema.Some(a.StartTime.V + schema.FromMillis(*t.Duration))
		a.DurationS = schema.Some(float64(*t.Duration) / 1e3)
	}
	r.measure(a, t)
	a.DropLongParts()
}

// measure fills in what was measured, by the rules of ingest: a zero is a measurement only of an attempt that succeeded.
func (r *rows) measure(a *schema.Attempt, t *task) {
	m, success := t.TaskMetrics, a.Status == schema.Success
	if m == nil {
		a.Quality |= schema.MetricsMissing
		return
	}
	count := func(n int64) schema.Null[int64] { return schema.Null[int64]{V: n, OK: n > 0 || success && n == 0} }
	seconds := func(n int64, unit float64) schema.Null[float64] {
		return schema.Null[float64]{V: float64(n) / unit, OK: n > 0 || success && n == 0}
	}
	in, shuffle := m.InputMetrics, m.ShuffleReadMetrics
	a.InputBytes = count(in.BytesRead + shuffle.RemoteBytesRead + shuffle.LocalBytesRead)
	a.InputRecords = count(in.RecordsRead + shuffle.RecordsRead)
	a.RemoteBytes, a.LocalBytes = count(shuffle.RemoteBytesRead), count(shuffle.LocalBytesRead)
	if in.BytesRead > 0 {
		a.Quality |= schema.BytesEstimated
		switch a.Locality.V {
		case schema.NodeLocal:
			a.LocalBytes = count(shuffle.LocalBytesRead + in.BytesRead)
		case schema.RackLocal, schema.AnyLocality:
			a.RemoteBytes = count(shuffle.RemoteBytesRead + in.BytesRead)
		default:
			a.LocalBytes = schema.Null[int64]{}
		}
	}
	a.OutputBytes, a.ShuffleWriteBytes = count(m.OutputMetrics.BytesWritten), count(m.ShuffleWriteMetrics.BytesWritten)
	a.SpillBytes, a.PeakMemoryBytes = count(m.DiskBytesSpilled), count(m.PeakExecutionMemory)
	a.CPUS, a.GCS = seconds(m.ExecutorCPUTime, 1e9), seconds(m.JVMGCTime, 1e3)
	a.DeserializeS, a.FetchWaitS = seconds(m.ExecutorDeserializeTime, 1e3), seconds(shuffle.FetchWaitTime, 1e3)
	if success {
		a.ResultS = schema.Some(float64(m.ResultSerializationTime+t.ResultFetch) / 1e3)
		if t.SchedulerWait != nil {
			a.SchedulerDelayS = schema.Some(float64(*t.SchedulerWait) / 1e3)
		}
	}
}
