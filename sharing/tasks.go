package sharing

import (
	"math"
	"strconv"
	"strings"

	"straggler/schema"
)

type count struct{ tasks, slow float64 }

func (c *count) add(d count) { c.tasks, c.slow = c.tasks+d.tasks, c.slow+d.slow }

// Tasks counts the tasks of one run, of stages that have a history, by what they have in common.
type Tasks struct {
	all    count
	stages map[schema.Key]count
	groups map[string]map[string]map[schema.Key]count // by dimension, value and stage
}

// New returns empty counts.
func New() *Tasks {
	return &Tasks{stages: map[schema.Key]count{}, groups: map[string]map[string]map[schema.Key]count{}}
}

// Dimensions of Add, beside those of Feature.
const (
	Stage   = "stage"   // all tasks of a stage, once; the value does not matter
	Machine = "machine" // of a machine that is a part of a node, its node too
	Rack    = "rack"
	Path    = "path" // that the stage reads; of it, the file system counts
)

// Add counts tasks of a stage with a common value of a dimension, and how many of them are slower than usual.
func (r *Tasks) Add(stage schema.Key, dimension, value string, tasks, slow float64) {
	n := count{tasks, slow}
	switch dimension {
	case Stage:
		r.stages[stage] = n
		r.all.add(n)
		r.put(dimension, strconv.FormatInt(int64(stage), 10), stage, n)
		return
	case Machine:
		if node := schema.Node(value); node != "" {
			r.put("node", node, stage, n)
		}
	case Path:
		if fs := fileSystem(value); fs != "" {
			r.set("file system", fs, stage, n) // all tasks of the stage, by whichever of its paths
		}
		return
	}
	r.put(dimension, value, stage, n)
}

// Count returns how many tasks there are, and how many of them are slower than usual.
func (r *Tasks) Count() (tasks, slow int64) { return int64(r.all.tasks), int64(math.Round(r.all.slow)) }

func (r *Tasks) put(dimension, value string, phase schema.Key, n count) {
	at := r.groups[dimension][value][phase]
	at.add(n)
	r.set(dimension, value, phase, at)
}

func (r *Tasks) set(dimension, value string, phase schema.Key, n count) {
	if r.groups[dimension] == nil {
		r.groups[dimension] = map[string]map[schema.Key]count{}
	}
	if r.groups[dimension][value] == nil {
		r.groups[dimension][value] = map[schema.Key]count{}
	}
	r.groups[dimension][value][phase] = n
}

// fileSystem returns the scheme and authority of a path, such as s3a://bucket; empty where it has no scheme.
func fileSystem(path string) string {
	scheme, rest, ok := strings.Cut(path, ":")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "/ ") {
		return ""
	}
	if rest, ok = strings.CutPrefix(rest, "//"); !ok {
		return scheme + ":"
	}
	authority, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + authority
}

// someSlow reports whether more of a stage's tasks are slow than by chance.
func (c count) someSlow() bool { return c.slow > 0.05*c.tasks }

// likelihood returns the log likelihood of the number of slow tasks at the observed rate.
func (c count) likelihood() float64 {
	xlogx := func(x float64) float64 {
		if x <= 0 {
			return 0
		}
		return x * math.Log(x/c.tasks)
	}
	return xlogx(c.slow) + xlogx(c.tasks-c.slow)
}
