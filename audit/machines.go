package audit

import (
	"fmt"
	"slices"

	"straggler/audit/measure"
	"straggler/schema"
)

// machineFindings collects the findings about the machines of a run, with their p-values. Every judged machine is a comparison;
// one that is not a finding has no ID.
type machineFindings struct {
	run      *measure.Run
	history  []*measure.Run
	known    func(id string, h *measure.Run) bool
	rule     Rule
	settings Settings
	others   float64 // the factor that most machines reach (base)

	findings []Finding
	p        []float64
}

// newMachines are the slow machines that were not slow in any earlier run: by their tasks relative to the history of the
// stages, and by the results of causes for the machines of the night. If nearly all machines are slow, that is an additional
// comparison, and so is each rack.
func newMachines(r *measure.Run, history []*measure.Run, cfg *Config, known func(string, *measure.Run) bool, against []SlowMachine,
	night *Slowness) ([]Finding, []float64) {
	rule, _ := RuleNamed("bad_machine")
	settings := cfg.settings(rule, r.Group, measure.Signature{})
	if settings.Severity == Off || len(history) == 0 {
		return nil, nil
	}
	m := &machineFindings{run: r, history: history, known: known, rule: rule, settings: settings, others: base(against)}
	var racks []SlowMachine
	if night != nil {
		racks = night.racks
	}
	m.byCauses(m.byHistory(against, racks))
	for len(m.p) < r.JudgedMachines { // those like the others
		m.add(Finding{}, 1)
	}
	if night != nil && night.Shared {
		m.nearlyAll(against, night)
	}
	for i := range racks {
		m.rack(&racks[i])
	}
	return m.findings, m.p
}

func (m *machineFindings) add(f Finding, p float64) {
	m.findings, m.p = append(m.findings, f), append(m.p, p)
}

// finding returns a finding about a machine, without an ID if the machine was slow before or is hardly slower than the others.
func (m *machineFindings) finding(name string, factor, p float64) Finding {
	f := Finding{ID: findingID(m.run.Group, m.rule.Name, measure.Signature{}, name), Rule: m.rule.Name,
		Severity: m.settings.Severity, Group: m.run.Group, Run: m.run.ID,
		Machine: name, Unit: m.rule.Unit, Value: number(factor), Normal: number(1), Change: number(factor - 1),
		Runs: len(m.history), Likely: "bad_machine", P: number(p)}
	if factor-1 < m.settings.MinAbs || wasBad(name, m.history, f.ID, m.known) {
		f.ID = ""
	}
	return f
}

// againstHistory returns a finding about a machine, or a rack, whose tasks are compared with the history of their stages.
func (m *machineFindings) againstHistory(name string, s *SlowMachine) Finding {
	f := m.finding(name, s.factor/m.others, s.p)
	if s.excess < m.settings.MinShare*m.run.Values["slot_s"] {
		f.ID = ""
	}
	f.rank = s.rank
	f.Detail = fmt.Sprintf("slow%s: its %d tasks take %.2f× what is usual for their stages in the runs before", s.asRack, s.Tasks, s.factor)
	if m.others > slowPart {
		f.Detail += fmt.Sprintf(", where the other machines take %.2f×", m.others)
	}
	f.SQL = byMachineSQL(m.run)
	return f
}

// byHistory adds the machines whose stages have a history, in order. It returns the machines that need no further findings.
func (m *machineFindings) byHistory(against, racks []SlowMachine) (named map[string]bool) {
	named = map[string]bool{}
	nodes := nodesOf(against)
	for i := range against {
		s := &against[i]
		f := m.againstHistory(s.Machine, s)
		f.Kind = kindOf(against[i:i+1], false, false)
		f.Detail += nodes[s.Node]
		if slices.ContainsFunc(racks, func(k SlowMachine) bool { return k.Rack == s.Rack }) {
			f.ID, named[s.Machine] = "", true // its rack is what is slow
		}
		m.add(f, s.p)
		named[s.Machine] = named[s.Machine] || f.ID != ""
	}
	return named
}

// byCauses adds the machines that causes found to be slow among those of the night. Their p-value is the q-value of causes,
// which is an upper bound.
func (m *machineFindings) byCauses(named map[string]bool) {
	for _, name := range sortedKeys(m.run.Machines) {
		if named[name] {
			continue
		}
		s := m.run.Machines[name]
		f := m.finding(name, s.Factor, s.Q)
		f.Low, f.High, f.rank = number(s.Low), number(s.High), s.Factor
		f.Detail = fmt.Sprintf("%s: takes %.2f× the time of the others (95 %% interval %.2f to %.2f)", s.Verdict, s.Factor, s.Low, s.High)
		f.SQL = "SELECT * FROM machine_health WHERE verdict IN ('slow', 'flaky') ORDER BY factor DESC NULLS LAST"
		m.add(f, s.Q)
	}
}

// nearlyAll adds that nearly all machines are slow.
func (m *machineFindings) nearlyAll(against []SlowMachine, night *Slowness) {
	f := m.finding("nearly all machines", m.others, sharedChance(against))
	f.Machine, f.Shared, f.Kind, f.Likely, f.rank = "", true, night.Kind, string(schema.SharedSlowness), m.others
	f.Detail = fmt.Sprintf("slow together: on three quarters of the %d machines tasks take %.2f× what is usual for their stages in the runs before, and more", len(against), m.others)
	if night.Waited != nil && *night.Waited > 0.5 {
		f.Detail += "; most of that they wait for input: the network, or a data source that they share"
	}
	f.SQL = byMachineSQL(m.run)
	m.add(f, deref(f.P))
}

// rack adds a rack whose machines are slow together.
func (m *machineFindings) rack(k *SlowMachine) {
	f := m.againstHistory("rack "+k.Rack, k)
	f.Machine, f.Rack, f.Kind = "", k.Rack, kindOf([]SlowMachine{*k}, false, true)
	if f.Kind == "network" {
		f.Likely = string(schema.Network)
	}
	m.add(f, k.p)
}

// byMachineSQL compares the machines of a run.
func byMachineSQL(r *measure.Run) string {
	return fmt.Sprintf("SELECT phase_id, machine, count(*) AS tasks, avg(duration_s) AS mean_s, avg(cpu_s) AS cpu_s, avg(fetch_wait_s) AS wait_s FROM attempts WHERE application_id = %d AND status = 'success' GROUP BY phase_id, machine ORDER BY phase_id NULLS LAST, mean_s DESC NULLS LAST", r.ApplicationKey)
}

// addMachines adds the machines of a slow night: there a single task that is slower than all of the history is enough. On a
// normal night that would be an alarm about one task that was slow by chance.
func (j *Judgement) addMachines(machines []Finding, against []SlowMachine, cfg *Config) {
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

// nodesOf counts the slow parts of physical machines nearly all of whose parts are slow: containers of one physical machine
// share its disks and cores.
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
