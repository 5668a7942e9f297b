package measure

import (
	"math"
	"strconv"

	"straggler/schema"
)

// Run is the summary of one run of an application.
type Run struct {
	// what it is compared within: the application's name, or what --group-by makes of it
	Group    string `json:"group"`
	Start    string `json:"start,omitempty"` // RFC 3339, UTC
	ID       string `json:"id"`              // the framework's own id
	Name     string `json:"name,omitempty"`
	Complete bool   `json:"complete"`
	Values   Values `json:"values"`
	Causes   Values `json:"causes,omitempty"` // seconds of excess by cause
	// sums of their squares over the outliers: how many tasks they are spread over
	Squares  Values             `json:"squares,omitempty"`
	Machines map[string]Machine `json:"machines,omitempty"` // those that were not like the others
	// machines that were like the others; in a baseline, of those that were not in another run
	Healthy []string `json:"healthy,omitempty"`
	// ids of the findings of that night: what they are about does not count as normal
	Flagged []string `json:"flagged,omitempty"`
	Plans   []Plan   `json:"plans,omitempty"` // of its queries, in the order of their start
	Stages  []Stage  `json:"-"`
	Session bool     `json:"-"` // see Grouping.session

	ApplicationKey schema.Key
	JudgedMachines int // judged
}

// StartAndID identifies a run within its group.
func (r *Run) StartAndID() string { return r.Start + " " + r.ID }

// Key identifies a run among those of all groups.
func (r *Run) Key() string { return r.Group + "\x00" + r.Start + "\x00" + r.ID }

// Values are measurements by name, without unknown ones.
type Values map[string]float64

func (v Values) Set(name string, x float64) {
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		v[name] = Round(x)
	}
}

func (v Values) put(name string, x float) {
	if x.OK {
		v.Set(name, x.V)
	}
}

// Finite reports whether all values are finite and not absurdly large: a baseline may have been edited.
func (v Values) Finite() bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) || math.Abs(x) > 1e18 {
			return false
		}
	}
	return true
}

// Round keeps six significant digits: more precise than a log's milliseconds, and short to read in a review.
func Round(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil || math.IsInf(y, 0) || math.IsNaN(y) {
		return 0
	}
	return y
}

// Machine is the worst health of a machine in a run.
type Machine struct {
	Verdict string  `json:"verdict"`
	Factor  float64 `json:"factor"` // time relative to prediction, 1 = like the others
	Low     float64 `json:"low"`    // 95 % interval
	High    float64 `json:"high"`
	Q       float64 `json:"q"` // false discovery rate among the machines of its window
}

// Stage is the summary of one stage of a run.
type Stage struct {
	Signature
	Values Values    `json:"values"`
	Causes Values    `json:"causes,omitempty"`
	Sketch []float64 `json:"sketch"` // durations of its tasks: shortest, quartiles, 90 %, 99 %, longest

	ApplicationKey schema.Key
	Longest        []float64 `json:"-"` // durations of the longest tasks; by Tasks, as what follows
	Parts          []Part    `json:"-"` // by machine
	Shared         []Shared  `json:"-"`
}

// Part is what one machine ran of a stage: how many tasks, and their medians.
type Part struct {
	Machine, Rack    string
	Tasks            int64
	MedianS          float64
	CPUSeconds, Wait schema.Null[float64] // processor time; time that the task waited for its input
}

// Shared counts the tasks of a stage that have something in common, by their duration.
type Shared struct {
	Dimension, Value string
	Bin, Tasks       int64 // ten bins to a factor of e; of a table or path, which are the stage's, neither
}

// Seconds returns the middle of the bin.
func (s *Shared) Seconds() float64 { return math.Exp((float64(s.Bin) + 0.5) / 10) }

// Before reports whether a comes before b: by group, then by time.
func Before(a, b *Run) bool {
	if a.Group != b.Group {
		return a.Group < b.Group
	}
	if a.Start != b.Start {
		return a.Start < b.Start
	}
	return a.ID < b.ID
}
