package audit

import (
	"fmt"
	"math"
	"slices"

	"straggler/audit/measure"
	"straggler/stats"
)

// Judgement is the result of comparing one run with its history.
type Judgement struct {
	Group       string    `json:"application"`
	Run         string    `json:"run"`
	Start       string    `json:"start"`
	History     int       `json:"history"`     // runs compared with
	Comparisons int       `json:"comparisons"` // over which the false discovery rate is held
	Learning    bool      `json:"learning"`
	Session     bool      `json:"session"`     // interactive, and compared with no other
	NewStages   []string  `json:"new_stages"`  // of tonight that no run before had
	GoneStages  []string  `json:"gone_stages"` // that every run before had
	Findings    []Finding `json:"findings"`
	// median over stages of the least change of lost time that would have been a finding by itself
	Detectable *float64  `json:"detectable_change"`
	Alike      *Alike    `json:"alike"`
	Slowness   *Slowness `json:"slowness"` // against the history; null where there is none, or the log names no machines
	seen       map[string]bool
}

// judge compares a run with earlier ones. known excludes from the history what a decision or a finding marks as not normal.
func judge(r *measure.Run, history []*measure.Run, cfg *Config, known func(id string, h *measure.Run) bool) Judgement {
	j := Judgement{Group: r.Group, Run: r.ID, Start: r.Start, History: len(history), Learning: len(history) < cfg.MinRuns, Session: r.Session,
		NewStages: []string{}, GoneStages: []string{}, Findings: []Finding{}, seen: map[string]bool{}}
	matches := measure.Match(r, history)
	all := compare(r, history, matches, cfg, known)
	for i := range all {
		all[i].fromChange()
	}
	nights := leaveOut(all, history)
	var p []float64
	var tested []*comparison
	for i := range all {
		c := &all[i]
		if c.test() {
			tested = append(tested, c)
		}
	}
	for _, c := range tested { // n nights of m comparisons support no smaller p than this
		c.verdict.p = max(c.verdict.p, nights.surprise(c.verdict.surprise/c.unit)/float64(len(tested)))
		p = append(p, c.verdict.p)
	}
	var against []SlowMachine
	j.Slowness, against = slowness(r, history, matches)
	machines, mp := newMachines(r, history, cfg, known, against, j.Slowness)
	q := discoveries(append(p, mp...))
	j.Comparisons = len(q)
	for i, c := range tested {
		if q[i] <= cfg.FDR && nights.surprise(c.verdict.surprise/c.unit) <= mostNights && c.large() {
			f := c.finding(r, history, q[i])
			if j.Slowness != nil && c.timed() {
				f.Kind = j.Slowness.Kind
			}
			j.Findings = append(j.Findings, f)
		}
	}
	for i, f := range machines {
		if f.ID != "" && q[len(tested)+i] <= cfg.FDR && !(f.Shared && j.slowAsAWhole()) {
			x := q[len(tested)+i]
			f.Q = number(x)
			j.Findings = append(j.Findings, f)
		}
	}
	j.addMachines(machines, against, cfg)
	j.Findings = append(j.Findings, incomplete(r, history, cfg, known)...)
	j.Findings = append(j.Findings, changedPlans(r, history, cfg, known)...)
	j.stages(r, history, matches)
	j.Alike = nights.alike(all)
	j.Alike.Hours = slowHours(append(slices.Clone(history), r))
	j.Detectable = detectable(tested, j.Alike)
	return j
}

// slowAsAWhole reports whether a finding is about the time of the whole run, in which case machines need no findings of their
// own if nearly all are slow.
func (j *Judgement) slowAsAWhole() bool {
	return slices.ContainsFunc(j.Findings, func(f Finding) bool {
		return f.Kind != "" && f.Stage == nil && f.Cause == "" && !f.OnMachines()
	})
}

// incomplete compares the completeness of the log with that of earlier logs, except those that known excludes.
func incomplete(r *measure.Run, history []*measure.Run, cfg *Config, known func(id string, h *measure.Run) bool) []Finding {
	rule, _ := RuleNamed("log_complete")
	set := cfg.settings(rule, r.Group, measure.Signature{})
	id := findingID(r.Group, rule.Name, measure.Signature{}, "")
	whole, rejects := 0, 0.0
	history = slices.DeleteFunc(slices.Clone(history), func(h *measure.Run) bool { return known(id, h) })
	for _, h := range history {
		if h.Complete {
			whole++
		}
		rejects = max(rejects, h.Values["rejects"])
	}
	f := Finding{ID: id, Rule: rule.Name, Severity: set.Severity,
		Group: r.Group, Run: r.ID, Runs: len(history)}
	switch {
	case set.Severity == Off || len(history) == 0:
		return nil
	case !r.Complete && whole > 0:
		f.Detail = fmt.Sprintf("the log has no end; those of %d of %d runs before had one", whole, len(history))
		f.SQL = fmt.Sprintf("SELECT code, count, detail FROM caveats WHERE application_id = %d ORDER BY code NULLS LAST", r.ApplicationKey)
	case r.Values["rejects"] > rejects:
		f.Detail = fmt.Sprintf("%.0f records could not be read; of the runs before, at most %.0f", r.Values["rejects"], rejects)
		f.SQL = "SELECT source_file, line, reason FROM rejects ORDER BY source_file NULLS LAST, byte_offset NULLS LAST LIMIT 20"
	default:
		return nil
	}
	return []Finding{f}
}

// stages names the stages that appeared and disappeared.
func (j *Judgement) stages(r *measure.Run, history []*measure.Run, tonight *measure.Matches) {
	if len(history) == 0 {
		return
	}
	for i := range r.Stages {
		s := &r.Stages[i]
		if !slices.ContainsFunc(history, func(h *measure.Run) bool { return tonight.Stage(h, s) != nil }) {
			j.NewStages = append(j.NewStages, s.Signature.String())
		}
	}
	last := history[len(history)-1]
	before := measure.Match(last, append(slices.Clone(history), r))
	for i := range last.Stages {
		s := &last.Stages[i]
		if before.Stage(r, s) == nil && !slices.ContainsFunc(history, func(h *measure.Run) bool { return before.Stage(h, s) == nil }) {
			j.GoneStages = append(j.GoneStages, s.Signature.String())
		}
	}
}

// detectable returns the median over the stages of the least relative change of lost time that would have been a finding by
// itself.
func detectable(tested []*comparison, a *Alike) *float64 {
	var v []float64
	for _, c := range tested {
		if c.rule.Name == "stage_lost_time" {
			least := stats.Student{DF: c.verdict.df}.Quantile(0.999)
			v = append(v, math.Expm1(max(least, deref(a.Needed)*c.unit)*c.verdict.alike))
		}
	}
	if len(v) == 0 {
		return nil
	}
	slices.Sort(v)
	return number(stats.Median(v))
}
