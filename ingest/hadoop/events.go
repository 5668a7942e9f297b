package hadoop

import (
	"strings"

	"straggler/ingest/read"
	"straggler/schema"
)

// event is one record of a job history of any kind.
type event struct {
	kind    eventKind
	job     string  // its id; "" if the record names only a task
	task    taskKey // by its id
	hasTask bool
	typed   kind // the record's type of the task
	isTyped bool
	attempt string // its id
	number  int32  // of the attempt

	name, user, queue, status       string
	tracker, host, rack, container  string
	locality, avataar, error, split string

	submit, launch, start, finish int64 // ms
	copied, sorted                int64 // when a reduce had copied and had sorted its input
	maps, reduces                 int64
	counters                      counters
	splits                        []int64
	settings                      []schema.Setting
}

type eventKind uint8

const (
	otherEvent eventKind = iota
	masterStarted
	jobSubmitted
	jobChanged // set up, or moved to another queue
	jobEnded
	taskStarted
	attemptStarted
	attemptFinished
	attemptFailed
	attemptKilled
	fileStarted // another of the histories that a file holds
	configured  // the job has settings
)

// kindOfEvent reads the type of an event of the application master's history.
func kindOfEvent(typ []byte) (k eventKind, status string) {
	switch string(typ) {
	case "AM_STARTED":
		return masterStarted, ""
	case "JOB_SUBMITTED":
		return jobSubmitted, ""
	case "JOB_INITED", "JOB_INFO_CHANGED", "JOB_QUEUE_CHANGED":
		return jobChanged, ""
	case "JOB_FINISHED":
		return jobEnded, "SUCCEEDED"
	case "JOB_FAILED", "JOB_KILLED", "JOB_ERROR":
		return jobEnded, strings.TrimPrefix(string(typ), "JOB_")
	case "TASK_STARTED":
		return taskStarted, ""
	case "MAP_ATTEMPT_STARTED", "REDUCE_ATTEMPT_STARTED", "SETUP_ATTEMPT_STARTED", "CLEANUP_ATTEMPT_STARTED":
		return attemptStarted, ""
	case "MAP_ATTEMPT_FINISHED", "REDUCE_ATTEMPT_FINISHED", "SETUP_ATTEMPT_FINISHED", "CLEANUP_ATTEMPT_FINISHED":
		return attemptFinished, ""
	case "MAP_ATTEMPT_FAILED", "REDUCE_ATTEMPT_FAILED", "SETUP_ATTEMPT_FAILED", "CLEANUP_ATTEMPT_FAILED":
		return attemptFailed, ""
	case "MAP_ATTEMPT_KILLED", "REDUCE_ATTEMPT_KILLED", "SETUP_ATTEMPT_KILLED", "CLEANUP_ATTEMPT_KILLED":
		return attemptKilled, ""
	}
	return otherEvent, ""
}

// textAt returns the destination of the text of a member of an event; nil if unused.
func (e *event) textAt(member []byte) *string {
	switch string(member) {
	case "jobid":
		return &e.job
	case "jobName":
		return &e.name
	case "userName":
		return &e.user
	case "jobQueueName":
		return &e.queue
	case "jobStatus":
		return &e.status
	case "splitLocations":
		return &e.split
	case "trackerName":
		return &e.tracker
	case "containerId":
		return &e.container
	case "locality":
		return &e.locality
	case "avataar":
		return &e.avataar
	case "hostname":
		return &e.host
	case "rackname":
		return &e.rack
	case "error":
		return &e.error
	}
	return nil
}

// numberAt returns the destination of the number of a member of an event; nil if unused.
func (e *event) numberAt(member []byte) *int64 {
	switch string(member) {
	case "submitTime":
		return &e.submit
	case "launchTime":
		return &e.launch
	case "startTime":
		return &e.start
	case "finishTime":
		return &e.finish
	case "shuffleFinishTime":
		return &e.copied
	case "sortFinishTime":
		return &e.sorted
	case "totalMaps":
		return &e.maps
	case "totalReduces":
		return &e.reduces
	}
	return nil
}

// wants reports whether a member's text is used.
func (e *event) wants(member []byte) bool {
	switch string(member) {
	case "taskid", "taskType", "attemptId":
		return true
	}
	return e.textAt(member) != nil
}

// take sets the text of a member. Names shared by many events are interned.
func (e *event) take(member, text []byte, names *read.Interner) {
	switch string(member) {
	case "taskid":
		e.task, _, e.hasTask = parseID(text)
		return
	case "taskType":
		e.typed, e.isTyped = kindOf(text)
		return
	case "attemptId":
		e.attempt = read.Text(string(text))
		_, e.number, _ = parseID(text)
		return
	}
	switch at := e.textAt(member); at {
	case nil:
	case &e.container, &e.error, &e.split:
		*at = read.Text(string(text))
	default:
		*at = names.Text(text)
	}
}

// key returns that of the event's task. Set-up and clean-up tasks have ids of maps in old histories.
func (e *event) key() taskKey {
	if e.isTyped {
		return taskKey{e.typed, e.task.index}
	}
	return e.task
}

