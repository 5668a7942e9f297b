package spark

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"straggler/ingest/read"
	"straggler/schema"
)

// finish writes everything still in memory. The application is complete if the log has its start and its end, unless truncated
// gives a reason why not.
func (a *app) finish(truncated string) {
	complete := a.hasStart && a.hasEnd && truncated == "" && len(a.notes) == 0
	a.writeRunning()
	for _, j := range a.jobList {
		a.writeJob(j, complete)
	}
	a.writeQueries(complete)
	a.writeLosses()
	a.writeMachines()
	a.writeSettings()
	a.writeApplication(complete)
	a.writeCaveats(complete, truncated)
}

// writeRunning writes the attempts that have started and not ended, in the order of their ids.
func (a *app) writeRunning() {
	for _, id := range slices.Sorted(maps.Keys(a.running)) {
		r := a.running[id]
		row := a.row(&r, id)
		row.Status = schema.Running
		row.Quality |= schema.PartialRow | schema.MetricsMissing
	}
}

func (a *app) writeApplication(complete bool) {
	row := schema.Application{
		ApplicationID:    a.key,
		NativeID:         cmp.Or(a.start.ID, read.Text(a.in.Base)),
		Name:             a.start.Name,
		User:             a.start.User,
		Queue:            known(a.settings["spark.yarn.queue"]),
		Framework:        "spark",
		FrameworkVersion: known(a.version),
		StartTime:        read.Millis(a.start.Time),
		FinishTime:       read.Millis(a.ending.Time),
		Status:           a.status(),
		SourceFile:       read.Text(a.in.Name),
		Complete:         complete,
		TimeOrigin:       "epoch",
	}
	ordered(&row.StartTime, &row.StartTime, &row.FinishTime)
	rows := []schema.Application{row}
	flush(a.fold, &rows)
}

// status returns the status of the application, which only Spark 4 records.
func (a *app) status() schema.RunStatus {
	switch {
	case !a.hasEnd:
		return schema.RunRunning
	case !a.ending.Code.OK:
		return schema.RunUnknown
	case a.ending.Code.V == 0:
		return schema.RunSucceeded
	}
	return schema.RunFailed
}

func (a *app) writeSettings() {
	if a.start.Attempt != "" {
		a.settings["spark.app.attempt.id"] = a.start.Attempt
	}
	rows := make([]schema.Setting, 0, len(a.settings))
	for _, name := range slices.Sorted(maps.Keys(a.settings)) {
		rows = append(rows, schema.Setting{ApplicationID: a.key, Name: name, Value: a.settings[name]})
	}
	flush(a.fold, &rows)
}

// writeJob writes a job with its phases and the edges between them.
func (a *app) writeJob(j *job, complete bool) {
	if !j.started {
		a.count.jobsWithoutStart++
	}
	for _, s := range j.stages {
		if len(s.phases) == 0 && s.jobs[0] == j {
			a.plan(s, j)
		}
		for _, p := range s.phases {
			if p.job == j {
				put(a.fold, &a.phaseRows, a.phaseRow(p, complete))
			}
		}
	}
	put(a.fold, &a.jobRows, a.jobRow(j, complete))
	a.writeEdges(j)
}

// plan creates a phase for a stage that was never submitted.
func (a *app) plan(s *stage, j *job) {
	p := &phase{key: a.keys.phases.Next(), ordinal: a.phases, stage: s, job: j, attempt: s.Attempt, tasks: s.Tasks, submit: none, complete: none}
	a.phases++
	s.phases = append(s.phases, p)
}

// jobRow builds the row of a job. Logs before Spark 1.3 have no times of jobs; there a job is submitted with its first stage
// and finished with its last.
func (a *app) jobRow(j *job, complete bool) schema.Job {
	row := schema.Job{JobID: j.key, ApplicationID: a.key, NativeID: "unknown", Name: known(a.jobName(j)), Status: j.status}
	if j.id >= 0 {
		row.NativeID = strconv.FormatInt(j.id, 10)
	}
	submit, finish := j.submit, j.finish
	for _, s := range j.stages {
		for _, p := range s.phases {
			if j.submit < 0 && p.job == j && p.submit >= 0 && (submit < 0 || p.submit < submit) {
				submit = p.submit
			}
			if j.finish < 0 && j.ended && p.job == j {
				finish = max(finish, p.complete)
			}
		}
	}
	row.SubmitTime, row.StartTime, row.FinishTime = read.Millis(submit), read.Millis(j.span.launch), read.Millis(finish)
	if !j.ended && !complete {
		row.Status = schema.RunRunning
	}
	ordered(&row.SubmitTime, &row.StartTime, &row.FinishTime)
	return row
}

// jobName returns the name that the user gave the job, or the call site of its last stage.
func (a *app) jobName(j *job) string {
	if j.description != "" {
		return j.description
	}
	var last *stage
	for _, s := range j.stages {
		if last == nil || s.ID > last.ID {
			last = s
		}
	}
	if last == nil {
		return ""
	}
	return string(last.Name)
}

