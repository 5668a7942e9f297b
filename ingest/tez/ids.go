package tez

import (
	"slices"
	"strconv"
	"strings"
)

// attemptID is attempt_<cluster>_<app>_<dag>_<vertex>_<task>_<number>, taken apart.
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

// text is the id with its number as Tez writes it: other digits of the same number are the same attempt.
func (a attemptID) text() string { return a.sibling(a.number) }

func (a attemptID) taskID() string { return strings.Join(a.parts[1:6], "_") }

// sibling is the id of another attempt of the task.
func (a attemptID) sibling(number int32) string {
	p := slices.Clone(a.parts)
	p[6] = strconv.Itoa(int(number))
	return strings.Join(p, "_")
}

// applicationID is the application of any id: dag_1_2_3 is of application_1_2, and so is appattempt_1_2_000001, with or
// without the tez_ that the timeline server puts before it.
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

// host is a node id without its port.
func host(node string) string {
	if i := strings.LastIndexByte(node, ':'); i > 0 {
		return node[:i]
	}
	return node
}
