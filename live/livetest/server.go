// Package livetest takes the trace of an application that has run, and provides a server of Spark's REST API for tests that
// responds as a driver would have at any time of the run.
//
// Start with Server.
package livetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"straggler/schema"
)

// Server responds as the driver of a trace's application would have at the time of the last Set.
type Server struct {
	*httptest.Server
	Attempt   string           // of the application, for a driver started by YARN; "": none
	Heartbeat float64          // interval in seconds at which executors report what running tasks have read; 0: never
	Zip       []byte           // its log, packed as by a History Server; nil: none, as for a driver
	Fault     http.HandlerFunc // answers instead of the server if it writes anything; nil: none

	mu       sync.Mutex
	t        *schema.Trace
	now      schema.Time
	Asked    []string // paths of the requests, including queries
	last     schema.Time
	jobs     map[schema.Key]int
	phases   map[schema.Key]int
	attempts map[schema.Key][]int // by phase, in order of their ids
}

// New starts a server.
func New(tb testing.TB, t *schema.Trace) *Server {
	s := &Server{t: t, jobs: map[schema.Key]int{}, phases: map[schema.Key]int{}, attempts: map[schema.Key][]int{}}
	for i := range t.Jobs {
		s.jobs[t.Jobs[i].JobID] = i
	}
	for i := range t.Phases {
		s.phases[t.Phases[i].PhaseID] = i
	}
	for i := range t.Attempts {
		a := &t.Attempts[i]
		if a.StartTime.OK {
			s.attempts[a.PhaseID] = append(s.attempts[a.PhaseID], i)
		}
		s.last = max(s.last, a.FinishTime.V, a.StartTime.V)
	}
	for _, list := range s.attempts {
		slices.SortFunc(list, func(a, b int) int { return cmp.Compare(number(t.Attempts[a].NativeID), number(t.Attempts[b].NativeID)) })
	}
	s.last = max(s.last, t.Applications[0].FinishTime.V)
	s.now = s.Start()
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	tb.Cleanup(s.Close)
	return s
}

// Start and End are the application's.
func (s *Server) Start() schema.Time { return s.t.Applications[0].StartTime.V }
func (s *Server) End() schema.Time   { return s.last }

// Set sets the time.
func (s *Server) Set(now schema.Time) {
	s.mu.Lock()
	s.now = now
	s.mu.Unlock()
}

// Polls returns how often the running stages were requested.
func (s *Server) Polls() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, uri := range s.Asked {
		if strings.HasSuffix(uri, "/stages?status=active") {
			n++
		}
	}
	return n
}

func number(native string) int64 { n, _ := strconv.ParseInt(native, 10, 64); return n }

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Asked = append(s.Asked, r.URL.RequestURI())
	if s.Fault != nil {
		spy := &written{ResponseWriter: w}
		if s.Fault(spy, r); spy.any {
			return
		}
	}
	app := &s.t.Applications[0]
	path, ok := strings.CutPrefix(r.URL.Path, "/api/v1/applications")
	if !ok {
		http.NotFound(w, r)
		return
	}
	if path == "" {
		reply(w, []any{s.application()})
		return
	}
	path, ok = strings.CutPrefix(path, "/"+app.NativeID)
	if ok && path != "" && s.Attempt != "" {
		path, ok = strings.CutPrefix(path, "/"+s.Attempt)
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case !ok:
		http.NotFound(w, r)
	case path == "":
		reply(w, s.application())
	case path == "/logs" && s.Zip != nil:
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Write(s.Zip)
	case path == "/environment":
		reply(w, s.environment())
	case path == "/jobs":
		reply(w, s.jobList(r.URL.Query().Get("status")))
	case path == "/allexecutors":
		reply(w, s.executors())
	case path == "/stages":
		reply(w, s.stages(r.URL.Query().Get("status")))
	case len(parts) == 3 && parts[0] == "stages":
		s.withPhase(w, r, parts, func(i int) any { return s.stage(i) })
	case len(parts) == 4 && parts[0] == "stages" && parts[3] == "taskList":
		s.withPhase(w, r, parts, func(i int) any { return s.tasks(i, r) })
	default:
		http.NotFound(w, r)
	}
}

// written reports whether a fault has answered.
type written struct {
	http.ResponseWriter
	any bool
}

func (w *written) Write(b []byte) (int, error) { w.any = true; return w.ResponseWriter.Write(b) }
func (w *written) WriteHeader(code int)        { w.any = true; w.ResponseWriter.WriteHeader(code) }
func (w *written) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

