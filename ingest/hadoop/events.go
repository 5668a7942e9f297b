package hadoop

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"straggler/schema"
)

// event is one record of a job history: the type, and the fields of whichever record it is, which all have names of
// their own.
type event struct {
	Type  string    `json:"type"`
	Event eventBody `json:"event"`
}

type eventBody struct {
	JobID             string  `json:"jobid"`
	JobName           string  `json:"jobName"`
	UserName          string  `json:"userName"`
	JobQueueName      string  `json:"jobQueueName"`
	SubmitTime        int64   `json:"submitTime"`
	LaunchTime        int64   `json:"launchTime"`
	JobStatus         string  `json:"jobStatus"`
	Diagnostics       wrapped `json:"diagnostics"`
	NodeManagerHost   string  `json:"nodeManagerHost"`
	TaskID            string  `json:"taskid"`
	TaskType          string  `json:"taskType"`
	StartTime         int64   `json:"startTime"`
	SplitLocations    wrapped `json:"splitLocations"`
	AttemptID         string  `json:"attemptId"`
	TrackerName       string  `json:"trackerName"`
	ContainerID       wrapped `json:"containerId"`
	Locality          wrapped `json:"locality"`
	Avataar           wrapped `json:"avataar"`
	MapFinishTime     int64   `json:"mapFinishTime"`
	ShuffleFinishTime int64   `json:"shuffleFinishTime"`
	SortFinishTime    int64   `json:"sortFinishTime"`
	FinishTime        int64   `json:"finishTime"`
	HostName          wrapped `json:"hostname"`
	RackName          wrapped `json:"rackname"`
	Status            string  `json:"status"`
	Error             wrapped `json:"error"`
	Counters          tally   `json:"counters"`
	ClockSplits       splits  `json:"clockSplits"`
}

// UnmarshalJSONFrom reads {"org.apache.hadoop.mapreduce.jobhistory.TaskStarted": {…}}: Avro-JSON names the record.
func (b *eventBody) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain eventBody
	return unwrap(dec, func() error { return json.UnmarshalDecode(dec, (*plain)(b)) })
}

