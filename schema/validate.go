package schema

import (
	"fmt"
	"math"
	"reflect"
	"unicode/utf8"
)

// Violation is a row that breaks a law of its table.
type Violation struct {
	Table  string
	Row    int    // position in the trace's slice, from 0
	Key    string // the row's primary key, or what identifies it
	Column string // the column, or the first of those concerned
	Rule   string // short stable name of the law
	Detail string // what was found
}

func (v Violation) String() string {
	return fmt.Sprintf("%s[%d] %s.%s: %s: %s", v.Table, v.Row, v.Key, v.Column, v.Rule, v.Detail)
}

// The rules, each with the law it stands for. Laws that compare values hold where all of them are known.
const (
	RulePositiveKey  = "positive_key"    // a key is > 0
	RuleUnique       = "unique"          // no two rows have the same primary key
	RuleReference    = "reference"       // a key of another table names a row there
	RuleWord         = "word"            // an enum holds one of its words
	RuleNonNegative  = "non_negative"    // no number in a log table is negative, infinite or NaN
	RuleFraction     = "fraction"        // a fraction is at most 1
	RuleText         = "text"            // text is valid UTF-8
	RuleMask         = "mask"            // quality has no bits but those declared
	RuleOrder        = "order"           // submitted ≤ started ≤ finished, added ≤ removed
	RuleDuration     = "duration"        // duration_s = finish − start to the microsecond; known when both are, and else only in a partial row
	RuleRunning      = "running"         // what still runs has no finish
	RuleWindow       = "window"          // an attempt lies inside its phase, a progress sample inside its attempt
	RuleTask         = "task"            // task < task_count, and no more distinct tasks than task_count
	RuleNumber       = "number"          // number is unique per phase and task
	RuleBytes        = "bytes"           // local + remote ≤ input, cross-rack ≤ remote
	RulePart         = "part"            // a measured part of an attempt is not longer than the attempt
	RuleOwner        = "owner"           // an attempt's job and application are those of its phase, and so on
	RuleEdge         = "edge"            // an edge joins two phases, once, and edges have no cycle
	RuleLoss         = "loss"            // an output is lost by the attempt that made it and made again afterwards
	RuleSkipped      = "skipped"         // a skipped phase has no attempts
	RuleMachineTwice = "machine_unique"  // an executor of a machine is added once at a time
	RuleSetting      = "setting_unique"  // a setting has one value
	partTolerance    = 0.002 + 1e-9      // logs round each part to the millisecond on its own
	durationEpsilon  = 0.5e-6            // half a microsecond
	qualityBits      = GangMember<<1 - 1 // all declared bits
	noKey            = "-"               // for rows without a primary key
)

// Validate holds a trace against the laws and returns every violation, in the order of the tables and rows.
func Validate(t *Trace) []Violation {
	v := &validator{primary: map[string]map[Key]int{}}
	indexKeys(v, t.Applications)
	indexKeys(v, t.Jobs)
	indexKeys(v, t.Phases)
	indexKeys(v, t.Attempts)

	checkColumns(v, t.Applications)
	checkColumns(v, t.Settings)
	checkColumns(v, t.Caveats)
	checkColumns(v, t.Jobs)
	checkColumns(v, t.Phases)
	checkColumns(v, t.Edges)
	checkColumns(v, t.Attempts)
	checkColumns(v, t.Machines)
	checkColumns(v, t.MachineUsage)
	checkColumns(v, t.Progress)
	checkColumns(v, t.Losses)
	checkColumns(v, t.Transfers)
	checkColumns(v, t.Rejects)

	v.applications(t)
	v.jobs(t)
	v.phases(t)
	v.edges(t)
	v.attempts(t)
	v.machines(t)
	v.progress(t)
	v.losses(t)
	return v.found
}

type validator struct {
	found   []Violation
	primary map[string]map[Key]int // table → key → position
}