type object = map[string]any

func stamp(t schema.Time) string {
	return time.UnixMicro(int64(t)).UTC().Format("2006-01-02T15:04:05.000") + "GMT"
}

func (s *Server) application() any {
	a := &s.t.Applications[0]
	over := s.now >= s.last
	end := schema.Time(-1000)
	if over {
		end = s.last
	}
	return object{"id": a.NativeID, "name": a.Name.V, "attempts": []any{object{"attemptId": s.Attempt, "startTime": stamp(a.StartTime.V), "endTime": stamp(end),
		"duration": int64(min(s.now, s.last)-a.StartTime.V) / 1000, "completed": over, "appSparkVersion": a.FrameworkVersion.V, "sparkUser": a.User.V}}}
}

func (s *Server) environment() any {
	var p [][]string
	for _, x := range s.t.Settings {
		p = append(p, []string{x.Name, x.Value})
	}
	if s.Heartbeat > 0 {
		p = append(p, []string{"spark.executor.heartbeatInterval", fmt.Sprintf("%dms", int64(1000*s.Heartbeat))})
	}
	return object{"sparkProperties": append(p, []string{"spark.hadoop.fs.s3a.secret.key", "hidden"})}
}

func (s *Server) jobList(status string) any {
	list := []any{}
	for i := range s.t.Jobs {
		j := &s.t.Jobs[i]
		if !j.SubmitTime.OK || j.SubmitTime.V > s.now {
			continue
		}
		o := object{"jobId": number(j.NativeID), "name": j.Name.V, "submissionTime": stamp(j.SubmitTime.V), "status": "RUNNING"}
		if j.FinishTime.OK && j.FinishTime.V <= s.now {
			o["completionTime"], o["status"] = stamp(j.FinishTime.V), "SUCCEEDED"
		}
		stages := []int64{}
		for k := range s.t.Phases {
			if s.t.Phases[k].JobID == j.JobID {
				stages = append(stages, number(s.t.Phases[k].NativeID))
			}
		}
		o["stageIds"] = stages
		if status == "" || strings.EqualFold(o["status"].(string), status) {
			list = append(list, o)
		}
	}
	return list
}

func (s *Server) executors() any {
	list := []any{}
	for i := range s.t.Machines {
		m := &s.t.Machines[i]
		if m.AddedTime.OK && m.AddedTime.V > s.now {
			continue
		}
		o := object{"id": m.Executor.V, "hostPort": m.Machine + ":4711", "totalCores": int64(m.Cores.V), "maxTasks": m.Slots.V, "isActive": true}
		if m.AddedTime.OK {
			o["addTime"] = stamp(m.AddedTime.V)
		}
		if m.RemovedTime.OK && m.RemovedTime.V <= s.now {
			o["removeTime"], o["isActive"] = stamp(m.RemovedTime.V), false
		}
		list = append(list, o)
	}
	return list
}

func (s *Server) stages(status string) any {
	list := []any{}
	for i := range s.t.Phases {
		if o := s.stage(i); o != nil && (status == "" || strings.EqualFold(o["status"].(string), status)) {
			list = append(list, o)
		}
	}
	return list
}

// stage returns nil before the stage is submitted.
func (s *Server) stage(i int) object {
	p := &s.t.Phases[i]
	if !p.SubmitTime.OK || p.SubmitTime.V > s.now {
		return nil
	}
	var active, complete, failed int64
	for _, k := range s.attempts[p.PhaseID] {
		switch a := &s.t.Attempts[k]; {
		case a.StartTime.V > s.now:
		case s.runs(a):
			active++
		case a.Status == schema.Success:
			complete++
		default:
			failed++
		}
	}
	o := object{"status": "ACTIVE", "stageId": number(p.NativeID), "attemptId": p.Attempt, "numTasks": p.TaskCount.V, "numActiveTasks": active,
		"numCompleteTasks": complete, "numFailedTasks": failed, "submissionTime": stamp(p.SubmitTime.V), "name": p.Name.V}
	if p.FinishTime.OK && p.FinishTime.V <= s.now {
		o["status"], o["completionTime"] = "COMPLETE", stamp(p.FinishTime.V)
	}
	return o
}

func (s *Server) runs(a *schema.Attempt) bool { return !a.FinishTime.OK || a.FinishTime.V > s.now }