// apply folds an event into the job. Events of other kinds and of unknown tasks change nothing.
func (j *job) apply(e *event, order int) {
	switch e.kind {
	case masterStarted:
		j.masters++
	case jobSubmitted, jobChanged, jobEnded:
		j.applyOwn(e)
	case taskStarted:
		if e.hasTask {
			t := j.task(e.key())
			if t.scheduled <= 0 {
				t.scheduled = e.start
			}
			if e.split != "" {
				t.hosts = splitHosts(e.split)
			}
		}
	case attemptStarted, attemptFinished, attemptFailed, attemptKilled:
		if e.hasTask && e.attempt != "" {
			j.task(e.key()).attempt(e.attempt, order).apply(e)
		}
	}
	if j.id == "" {
		j.id = e.job
	}
}

// applyOwn applies an event of the job itself. A restarted master repeats what the first one wrote.
func (j *job) applyOwn(e *event) {
	for _, f := range []struct {
		dst *string
		to  string
	}{{&j.name, e.name}, {&j.user, e.user}, {&j.queue, e.queue}} {
		if f.to != "" {
			*f.dst = f.to
		}
	}
	if e.job != "" {
		j.id = e.job
	}
	if e.submit > 0 && (j.submit <= 0 || e.kind == jobSubmitted) {
		j.submit = e.submit
	}
	if e.launch > 0 {
		j.launch = e.launch
	}
	j.maps, j.reduces = max(j.maps, e.maps), max(j.reduces, e.reduces)
	if e.status != "" {
		j.status = e.status
	}
	if e.kind == jobEnded {
		j.finish, j.complete = e.finish, true
	}
}

func (a *attempt) apply(e *event) {
	a.number = e.number
	switch e.kind {
	case attemptStarted:
		a.started(e)
	case attemptFinished:
		a.ended(e, schema.Success)
	case attemptFailed:
		a.gaveUp(e, schema.Failed)
	case attemptKilled:
		a.gaveUp(e, schema.Killed)
	}
}

func (a *attempt) started(e *event) {
	if e.start > 0 && (a.start <= 0 || e.start < a.start) {
		a.start = e.start
	}
	a.setPlace(e.tracker, "")
	if e.container != "" {
		a.container = e.container
	}
	if l := localityOf(e.locality); l.OK {
		a.locality = l
	}
	switch e.avataar {
	case "VIRGIN":
		a.speculative = schema.Some(false)
	case "SPECULATIVE":
		a.speculative = schema.Some(true)
	}
}

func (a *attempt) ended(e *event, s schema.AttemptStatus) {
	a.status = s
	a.finish = max(a.finish, e.finish)
	a.copied, a.sorted = e.copied, e.sorted
	a.setPlace(e.host, e.rack)
	if e.counters.counted() {
		a.counters = e.counters
	}
	if len(e.splits) > 0 {
		a.splits = e.splits
	}
}

// gaveUp ends an attempt without success; if it had succeeded, it remains successful and its output was lost.
func (a *attempt) gaveUp(e *event, s schema.AttemptStatus) {
	if a.status == schema.Success {
		if outputLost(e.error) {
			a.lostReason = e.error
		}
		return
	}
	a.ended(e, s)
	a.reason = shorten(e.error)
	if text := strings.ToLower(e.error); s == schema.Killed && (strings.Contains(text, "unusable node") || strings.Contains(text, "lost task tracker")) {
		a.status = schema.Lost
	}
}

// outputLost recognises the messages with which Hadoop discards a finished map.
func outputLost(text string) bool {
	t := strings.ToLower(text)
	return strings.Contains(t, "too many fetch failures") || strings.Contains(t, "too many fetch-failures") ||
		strings.Contains(t, "unusable node") || strings.Contains(t, "lost task tracker")
}

func (a *attempt) setPlace(host, rack string) {
	if host != "" && host != "UNKNOWN" {
		a.location.host = host
	}
	if rack = rackOf(rack); rack != "" {
		a.location.rack = rack
	}
}

func localityOf(word string) schema.Null[schema.Locality] {
	switch word {
	case "NODE_LOCAL":
		return schema.Some(schema.NodeLocal)
	case "RACK_LOCAL":
		return schema.Some(schema.RackLocal)
	case "OFF_SWITCH":
		return schema.Some(schema.AnyLocality)
	}
	return schema.Null[schema.Locality]{}
}

// splitHosts reads a list of hosts or /rack/host locations.
func splitHosts(list string) []location {
	var ps []location
	for list != "" && len(ps) < 64 {
		var s string
		s, list, _ = strings.Cut(list, ",")
		if s = strings.TrimSpace(s); s != "" {
			ps = append(ps, locationOf(s))
		}
	}
	return ps
}

// locationOf splits /rack/host; a bare host has no rack.
func locationOf(s string) location {
	if strings.Contains(s, `\.`) {
		s = strings.ReplaceAll(s, `\.`, ".")
	}
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return location{host: s}
	}
	return location{host: s[i+1:], rack: rackOf(s[:i])}
}

// rackOf returns a rack without its leading slash; the default rack counts as none.
func rackOf(s string) string {
	s = strings.TrimPrefix(s, "/")
	if s == "UNKNOWN" || s == "default-rack" {
		return ""
	}
	return s
}

// shorten keeps the first line of an error, at most 300 bytes of it.
func shorten(s string) string {
	s = strings.TrimLeft(s, ", \n")
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i]
	}
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}
