package yarn_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// cluster answers as a resource manager and, behind its proxy, as the application master of a MapReduce job would at any time
// of the job. The layouts are those of Hadoop 3.3.6.
type cluster struct {
	*httptest.Server
	mu      sync.Mutex
	start   time.Time
	now     float64 // seconds since the start
	tasks   []*work
	asked   []string
	kind    string // of the application
	gone    bool   // the master no longer answers
	waiting bool   // the application has not been started
	several bool
}

// work is a task with its attempts.
type work struct {
	kind     string
	index    int
	attempts []run
}

// run is an attempt, in seconds after the job's start.
type run struct {
	at, took float64
	host     string
	killed   bool
}

const app = "application_1795371305756_0001"

func newCluster(tb testing.TB, tasks ...*work) *cluster {
	c := &cluster{start: time.UnixMilli(1_795_371_383_460), tasks: tasks, kind: "MAPREDUCE"}
	c.Server = httptest.NewServer(http.HandlerFunc(c.answer))
	tb.Cleanup(c.Close)
	return c
}

func (c *cluster) set(now float64) { c.mu.Lock(); c.now = now; c.mu.Unlock() }

func (c *cluster) end() (end float64) {
	for _, t := range c.tasks {
		for _, a := range t.attempts {
			end = max(end, a.at+a.took)
		}
	}
	return end
}

func (c *cluster) millis(s float64) int64 { return c.start.UnixMilli() + int64(s*1000) }

type object = map[string]any

func (c *cluster) answer(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, r.URL.Path)
	reply := func(v any) { json.NewEncoder(w).Encode(v) }
	master := "/proxy/" + app + "/ws/v1/mapreduce/"
	job := strings.Replace(app, "application", "job", 1)
	switch path := r.URL.Path; {
	case path == "/ws/v1/cluster/apps":
		list := []any{c.application(app)}
		if c.several {
			list = append(list, c.application(app+"1"))
		}
		reply(object{"apps": object{"app": list}})
	case path == "/ws/v1/cluster/apps/"+app:
		reply(object{"app": c.application(app)})
	case c.gone || !strings.HasPrefix(path, master):
		w.WriteHeader(404)
	case path == master+"jobs":
		reply(object{"jobs": object{"job": []any{c.job(job)}}})
	case path == master+"jobs/"+job+"/tasks":
		list := []any{}
		for _, t := range c.tasks {
			list = append(list, c.task(t))
		}
		reply(object{"tasks": object{"task": list}})
	default:
		for _, t := range c.tasks {
			if path == master+"jobs/"+job+"/tasks/"+t.id("task")+"/attempts" {
				reply(object{"taskAttempts": object{"taskAttempt": c.attempts(t)}})
				return
			}
		}
		w.WriteHeader(404)
	}
}

func (c *cluster) application(id string) object {
	a := object{"id": id, "name": "nightly", "applicationType": c.kind, "state": "RUNNING", "finalStatus": "UNDEFINED", "finishedTime": 0}
	if c.waiting {
		a["state"] = "ACCEPTED"
	} else if c.now >= c.end() {
		a["state"], a["finalStatus"], a["finishedTime"] = "FINISHED", "SUCCEEDED", c.millis(c.end())
	}
	return a
}

func (c *cluster) job(id string) object {
	j := object{"id": id, "name": "nightly", "user": "etl", "state": "RUNNING", "startTime": c.millis(0), "finishTime": 0,
		"elapsedTime": int64(min(c.now, c.end()) * 1000)}
	maps, reduces := 0, 0
	for _, t := range c.tasks {
		if t.kind == "m" {
			maps++
		} else {
			reduces++
		}
	}
	j["mapsTotal"], j["reducesTotal"] = maps, reduces
	if c.now >= c.end() {
		j["state"], j["finishTime"] = "SUCCEEDED", c.millis(c.end())
	}
	return j
}

func (t *work) id(what string) string {
	return fmt.Sprintf("%s_1795371305756_0001_%s_%06d", what, t.kind, t.index)
}

func (c *cluster) task(t *work) object {
	o := object{"id": t.id("task"), "type": map[string]string{"m": "MAP", "r": "REDUCE"}[t.kind], "state": "SCHEDULED",
		"progress": 0.0, "startTime": 0, "finishTime": 0}
	for _, a := range t.attempts {
		if a.at > c.now {
			continue
		}
		if o["state"] == "SCHEDULED" {
			o["state"], o["startTime"] = "RUNNING", c.millis(a.at)
		}
		o["progress"] = max(o["progress"].(float64), min((c.now-a.at)/a.took, 1)*100)
		if !a.killed && a.at+a.took <= c.now {
			o["state"] = "SUCCEEDED"
		}
	}
	return o
}

func (c *cluster) attempts(t *work) []any {
	list := []any{}
	for i, a := range t.attempts {
		if a.at > c.now {
			continue
		}
		o := object{"id": fmt.Sprintf("%s_%d", t.id("attempt"), i), "startTime": c.millis(a.at), "finishTime": 0,
			"state": "RUNNING", "progress": min((c.now-a.at)/a.took, 1) * 100,
			"rack": "/default-rack", "nodeHttpAddress": a.host + ":8042",
			"assignedContainerId": fmt.Sprintf("container_1795371305756_0001_01_%s%05d%d", t.kind, t.index, i), "diagnostics": ""}
		if a.at+a.took <= c.now {
			o["state"], o["finishTime"] = "SUCCEEDED", c.millis(a.at+a.took)
			if a.killed {
				o["state"], o["diagnostics"] = "KILLED", "Speculation: another attempt succeeded first\nmore"
			}
		}
		list = append(list, o)
	}
	return list
}
