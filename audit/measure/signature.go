package measure

import (
	"cmp"
	"fmt"
	"strings"

	"straggler/schema"
)

// Signature identifies a stage across runs: by its name in the program, without what differs in each run, and its position, not
// by its number; and by the operator of a plan that it ran, if the log has plans. Line numbers of call sites are kept as they
// are: moving a line makes a new name.
type Signature struct {
	Job      string   `json:"job,omitempty"`   // name of the job
	Stage    string   `json:"stage,omitempty"` // name of the stage, often with the call site
	Kind     string   `json:"kind,omitempty"`
	Depth    int      `json:"depth"` // stages between it and the nearest start of its job, on the longest path
	Nth      int      `json:"nth"`   // of several alike in an application, in the order of submission
	Operator Operator `json:"operator,omitzero"`
}

// Operator is what a stage ran of a query's plan: the operator nearest the top of it.
type Operator struct {
	Query string `json:"query,omitempty"` // what the user called it, or its call site
	Name  string `json:"name"`            // with its keys and the tables below it
	Shape string `json:"shape,omitempty"` // of the query: the tables that it scans and the keys that it joins and groups by
	Plan  string `json:"plan,omitempty"`  // fingerprint of the plan that ran
	Node  string `json:"node,omitempty"`  // fingerprint of the operator and all below it
	Nth   int    `json:"nth,omitempty"`   // of those with the same query, shape and name in an application
	// among all of an application, by the start of the query and the place in its plan, from 1
	Place int `json:"place,omitempty"`
}

// String returns the signature in one line, for patterns and for people.
func (s Signature) String() string {
	o := s.Operator
	if o.Name == "" {
		return s.Named()
	}
	text := o.Name
	if o.Query != "" {
		text = o.Query + ": " + o.Name
	}
	if o.Nth > 0 {
		text += fmt.Sprintf(" #%d", o.Nth+1)
	}
	return text
}

// Named returns the signature in one line, without the operator.
func (s Signature) Named() string {
	var b strings.Builder
	if s.Job != "" && s.Job != s.Stage {
		b.WriteString(s.Job + " / ")
	}
	if s.Stage == "" {
		b.WriteString("(no name)")
	}
	b.WriteString(s.Stage)
	if s.Kind != "" {
		b.WriteString(" " + s.Kind)
	}
	if s.Depth > 0 {
		fmt.Fprintf(&b, " depth %d", s.Depth)
	}
	if s.Nth > 0 {
		fmt.Fprintf(&b, " #%d", s.Nth+1)
	}
	return b.String()
}

// Less orders signatures by name; of one run no two names are the same.
func (s Signature) Less(t Signature) bool {
	return cmp.Or(strings.Compare(s.Job, t.Job), strings.Compare(s.Stage, t.Stage), strings.Compare(s.Kind, t.Kind),
		cmp.Compare(s.Depth, t.Depth), cmp.Compare(s.Nth, t.Nth)) < 0
}

// WithoutOperator returns the signature without the operator.
func (s Signature) WithoutOperator() Signature {
	s.Operator = Operator{}
	return s
}

// Limits on the stages of a run.
const (
	// with the same name, or the same operator: a loop that runs until it converges has a different number of rounds each night
	mostAlike  = 32
	mostByPlan = 1000 // that only their operators distinguish from others of the same name
)

// lasting returns a name without the parts that differ in each run, truncated.
func lasting(name string) string { return short(schema.Lasting(name)) }

// short truncates a name from a log to maxName.
func short(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	if r := []rune(name); len(r) > maxName {
		return string(r[:maxName]) + "…"
	}
	return name
}

// maxName bounds the names that a baseline keeps.
const maxName = 200

// edgeRow is a row of edges.sql.
type edgeRow struct {
	JobID schema.Key `col:"job_id"`
	From  schema.Key `col:"from_phase"`
	To    schema.Key `col:"to_phase"`
}

// depths returns the length of the longest path to each phase. Depth is bounded, and phases on a cycle, which a log may
// claim, get none.
func depths(edges []edgeRow) map[schema.Key]int {
	const rounds = 10_000
	out := map[schema.Key][]schema.Key{}
	waits := map[schema.Key]int{}
	for _, e := range edges {
		out[e.From] = append(out[e.From], e.To)
		waits[e.To]++
	}
	depth := map[schema.Key]int{}
	var ready []schema.Key
	for _, e := range edges {
		if waits[e.From] == 0 {
			ready = append(ready, e.From)
			waits[e.From] = -1 // once
		}
	}
	for len(ready) > 0 {
		p := ready[0]
		ready = ready[1:]
		for _, q := range out[p] {
			depth[q] = min(rounds, max(depth[q], depth[p]+1))
			if waits[q]--; waits[q] == 0 {
				ready = append(ready, q)
			}
		}
	}
	return depth
}