// unwrap reads the one member of a wrapping object; null is nothing.
func unwrap(dec *jsontext.Decoder, value func() error) error {
	if dec.PeekKind() != '{' {
		return dec.SkipValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for first := true; dec.PeekKind() != '}'; first = false {
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
		if !first {
			if err := dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if err := value(); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// wrapped is a string that newer schemas write as {"string": "x"} and older ones bare.
type wrapped string

func (w *wrapped) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		t, err := dec.ReadToken()
		if err == nil {
			*w = wrapped(t.String())
		}
		return err
	}
	return unwrap(dec, func() error { return w.UnmarshalJSONFrom(dec) })
}

// splits is a list of numbers, which a newer schema might wrap.
type splits []int64

func (s *splits) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '[' {
		return json.UnmarshalDecode(dec, (*[]int64)(s))
	}
	return unwrap(dec, func() error { return s.UnmarshalJSONFrom(dec) })
}

// tally reads {"name": …, "groups": [{"name", "displayName", "counts": [{"name", "displayName", "value"}]}]}, bare
// or wrapped.
type tally counters

func (t *tally) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '{' {
		return dec.SkipValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		switch {
		case key == "groups":
			err = t.groups(dec)
		case dec.PeekKind() == '{':
			err = t.UnmarshalJSONFrom(dec)
		default:
			err = dec.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

type counterGroup struct {
	Counts []struct {
		Name  string `json:"name"`
		Value int64  `json:"value"`
	} `json:"counts"`
}

func (t *tally) groups(dec *jsontext.Decoder) error {
	var groups []counterGroup
	if err := json.UnmarshalDecode(dec, &groups); err != nil {
		return err
	}
	for _, g := range groups {
		for _, c := range g.Counts {
			(*counters)(t).set(c.Name, c.Value)
		}
	}
	return nil
}

// apply folds an event into the job. Unknown events and events of unknown tasks change nothing.
func (j *job) apply(e *event, order int) {
	b := &e.Event
	switch e.Type {
	case "JOB_SUBMITTED":
		j.id, j.name, j.user, j.queue = b.JobID, b.JobName, b.UserName, b.JobQueueName
		j.submit = b.SubmitTime
	case "JOB_QUEUE_CHANGED":
		j.queue = b.JobQueueName
	case "JOB_INITED", "JOB_INFO_CHANGED":
		if b.LaunchTime > 0 {
			j.launch = b.LaunchTime
		}
		if b.SubmitTime > 0 && j.submit <= 0 {
			j.submit = b.SubmitTime
		}
	case "JOB_FINISHED":
		j.finish, j.status, j.complete = b.FinishTime, "SUCCEEDED", true
	case "JOB_FAILED", "JOB_KILLED", "JOB_ERROR":
		j.finish, j.status, j.complete = b.FinishTime, b.JobStatus, true
	case "TASK_STARTED":
		if t := j.taskOf(b.TaskID, b.TaskType); t != nil {
			if t.scheduled <= 0 {
				t.scheduled = b.StartTime
			}
			t.hosts = splitHosts(string(b.SplitLocations))
		}
	default:
		if strings.Contains(e.Type, "_ATTEMPT_") {
			j.applyAttempt(e, order)
		}
	}
	if j.id == "" {
		j.id = b.JobID
	}
}

func (j *job) taskOf(id, taskType string) *task {
	k, index, _, ok := parseID(id)
	if !ok {
		return nil
	}
	return j.task(taskKey{kindOf(taskType, k), index})
}

func (j *job) applyAttempt(e *event, order int) {
	b := &e.Event
	t := j.taskOf(b.TaskID, b.TaskType)
	if t == nil || b.AttemptID == "" {
		return
	}
	a := t.attempt(b.AttemptID, order)
	_, _, a.number, _ = parseID(b.AttemptID)
	switch {
	case strings.HasSuffix(e.Type, "_STARTED"):
		a.started(b)
	case strings.HasSuffix(e.Type, "_FINISHED"):
		a.ended(b, schema.Success)
		a.mapEnd, a.shuffleEnd, a.sortEnd = b.MapFinishTime, b.ShuffleFinishTime, b.SortFinishTime
	case strings.HasSuffix(e.Type, "_FAILED"):
		a.gaveUp(b, schema.Failed)
	case strings.HasSuffix(e.Type, "_KILLED"):
		a.gaveUp(b, schema.Killed)
	}
}

func (a *attempt) started(b *eventBody) {
	if a.start <= 0 || b.StartTime > 0 && b.StartTime < a.start {
		a.start = b.StartTime
	}
	a.setPlace(b.TrackerName, "")
	if b.ContainerID != "" {
		a.container = string(b.ContainerID)
	}
	a.locality = localityOf(string(b.Locality))
	switch b.Avataar {
	case "VIRGIN":
		a.speculative = schema.Some(false)
	case "SPECULATIVE":
		a.speculative = schema.Some(true)
	}
}

func (a *attempt) ended(b *eventBody, s schema.AttemptStatus) {
	a.status = s
	if b.FinishTime > a.finish {
		a.finish = b.FinishTime
	}
	a.setPlace(string(b.HostName), string(b.RackName))
	if b.Counters.known {
		a.counters = counters(b.Counters)
	}
	if len(b.ClockSplits) > 0 {
		a.splits = b.ClockSplits
	}
}

// gaveUp ends an attempt without success; a success that is given up afterwards stays one whose output was lost.
func (a *attempt) gaveUp(b *eventBody, s schema.AttemptStatus) {
	if a.status == schema.Success {
		if outputLost(string(b.Error)) {
			a.lostReason = string(b.Error)
		}
		return
	}
	a.ended(b, s)
	a.reason = shorten(string(b.Error))
	if s == schema.Killed && strings.Contains(string(b.Error), "unusable node") {
		a.status = schema.Lost
	}
}

// outputLost recognises the texts with which Hadoop gives a finished map up.
func outputLost(text string) bool {
	t := strings.ToLower(text)
	return strings.Contains(t, "too many fetch failures") || strings.Contains(t, "too many fetch-failures") ||
		strings.Contains(t, "unusable node") || strings.Contains(t, "lost task tracker")
}

func (a *attempt) setPlace(host, rack string) {
	if host != "" && host != "UNKNOWN" {
		a.place.host = host
	}
	if rack = rackOf(rack); rack != "" {
		a.place.rack = rack
	}
}

// rackOf is a rack without its leading slash; the rack that everything is on by default is none.
func rackOf(s string) string {
	s = strings.TrimPrefix(s, "/")
	if s == "UNKNOWN" || s == "default-rack" {
		return ""
	}
	return s
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

// splitHosts reads a list of hosts or /rack/host places.
func splitHosts(list string) []place {
	var ps []place
	for _, s := range strings.Split(list, ",") {
		if s = strings.TrimSpace(s); s != "" && len(ps) < 64 {
			ps = append(ps, placeOf(s))
		}
	}
	return ps
}

// placeOf splits /rack/host; a bare host has no rack.
func placeOf(s string) place {
	s = strings.ReplaceAll(s, `\.`, ".")
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return place{host: s}
	}
	p := place{host: s[i+1:]}
	p.rack = rackOf(s[:i])
	return p
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