func (s *Server) withPhase(w http.ResponseWriter, r *http.Request, parts []string, do func(int) any) {
	for i := range s.t.Phases {
		p := &s.t.Phases[i]
		if p.NativeID == parts[1] && fmt.Sprint(p.Attempt) == parts[2] && p.SubmitTime.OK && p.SubmitTime.V <= s.now {
			reply(w, do(i))
			return
		}
	}
	http.NotFound(w, r)
}

func (s *Server) tasks(i int, r *http.Request) any {
	q := r.URL.Query()
	offset, _ := strconv.Atoi(q.Get("offset"))
	length, err := strconv.Atoi(q.Get("length"))
	if err != nil {
		length = 20
	}
	list := []any{}
	for _, k := range s.attempts[s.t.Phases[i].PhaseID] {
		a := &s.t.Attempts[k]
		if a.StartTime.V > s.now || q.Get("status") == "running" && !s.runs(a) {
			continue
		}
		list = append(list, s.task(a))
	}
	offset = min(offset, len(list))
	return list[offset:min(offset+length, len(list))]
}

func (s *Server) task(a *schema.Attempt) any {
	o := object{"taskId": number(a.NativeID), "index": a.Task, "partitionId": a.Task, "attempt": a.Number, "launchTime": stamp(a.StartTime.V),
		"executorId": a.Executor.V, "host": a.Machine.V, "status": "RUNNING", "speculative": a.Speculative.V,
		"taskLocality": strings.ToUpper(string(a.Locality.V)), "taskMetrics": object{}}
	if s.runs(a) {
		o["duration"] = int64(s.now-a.StartTime.V) / 1000
		o["taskMetrics"] = object{"inputMetrics": object{"bytesRead": s.read(a, a.InputBytes), "recordsRead": s.read(a, a.InputRecords)}}
		return o
	}
	o["status"] = map[schema.AttemptStatus]string{schema.Success: "SUCCESS", schema.Killed: "KILLED"}[a.Status]
	if o["status"] == "" {
		o["status"] = "FAILED"
	}
	o["duration"] = int64(a.FinishTime.V-a.StartTime.V) / 1000
	ms := func(x schema.Null[float64]) int64 { return int64(x.V * 1000) }
	o["schedulerDelay"] = ms(a.SchedulerDelayS)
	o["taskMetrics"] = object{"executorDeserializeTime": ms(a.DeserializeS), "executorCpuTime": int64(a.CPUS.V * 1e9), "jvmGcTime": ms(a.GCS),
		"resultSerializationTime": ms(a.ResultS), "diskBytesSpilled": a.SpillBytes.V, "peakExecutionMemory": a.PeakMemoryBytes.V,
		"inputMetrics":  object{"bytesRead": max(a.InputBytes.V-s.shuffled(a), 0), "recordsRead": a.InputRecords.V},
		"outputMetrics": object{"bytesWritten": a.OutputBytes.V},
		"shuffleReadMetrics": object{"fetchWaitTime": ms(a.FetchWaitS),
			"localBytesRead": s.shuffled(a) - min(a.RemoteBytes.V, s.shuffled(a)), "remoteBytesRead": min(a.RemoteBytes.V, s.shuffled(a))},
		"shuffleWriteMetrics": object{"bytesWritten": a.ShuffleWriteBytes.V}}
	return o
}

// shuffled returns what an attempt read from other stages: everything, unless ingest estimated its source, as it does for
// input from storage.
func (s *Server) shuffled(a *schema.Attempt) int64 {
	if a.Quality&schema.BytesEstimated != 0 {
		return 0
	}
	return a.InputBytes.V
}

// read returns what an attempt had read at the last heartbeat of its executor, at a steady rate. An executor reports on all
// of its tasks at once, at intervals with a random offset (Spark's Heartbeater).
func (s *Server) read(a *schema.Attempt, all schema.Null[int64]) int64 {
	if s.Heartbeat <= 0 || !a.DurationS.OK || a.DurationS.V <= 0 {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(a.Executor.V))
	began := s.Heartbeat * float64(h.Sum32()) / math.MaxUint32
	since := s.now.Sub(s.Start()) - began
	ran := s.Start().Add(began + s.Heartbeat*math.Floor(since/s.Heartbeat)).Sub(a.StartTime.V)
	return int64(float64(all.V) * min(max(ran, 0)/a.DurationS.V, 1))
}
