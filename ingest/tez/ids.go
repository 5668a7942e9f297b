package tez

import (
	"slices"
	"strconv"
	"strings"
)

// attemptID is attempt_<cluster>_<app>_<dag>_<vertex>_<task>_<number>, parsed.
type attemptID struct {
	parts            []string
	app, dag, vertex string
	task             int64
	number           int32
}

func parseAttempt(s string) (attemptID, bool) {
	p := strings.Split(s, "_")
	if len(p) != 7 || p[0] != "attempt" {
		return attemptID{}, false
	}
	task, err1 := strconv.ParseInt(p[5], 10, 62)
	number, err2 := strconv.ParseInt(p[6], 10, 31)
	if err1 != nil || err2 != nil || task < 0 || number < 0 {
		return attemptID{}, false
	}
	return attemptID{
		parts: p, app: "application_" + p[1] + "_" + p[2], dag: "dag_" + strings.Join(p[1:4], "_"), vertex: "vertex_" + strings.Join(p[1:5], "_"),
		task: task, number: int32(number),
	}, true
}

// text returns the id with its number as Tez writes it: other digits of the same number are the same attempt.
func (a attemptID) text() string { return a.sibling(a.number) }

func (a attemptID) taskID() string { return strings.Join(a.parts[1:6], "_") }

// sibling returns the id of another attempt of the task.
func (a attemptID) sibling(number int32) string {
	p := slices.Clone(a.parts)
	p[6] = strconv.Itoa(int(number))
	return strings.Join(p, "_")
}

// applicationID returns the application of any id: dag_1_2_3 belongs to application_1_2, and so does appattempt_1_2_000001,
// with or without the prefix tez_ that the timeline server adds.
func applicationID(id string) string {
	p := strings.Split(strings.TrimPrefix(id, "tez_"), "_")
	if len(p) < 3 {
		return id
	}
	return "application_" + p[1] + "_" + p[2]
}

func dagID(vertex string) string {
	p := strings.Split(vertex, "_")
	if len(p) < 4 {
		return vertex
	}
	return "dag_" + strings.Join(p[1:4], "_")
}

// host returns a node id without its port.
func host(node string) string {
	if i := strings.LastIndexByte(node, ':'); i > 0 {
		return node[:i]
	}
	return node
}
