package audit

import (
	"fmt"
	"math"
	"slices"

	"straggler/audit/measure"
	"straggler/distribution"
	"straggler/schema"
)

// Judgement is what comparing one run with its history gives.
type Judgement struct {
	Group       string    `json:"application"`
	Run         string    `json:"run"`
	Start       string    `json:"start"`
	History     int       `json:"history"`     // runs compared with
	Comparisons int       `json:"comparisons"` // over which the false discovery rate is held
	Learning    bool      `json:"learning"`
	NewStages   []string  `json:"new_stages"`  // of tonight that no run before had
	GoneStages  []string  `json:"gone_stages"` // that every run before had
	Findings    []Finding `json:"findings"`
	Detectable  *float64  `json:"detectable_change"` // median over stages of the least change of lost time that would have been a finding by itself
	Alike       *Alike    `json:"alike"`
	Slowness    *Slowness `json:"slowness"` // against the history; null where there is none, or the log names no machines
	seen        map[string]bool
}

// judge compares a run with those before. known leaves out of the history what a decision or a finding says is no
// example of what is normal.
func judge(r *measure.Run, history []*measure.Run, cfg *Config, known func(id string, h *measure.Run) bool) Judgement {
	j := Judgement{Group: r.Group, Run: r.ID, Start: r.Start, History: len(history), Learning: len(history) < cfg.MinRuns,
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
	j.blame(machines, against, cfg)
	j.Findings = append(j.Findings, incomplete(r, history, cfg)...)
	j.Findings = append(j.Findings, changedPlans(r, history, cfg, known)...)
	j.stages(r, history, matches)
	j.Alike = nights.alike(all)
	j.Alike.Hours = slowHours(append(slices.Clone(history), r))
	j.Detectable = detectable(tested, j.Alike)
	return j
}

// slowAsAWhole says that a finding is about the time of the whole run: where nearly all machines are slow, they need none of their own.
func (j *Judgement) slowAsAWhole() bool {
	return slices.ContainsFunc(j.Findings, func(f Finding) bool {
		return f.Kind != "" && f.Stage == nil && f.Cause == "" && !f.OnMachines()
	})
}

// newMachines are the slow machines that no run before had: by their tasks against the history of the stages, and by what causes found among
// the machines of the night. Every machine that was judged is a comparison, and where nearly all are slow, that is one more. The p of causes is its q-value, which is no
// smaller.
func newMachines(r *measure.Run, history []*measure.Run, cfg *Config, known func(string, *measure.Run) bool, against []SlowMachine, night *Slowness) ([]Finding, []float64) {
	rule, _ := RuleNamed("bad_machine")
	set := cfg.settings(rule, r.Group, measure.Signature{})
	if set.Severity == Off || len(history) == 0 {
		return nil, nil
	}
	var racks []SlowMachine
	if night != nil {
		racks = night.racks
	}
	findings := make([]Finding, 0, r.JudgedMachines)
	var p []float64
	finding := func(name string, factor, q float64) Finding {
		f := Finding{ID: findingID(r.Group, rule.Name, measure.Signature{}, name), Rule: rule.Name, Severity: set.Severity, Group: r.Group, Run: r.ID,
			Machine: name, Unit: rule.Unit, Value: number(factor), Normal: number(1), Change: number(factor - 1), Runs: len(history), Likely: "bad_machine", P: number(q)}
		if factor-1 < set.MinAbs || wasBad(name, history, f.ID, known) {
			f.ID = ""
		}
		return f
	}
	named, nodes, others := map[string]bool{}, nodesOf(against), base(against)
	slow := func(m *SlowMachine, f *Finding) {
		if m.excess < set.MinShare*r.Values["slot_s"] {
			f.ID = ""
		}
		f.rank = m.rank
		f.Detail = fmt.Sprintf("slow%s: its %d tasks take %.2f × what is usual for their stages in the runs before", m.asRack, m.Tasks, m.factor)
		if others > slowPart {
			f.Detail += fmt.Sprintf(", where the other machines take %.2f ×", others)
		}
		f.SQL = byMachineSQL(r)
	}
	for i := range against {
		m := &against[i]
		f := finding(m.Machine, m.factor/others, m.p)
		slow(m, &f)
		f.Kind = kindOf(against[i:i+1], false, false)
		f.Detail += nodes[m.Node]
		if slices.ContainsFunc(racks, func(k SlowMachine) bool { return k.Rack == m.Rack }) {
			f.ID, named[m.Machine] = "", true // its rack is what is slow
		}
		findings, p = append(findings, f), append(p, m.p)
		named[m.Machine] = named[m.Machine] || f.ID != ""
	}
	for _, name := range sortedKeys(r.Machines) {
		m := r.Machines[name]
		f := finding(name, m.Factor, m.Q)
		if named[name] {
			continue
		}
		f.Low, f.High, f.rank = number(m.Low), number(m.High), m.Factor
		f.Detail = fmt.Sprintf("%s: takes %.2f × the time of the others (95 %% interval %.2f to %.2f)", m.Verdict, m.Factor, m.Low, m.High)
		f.SQL = "SELECT * FROM machine_health WHERE verdict IN ('slow', 'flaky') ORDER BY factor DESC NULLS LAST"
		findings, p = append(findings, f), append(p, m.Q)
	}
	for len(p) < r.JudgedMachines { // those like the others
		findings, p = append(findings, Finding{}), append(p, 1)
	}
	if night != nil && night.Shared {
		f := finding("nearly all machines", others, sharedChance(against))
		f.Machine, f.Shared, f.Kind, f.Likely, f.rank = "", true, night.Kind, string(schema.SharedSlowness), others
		f.Detail = fmt.Sprintf("slow together: on three quarters of the %d machines tasks take %.2f × what is usual for their stages in the runs before, and more", len(against), others)
		if night.Waited != nil && *night.Waited > 0.5 {
			f.Detail += "; most of that they wait for input: the network, or a data source that they share"
		}
		f.SQL = byMachineSQL(r)
		findings, p = append(findings, f), append(p, deref(f.P))
	}
	for i := range racks {
		k := &racks[i]
		f := finding("rack "+k.Rack, k.factor/others, k.p)
		slow(k, &f)
		f.Machine, f.Rack, f.Kind = "", k.Rack, kindOf(racks[i:i+1], false, true)
		if f.Kind == "network" {
			f.Likely = string(schema.Network)
		}
		findings, p = append(findings, f), append(p, k.p)
	}
	return findings, p
}

// byMachineSQL compares the machines of a run.
func byMachineSQL(r *measure.Run) string {
	return fmt.Sprintf("SELECT phase_id, machine, count(*) AS tasks, avg(duration_s) AS mean_s, avg(cpu_s) AS cpu_s, avg(fetch_wait_s) AS wait_s FROM attempts WHERE application_id = %d AND status = 'success' GROUP BY phase_id, machine ORDER BY phase_id NULLS LAST, mean_s DESC NULLS LAST", r.ApplicationKey)
}

// blame names machines of a night that is slow anyway: there a single task that is slower than all of the history may name its machine. Of a night
// that is not, it would be an alarm about one task that was slow by chance.
func (j *Judgement) blame(machines []Finding, against []SlowMachine, cfg *Config) {
	if !slices.ContainsFunc(j.Findings, func(f Finding) bool { return f.Kind != "" && !f.OnMachines() }) {
		return
	}
	var p []float64
	for i := range against {
		p = append(p, against[i].beyond)
	}
	for i, q := range discoveries(p) {
		f := machines[i]
		if f.ID == "" || q > cfg.FDR || slices.ContainsFunc(j.Findings, func(g Finding) bool { return g.ID == f.ID }) {
			continue
		}
		f.P, f.Q = number(p[i]), number(q)
		j.Findings = append(j.Findings, f)
	}
}

// nodesOf says of physical machines how many of their parts are slow, where they are nearly all of them: containers of one physical machine share its
// disks and cores.
func nodesOf(machines []SlowMachine) map[string]string {
	slow, all := map[string]int{}, map[string]int{}
	for i := range machines {
		if m := &machines[i]; m.Node != "" {
			all[m.Node]++
			if m.factor > slowPart*base(machines) {
				slow[m.Node]++
			}
		}
	}
	out := map[string]string{}
	for node, n := range all {
		if k := slow[node]; n >= 3 && k*5 >= n*4 {
			out[node] = fmt.Sprintf("; %d of the %d parts of %s are slow", k, n, node)
		}
	}
	return out
}

func wasBad(name string, history []*measure.Run, id string, known func(string, *measure.Run) bool) bool {
	for _, h := range history {
		if _, ok := h.Machines[name]; ok && !known(id, h) {
			return true
		}
	}
	return false
}

// incomplete compares what the log says of itself with what the logs before said.
func incomplete(r *measure.Run, history []*measure.Run, cfg *Config) []Finding {
	rule, _ := RuleNamed("log_complete")
	set := cfg.settings(rule, r.Group, measure.Signature{})
	whole, rejects := 0, 0.0
	for _, h := range history {
		if h.Complete {
			whole++
		}
		rejects = max(rejects, h.Values["rejects"])
	}
	f := Finding{ID: findingID(r.Group, rule.Name, measure.Signature{}, ""), Rule: rule.Name, Severity: set.Severity, Group: r.Group, Run: r.ID, Runs: len(history)}
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

// stages names those that came and went.
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

// detectable is the median over the stages of the least relative change of lost time that would have been a finding by itself:
// what this history can see.
func detectable(tested []*comparison, a *Alike) *float64 {
	var v []float64
	for _, c := range tested {
		if c.rule.Name == "stage_lost_time" {
			least := distribution.Student{DF: c.verdict.df}.Quantile(0.999)
			v = append(v, math.Expm1(max(least, deref(a.Needed)*c.unit)*c.verdict.alike))
		}
	}
	if len(v) == 0 {
		return nil
	}
	slices.Sort(v)
	return number(distribution.Median(v))
}