func (a *app) phaseRow(p *phase, complete bool) schema.Phase {
	s := p.stage
	row := schema.Phase{
		PhaseID:    p.key,
		JobID:      p.job.key,
		NativeID:   strconv.FormatInt(s.ID, 10),
		Attempt:    p.attempt,
		Name:       known(string(s.Name)),
		Kind:       s.kindName(),
		TaskCount:  schema.Null[int64]{V: p.tasks, OK: p.tasks >= 0},
		SubmitTime: read.Millis(p.submit),
		StartTime:  read.Millis(p.span.launch),
		Status:     p.status(complete),
		Recompute:  p.recompute,
		Gang:       s.RDDs.Barrier,
	}
	if row.Status != schema.RunRunning {
		row.FinishTime = read.Millis(cmp.Or(p.span.finish, p.complete))
	}
	ordered(&row.SubmitTime, &row.StartTime, &row.FinishTime)
	a.countEnds(p, row.Status)
	return row
}

// ordered drops times of a job or phase that are out of order because a clock was set back: the times of the attempts take
// precedence, then the scheduler's end.
func ordered(submit, start, finish *schema.Null[schema.Time]) {
	if submit.OK && start.OK && submit.V > start.V {
		*submit = schema.Null[schema.Time]{}
	}
	if finish.OK && finish.V < max(submit.V, start.V) {
		*finish = schema.Null[schema.Time]{}
	}
}

// countEnds counts the tasks without an end in a stage that succeeded. Where the stage was submitted more than once, attempts
// of one submission may have done tasks of another.
func (a *app) countEnds(p *phase, status schema.RunStatus) {
	if lack := p.tasks - p.ends; status == schema.RunSucceeded && lack > 0 && len(p.stage.phases) == 1 {
		a.count.shortStages++
		a.count.missingEnds += lack
	}
}

// kindName returns the kind of a stage's tasks: as logged if it ran, otherwise according to whether other stages read from it.
func (s *stage) kindName() string {
	switch {
	case s.kind == taskShuffleMap || s.kind == taskUnknown && s.parent:
		return "shuffle_map"
	case s.kind == taskResult:
		return "result"
	}
	return "unknown"
}

// status returns the status of a phase. Newer versions of Spark submit a skipped stage without a time.
func (p *phase) status(complete bool) schema.RunStatus {
	idle := p.starts == 0 && p.ends == 0
	switch {
	case idle && p.submit < 0 && (p.job.ended || complete || p.completed):
		return schema.RunSkipped
	case p.completed && p.failure == "":
		return schema.RunSucceeded
	case p.completed && saysCancelled(p.failure):
		return schema.RunKilled
	case p.completed:
		return schema.RunFailed
	case complete || p.job.ended || idle && !p.submitted:
		return schema.RunUnknown
	}
	return schema.RunRunning
}

// writeEdges writes the dependencies between the phases of a job: every submission of a stage reads what the submissions
// of its parents before it have made. All are shuffles, and a stage starts when its parents are complete.
func (a *app) writeEdges(j *job) {
	for _, s := range j.stages {
		parents := a.parents(s, j)
		if s.Parents == nil && len(s.RDDs.Parents) == 0 && len(j.stages) > 1 {
			a.count.edgesUnknown++
		}
		for _, to := range s.phases {
			for _, parent := range parents {
				a.writeEdgesFrom(j, parent, to)
			}
		}
	}
}

// maxSubmissions bounds the submissions of one stage that another is said to read. Spark gives up after four failures.
const maxSubmissions = 32

func (a *app) writeEdgesFrom(j *job, parent *stage, to *phase) {
	if to.job != j {
		return
	}
	for _, from := range parent.phases[max(0, len(parent.phases)-maxSubmissions):] {
		if from.job == j && (from.ordinal < to.ordinal || from.starts+from.ends == 0) {
			put(a.fold, &a.edgeRows, schema.Edge{JobID: j.key, FromPhase: from.key, ToPhase: to.key, Pattern: schema.AllToAll, Barrier: true})
		}
	}
}

// keptStages is how many stages stay in memory while jobs come and go.
const keptStages = 20_000

// retire writes the oldest jobs that have ended, and drops them with their stages, once there are many. Losses of their outputs
// are no longer detected.
func (a *app) retire() {
	if len(a.stages) <= max(a.retireAt, keptStages) {
		return
	}
	busy := map[*job]bool{}
	for _, r := range a.running {
		busy[r.phase.job] = true
	}
	var kept []*job
	for _, j := range a.jobList {
		if busy[j] || len(a.stages) <= keptStages/2 || !j.settled() {
			kept = append(kept, j)
			continue
		}
		a.writeJob(j, true)
		a.forget(j)
	}
	a.jobList = kept
	a.last = nil
	a.retireAt = len(a.stages) + keptStages/2 // not at every job when none can go
	a.made = slices.DeleteFunc(a.made, func(s *stage) bool {
		if a.stages[s.ID] == s {
			return false
		}
		a.pages -= len(s.outputs.pages)
		return true
	})
}

// settled reports whether a job and all others that share its stages have ended.
func (j *job) settled() bool {
	if !j.ended {
		return false
	}
	for _, s := range j.stages {
		if s.active() {
			return false
		}
	}
	return true
}

func (a *app) forget(j *job) {
	delete(a.jobs, j.id)
	for _, s := range j.stages {
		if a.stages[s.ID] != s {
			continue
		}
		delete(a.stages, s.ID)
		for _, p := range s.phases {
			delete(a.phaseMap, phaseID{s.ID, p.attempt})
			a.numbered -= p.numbers.words()
		}
		if a.byRDD[s.RDDs.Own] == s {
			delete(a.byRDD, s.RDDs.Own)
		}
	}
}