func (v *validator) add(table string, row int, key any, column, rule, format string, args ...any) {
	v.found = append(v.found, Violation{table, row, fmt.Sprint(key), column, rule, fmt.Sprintf(format, args...)})
}

// row finds the position of a key, -1 when there is no such row.
func (v *validator) row(table string, k Key) int {
	if i, ok := v.primary[table][k]; ok {
		return i
	}
	return -1
}

// indexKeys remembers where each primary key stands and reports those that stand twice.
func indexKeys[R any](v *validator, rows []R) {
	t := TableOf[R]()
	index := make(map[Key]int, len(rows))
	for i := range rows {
		k := reflect.ValueOf(&rows[i]).Elem().Field(0).Int() // the primary key is the first column
		if first, ok := index[k]; ok {
			v.add(t.Name, i, k, t.Columns[0].Name, RuleUnique, "row %d has the same key", first)
			continue
		}
		index[k] = i
	}
	v.primary[t.Name] = index
}

// checkColumns checks what the declaration of each column alone asks for.
func checkColumns[R any](v *validator, rows []R) {
	t := TableOf[R]()
	for i := range rows {
		row := reflect.ValueOf(&rows[i]).Elem()
		key := noKey
		if t.Columns[0].Key == "primary" {
			key = fmt.Sprint(row.Field(0).Interface())
		}
		for c := range t.Columns {
			col := &t.Columns[c]
			value := row.Field(c)
			if col.Nullable {
				if !value.Field(1).Bool() {
					continue
				}
				value = value.Field(0)
			}
			if rule, detail := checkValue(v, col, value); rule != "" {
				v.add(t.Name, i, key, col.Name, rule, "%s", detail)
			}
		}
	}
}

func checkValue(v *validator, col *Column, value reflect.Value) (rule, detail string) {
	switch {
	case col.Key != "" && value.CanInt():
		return checkKey(v, col, value.Int())
	case col.Words != nil:
		for _, w := range col.Words {
			if w == value.String() {
				return "", ""
			}
		}
		return RuleWord, fmt.Sprintf("%q is not one of %q", value.String(), col.Words)
	case col.Unit == "bit mask":
		if value.Int()&^int64(qualityBits) != 0 {
			return RuleMask, fmt.Sprintf("%d has undeclared bits", value.Int())
		}
	case col.Type == String:
		if !utf8.ValidString(value.String()) {
			return RuleText, fmt.Sprintf("%q is not UTF-8", value.String())
		}
	case col.Type == Timestamp: // instants before 1970 are odd and allowed
	case value.CanInt():
		if value.Int() < 0 {
			return RuleNonNegative, fmt.Sprint(value.Int())
		}
	case value.CanFloat():
		f := value.Float()
		if !(f >= 0) || math.IsInf(f, 1) {
			return RuleNonNegative, fmt.Sprint(f)
		}
		if col.Unit == "fraction" && f > 1 {
			return RuleFraction, fmt.Sprint(f)
		}
	}
	return "", ""
}

func checkKey(v *validator, col *Column, k Key) (rule, detail string) {
	if k <= 0 {
		return RulePositiveKey, fmt.Sprint(k)
	}
	if col.Key != "primary" && v.row(col.Key, k) < 0 {
		return RuleReference, fmt.Sprintf("no row of %s has key %d", col.Key, k)
	}
	return "", ""
}

// ordered reports instants that are known and out of order; names[i] is the column of at[i].
func (v *validator) ordered(table string, row int, key any, names []string, at ...Null[Time]) {
	for i, late := range at {
		for j, early := range at[:i] {
			if late.OK && early.OK && early.V > late.V {
				v.add(table, row, key, names[i], RuleOrder, "%d is before %s %d", late.V, names[j], early.V)
			}
		}
	}
}

