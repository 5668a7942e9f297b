package spark

import (
	"strings"

	"straggler/schema"
)

// app is the state of one application.
type app struct {
	*fold
	key      schema.Key
	start    applicationStart
	hasStart bool
	ending   applicationEnd
	hasEnd   bool
	version  string
	settings map[string]string
	taskCPUs map[int64]float64 // by resource profile

	jobs     map[int64]*job
	jobList  []*job // those not written yet, by their first mention
	orphans  *job   // the unknown job that takes stages without one
	stages   map[int64]*stage
	phaseMap map[phaseID]*phase
	lastID   phaseID
	last     *phase // the one of lastID
	byRDD    map[int64]*stage
	shuffles map[int64]*stage

	executors    map[string]*executor
	executorList []*executor
	running      map[int64]run
	done         idSet // Task IDs that have ended
	losses       map[lossID]*loss
	unresolved   []fetchLoss
	made         []*stage // stages with outputs, oldest first
	numbered     int      // what the numbers of attempts take, in words
	pages        int      // of outputs
	inferred     int64    // partitions looked at to tell which are missing
	partitioned  bool     // the log names partitions
	lossSeq      int
	retireAt     int // stages in memory at which jobs are next retired

	queries    map[int64]*query
	queryKeys  map[int64]schema.Key // of all queries, those that were written among them
	queryList  []*query             // those not written yet, by their first mention
	queriesAt  int                  // queries in memory at which those that have ended are next written
	liveNodes  int                  // operators of their plans
	liveValues int                  // values of their metrics
	texts      texts                // of samples that are no more
	values     stageValues          // of the last sample

	count counts

	excluded    int64
	blacklisted int64
}

// phaseID is a stage's id and attempt.
type phaseID struct {
	stage   int64
	attempt int32
}

// counts are the counts reported by caveats.
type counts struct {
	attempts         int64
	endsWithoutStart int64
	startsAfterEnd   int64 // of attempts that had ended already; they count as repeated, too
	repeated         int64 // events about attempts that had started, or ended, already
	renumbered       int64 // attempts whose number another attempt of their task has
	unknownTasks     int64 // attempts whose partition is not known
	unmetered        int64 // attempts that ended without metrics
	shortStages      int64 // stages with fewer ends than tasks
	missingEnds      int64
	jobsWithoutStart int64
	dropped          int64 // attempts of stages beyond those that are kept
	untracked        int64 // attempts beyond those that are kept while they run
	edgesUnknown     int64 // phases whose parents the log does not name
	plansCut         int64 // plans of which not all operators are kept
	planTextsCut     int64 // plans of which not all texts are kept whole
	valuesDropped    int64 // values of metrics beyond those that are kept
}

func newApp(f *fold) *app {
	return &app{
		fold:      f,
		key:       f.keys.applications.Next(),
		version:   f.version,
		settings:  map[string]string{},
		taskCPUs:  map[int64]float64{},
		jobs:      map[int64]*job{},
		stages:    map[int64]*stage{},
		phaseMap:  map[phaseID]*phase{},
		byRDD:     map[int64]*stage{},
		shuffles:  map[int64]*stage{},
		executors: map[string]*executor{},
		running:   map[int64]run{},
		losses:    map[lossID]*loss{},
		queries:   map[int64]*query{},
		queryKeys: map[int64]schema.Key{},
	}
}

func (a *app) end(e applicationEnd) { a.ending, a.hasEnd = e, true }

// environment records the properties. A later event of the same kind changes some of them.
func (a *app) environment(props properties) {
	for _, p := range props {
		if len(a.settings) < maxProperties {
			a.settings[p.name] = p.value
		}
	}
}

// newJob creates a job; id is none if only its stages are known.
func (a *app) newJob(id int64) *job {
	j := &job{key: a.keys.jobs.Next(), id: id, submit: none, finish: none, status: schema.RunUnknown}
	a.jobList = append(a.jobList, j)
	if id >= 0 {
		a.jobs[id] = j
	}
	return j
}

func (a *app) jobStart(e *jobStart) {
	j := a.jobs[e.ID]
	if j == nil {
		j = a.newJob(e.ID)
	} else if j.started {
		a.count.repeated++
		return
	}
	j.started, j.submit, j.description = true, e.Time, string(e.Properties.Description)
	a.runsFor(j, e.Properties.Execution)
	for _, info := range e.stages() {
		s := a.stage(info.ID)
		s.learn(&info)
		if len(s.jobs) > 0 && s.jobs[len(s.jobs)-1] == j {
			continue
		}
		s.jobs = append(s.jobs, j)
		j.stages = append(j.stages, s)
	}
	for _, s := range j.stages {
		for _, id := range s.Parents {
			if p := a.stages[id]; p != nil {
				p.parent = true
			}
		}
	}
}

func (a *app) jobEnd(e *jobEnd) {
	j := a.jobs[e.ID]
	if j == nil {
		// Its JobStart is lost: stages without a job were its own.
		if j = a.orphans; j != nil {
			j.id, a.orphans = e.ID, nil
			a.jobs[e.ID] = j
		} else {
			j = a.newJob(e.ID)
		}
	}
	if j.ended {
		a.count.repeated++
		return
	}
	j.ended, j.finish, j.status = true, e.Time, e.status()
	a.retire()
}