func (v *validator) applications(t *Trace) {
	for i := range t.Applications {
		a := &t.Applications[i]
		v.ordered("applications", i, a.ApplicationID, []string{"start_time", "finish_time"}, a.StartTime, a.FinishTime)
	}
	type name struct {
		app  Key
		name string
	}
	seen := make(map[name]bool, len(t.Settings))
	for i, s := range t.Settings {
		if seen[name{s.ApplicationID, s.Name}] {
			v.add("settings", i, s.ApplicationID, "name", RuleSetting, "%q again", s.Name)
		}
		seen[name{s.ApplicationID, s.Name}] = true
	}
}

var spanColumns = []string{"submit_time", "start_time", "finish_time"}

func (v *validator) jobs(t *Trace) {
	for i := range t.Jobs {
		j := &t.Jobs[i]
		v.ordered("jobs", i, j.JobID, spanColumns, j.SubmitTime, j.StartTime, j.FinishTime)
		v.stillRuns("jobs", i, j.JobID, j.Status == RunRunning, j.FinishTime)
	}
}

func (v *validator) stillRuns(table string, row int, key Key, running bool, finish Null[Time]) {
	if running && finish.OK {
		v.add(table, row, key, "finish_time", RuleRunning, "status is running and it finished at %d", finish.V)
	}
}

func (v *validator) phases(t *Trace) {
	for i := range t.Phases {
		p := &t.Phases[i]
		v.ordered("phases", i, p.PhaseID, spanColumns, p.SubmitTime, p.StartTime, p.FinishTime)
	}
}

func (v *validator) machines(t *Trace) {
	type place struct {
		app               Key
		machine, executor string
		added             Null[Time]
	}
	seen := make(map[place]bool, len(t.Machines))
	for i := range t.Machines {
		m := &t.Machines[i]
		v.ordered("machines", i, m.Machine, []string{"added_time", "removed_time"}, m.AddedTime, m.RemovedTime)
		at := place{m.ApplicationID.V, m.Machine, m.Executor.V, m.AddedTime}
		if seen[at] {
			v.add("machines", i, m.Machine, "executor", RuleMachineTwice, "executor %q was added twice at %d", m.Executor.V, m.AddedTime.V)
		}
		seen[at] = true
	}
}

func (v *validator) progress(t *Trace) {
	for i := range t.Progress {
		p := &t.Progress[i]
		at := v.row("attempts", p.AttemptID)
		if at < 0 {
			continue
		}
		a := &t.Attempts[at]
		if a.StartTime.OK && p.Time < a.StartTime.V || a.FinishTime.OK && p.Time > a.FinishTime.V {
			v.add("progress", i, p.AttemptID, "time", RuleWindow, "%d is outside its attempt's %d to %d", p.Time, a.StartTime.V, a.FinishTime.V)
		}
	}
}

func (v *validator) losses(t *Trace) {
	for i := range t.Losses {
		l := &t.Losses[i]
		if at := v.row("attempts", l.AttemptID.V); l.AttemptID.OK && at >= 0 {
			a := &t.Attempts[at]
			if a.PhaseID != l.PhaseID || a.Task != l.Task {
				v.add("losses", i, l.AttemptID.V, "attempt_id", RuleLoss, "the attempt is task %d of phase %d, the lost output task %d of phase %d", a.Task, a.PhaseID, l.Task, l.PhaseID)
			}
		}
		if at := v.row("attempts", l.RecomputedBy.V); l.RecomputedBy.OK && at >= 0 {
			a := &t.Attempts[at]
			if l.AttemptID.OK && l.RecomputedBy.V == l.AttemptID.V {
				v.add("losses", i, l.AttemptID.V, "recomputed_by", RuleLoss, "the attempt that made it is the one that made it again")
			}
			if l.Time.OK && a.FinishTime.OK && a.FinishTime.V < l.Time.V {
				v.add("losses", i, l.RecomputedBy.V, "recomputed_by", RuleLoss, "made again at %d, before the loss at %d", a.FinishTime.V, l.Time.V)
			}
		}
	}
}