// stages returns the stages of the job: those that are described, then those that only `Stage IDs` names.
func (e *jobStart) stages() []stageInfo {
	var stages []stageInfo
	known := map[int64]bool{}
	for _, s := range e.Stages {
		if s.ID >= 0 {
			known[s.ID] = true
			s.Attempt = max(s.Attempt, 0)
			stages = append(stages, s)
		}
	}
	for _, id := range e.IDs {
		if id >= 0 && !known[id] {
			known[id] = true
			stages = append(stages, unknownStage(id))
		}
	}
	return stages
}

// status returns the status of a job at its end. A job that was stopped has failed with a message such as "Job 3 cancelled …", in
// some versions "Job 3 was cancelled".
func (e *jobEnd) status() schema.RunStatus {
	switch e.Result.Result {
	case "JobSucceeded":
		return schema.RunSucceeded
	case "JobFailed":
		if saysCancelled(string(e.Result.Exception.Message)) {
			return schema.RunKilled
		}
		return schema.RunFailed
	}
	return schema.RunUnknown
}

// saysCancelled reports whether the failure of a job or stage is a cancellation.
func saysCancelled(message string) bool {
	message = message[:min(len(message), 80)]
	return (strings.HasPrefix(message, "Job ") || strings.HasPrefix(message, "Stage ")) && strings.Contains(message, "cancelled")
}

// stage returns the stage with an id, creating it when it is first mentioned.
func (a *app) stage(id int64) *stage {
	s := a.stages[id]
	if s == nil {
		s = &stage{stageInfo: unknownStage(id)}
		a.stages[id] = s
	}
	return s
}

// unknownStage returns a stage of which only the id is known.
func unknownStage(id int64) stageInfo {
	return stageInfo{ID: id, Tasks: none, RDDs: rdds{Own: none, Partitions: none}, Submit: none, Complete: none}
}

// learn records what a Stage Info contains about the stage as a whole.
func (s *stage) learn(info *stageInfo) {
	if s.known || info.Tasks < 0 && info.Name == "" {
		return
	}
	s.stageInfo, s.known = *info, true
	s.Values = nil // the phase's, and taken there
}

// jobOf returns the job that a stage is computed for: the first of those that list it and have not ended. A stage that no
// job lists goes to the unknown one.
func (a *app) jobOf(s *stage) *job {
	for _, j := range s.jobs {
		if !j.ended {
			return j
		}
	}
	if len(s.jobs) > 0 {
		return s.jobs[len(s.jobs)-1]
	}
	if a.orphans == nil {
		a.orphans = a.newJob(none)
	}
	s.jobs = append(s.jobs, a.orphans)
	a.orphans.stages = append(a.orphans.stages, s)
	return a.orphans
}

// maxPhases bounds the stage attempts of jobs that have not ended; see also retire.
const maxPhases = 300_000

// phase returns the attempt of a stage, creating it when it is first mentioned; nil if there are too many.
func (a *app) phase(stageID int64, attempt int32) *phase {
	id := phaseID{stageID, attempt}
	if a.last != nil && a.lastID == id {
		return a.last
	}
	p := a.phaseMap[id]
	if p == nil {
		if len(a.phaseMap) >= maxPhases {
			return nil
		}
		p = a.newPhase(id)
	}
	a.lastID, a.last = id, p
	return p
}

func (a *app) newPhase(id phaseID) *phase {
	s := a.stage(id.stage)
	p := &phase{key: a.keys.phases.Next(), ordinal: a.phases, stage: s, job: a.jobOf(s), attempt: id.attempt, tasks: none,
		submit: none, complete: none, before: a.attempts}
	a.phases++
	s.phases = append(s.phases, p)
	a.phaseMap[id] = p
	return p
}

func (a *app) stageSubmitted(e *stageInfo) {
	a.stage(e.ID).learn(e)
	p := a.phase(e.ID, e.Attempt)
	if p == nil {
		return
	}
	p.tasks, p.submit, p.submitted, p.before = e.Tasks, e.Submit, true, a.attempts
	a.recomputes(p)
}

func (a *app) stageCompleted(e *stageInfo) {
	a.stage(e.ID).learn(e)
	p := a.phase(e.ID, e.Attempt)
	if p == nil {
		return
	}
	p.completed, p.complete, p.failure = true, e.Complete, string(e.Failure)
	if e.Submit >= 0 {
		p.submit = e.Submit
	}
	if p.tasks < 0 {
		p.tasks = e.Tasks
	}
	a.stageValues(p, e.Values)
}

// parents returns the stages whose outputs a stage reads; they are older than it. If the log does not name them, they are the
// stages of the job that compute an ancestor of one of the stage's RDDs.
func (a *app) parents(s *stage, j *job) []*stage {
	var found []*stage
	if s.Parents != nil {
		for _, id := range s.Parents {
			if p := a.stages[id]; p != nil && id < s.ID {
				found = append(found, p)
			}
		}
		return found
	}
	if len(s.RDDs.Parents) == 0 {
		return nil
	}
	wanted := make(map[int64]bool, len(s.RDDs.Parents))
	for _, rdd := range s.RDDs.Parents {
		wanted[rdd] = true
	}
	for _, rdd := range s.RDDs.All {
		delete(wanted, rdd)
	}
	for _, p := range j.stages {
		if p.ID < s.ID && wanted[p.RDDs.Own] {
			found = append(found, p)
		}
	}
	return found
}
