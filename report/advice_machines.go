package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"straggler/report/prose"
	"straggler/schema"
)

func adviseDrain(k *known) []Advice {
	var slow []*Machine
	least := k.worth * k.d.Cost.Loss.CompletionS.V
	for i := range k.d.Machines.List.Rows {
		if m := &k.d.Machines.List.Rows[i]; m.CostS.V > 0 && (BadVerdict(m.Verdict) || m.CostS.V >= least) {
			slow = append(slow, m)
		}
	}
	slices.SortStableFunc(slow, func(a, b *Machine) int { return -cmp.Compare(a.CostS.V, b.CostS.V) })
	var certain []*Machine
	for _, m := range slow {
		if m.FactorLow.OK && m.FactorLow.V > k.surelySlow {
			certain = append(certain, m)
		}
	}
	if many := k.d.Machines.List.Total; len(certain) >= k.manySlow && int64(len(certain))*k.manyShare >= many {
		return []Advice{k.balance(certain)}
	}
	var out []Advice
	for _, m := range slow[:min(len(slow), 3)] {
		out = append(out, k.drain(m))
	}
	return out
}

// balance returns the advice for more slow machines than are likely to be broken.
func (k *known) balance(slow []*Machine) Advice {
	names, cost := []string{}, 0.0
	for i, m := range slow {
		cost += m.CostS.V
		if i < 6 {
			names = append(names, fmt.Sprintf("%s (%s)", prose.Name(m.Machine), prose.OrDash(m.Factor, prose.Times)))
		}
	}
	return k.gainOf(Advice{Title: fmt.Sprintf("Balance the cluster: %d of %s machines are slower than the rest", len(slow),
		prose.Count(k.d.Machines.List.Total)),
		Action:   "So many at once look like older hardware rather than faults. Give them fewer slots, or use them for work without deadlines.",
		Evidence: "Factors: " + prose.Join(names) + ".", SQL: "SELECT * FROM machine_health ORDER BY factor DESC NULLS LAST"}, cost)
}

func (k *known) drain(m *Machine) Advice {
	a := Advice{Title: "Drain " + prose.Name(m.Machine),
		Action: "Take it out of the pool and have its disks, memory, cooling and neighbours checked."}
	sure := BadVerdict(m.Verdict) && m.FactorLow.OK && m.FactorLow.V > 1
	if sure && m.Verdict != schema.Flaky && m.Phases >= k.enoughPhases {
		a.Action += " It is slow on all kinds of tasks, so giving it other ones does not help."
	}
	switch {
	case BadVerdict(m.Verdict) && !sure:
		a.Title = "Find out what slows " + prose.Name(m.Machine) + " at times"
		a.Action = "It was slow at some times or in some phases, and as fast as the others in the rest: look for what else ran on it then (other tenants, backups, compactions), and for a disk or memory that fails now and then. Take it out of the pool only if the next runs show the same."
		a.Confidence, a.Reason = Low, "the interval of its mean reaches 1×"
	case !sure:
		a.Title = "Look at " + prose.Name(m.Machine)
		a.Action = "Tasks on it were slower than their work explains, but it was not slow often or long enough to be called bad. Compare its disks, memory and neighbours with those of the others, and see whether the next runs show the same before taking it out of the pool."
		a.Confidence, a.Reason = Low, "its verdict is "+string(m.Verdict)
	case m.FactorLow.V > k.clearlySlow && m.Phases >= k.enoughPhases && m.Attempts >= k.enoughTasks:
		a.Confidence, a.Reason = High, "the whole interval is well above 1×, and several phases agree"
	case m.Attempts < k.enoughTasks:
		a.Confidence, a.Reason = Medium, "the interval is above 1×, but it rests on few attempts"
	default:
		a.Confidence, a.Reason = Medium, "the interval is above 1×"
	}
	if m.Factor.OK {
		a.Evidence = fmt.Sprintf("Tasks there take %s the predicted time", prose.Times(m.Factor.V))
		if span := prose.Interval(m.FactorLow, m.FactorHigh, prose.Times); span != "" {
			a.Evidence += " (95 % interval " + span + ")"
		}
		a.Evidence += fmt.Sprintf(", by %s in %s.", prose.Plural(m.Attempts, "attempt", "attempts"), prose.Plural(m.Phases, "phase", "phases"))
	}
	// the factor is that of all its tasks, most of which were not slow
	if t := k.worstOn(m.Machine); t != nil && !BadVerdict(m.Verdict) {
		a.Evidence += fmt.Sprintf(" That is over all of its tasks; of those that it slowed, task %d of phase %s cost most. %s",
			t.Task, prose.Name(t.Phase), t.Words)
	}
	if m.Verdict == schema.Flaky && m.OutlierRate.OK {
		a.Evidence += fmt.Sprintf(" It is slow at times: %s of its attempts are outliers.", prose.Percent(m.OutlierRate.V))
	}
	if m.Windows > 1 {
		a.Evidence += fmt.Sprintf(" It was bad in %s of %s windows of time.", prose.Count(m.BadWindows), prose.Count(m.Windows))
	}
	if lit, ok := quoteSQL(m.Machine); ok {
		a.SQL = "SELECT * FROM machine_health WHERE machine = " + lit + " ORDER BY window_start NULLS LAST"
	}
	if sure && k.spark() {
		switch master := k.f.settings["spark.master"].V; {
		case strings.HasPrefix(master, "yarn"):
			a.Action += " Until then, keep it out of new executors."
			a.Settings = []Setting{k.set("spark.yarn.exclude.nodes", m.Machine)}
		case strings.HasPrefix(master, "k8s"):
			a.Action += " Until then, cordon the node."
		case strings.HasPrefix(master, "spark"):
			a.Action += " Until then, stop the worker on it."
		}
	}
	return k.gainOf(a, m.CostS.V)
}

// worstOn returns the highest-ranked outlier slowed by its machine, or nil if none is listed.
func (k *known) worstOn(machine string) *Outlier {
	for _, o := range k.worstOf(schema.BadMachine) {
		if o.Machine.OK && o.Machine.V == machine {
			return o
		}
	}
	return nil
}

// gainOf fills in a gain that is a part of the cost of bad machines.
func (k *known) gainOf(a Advice, s float64) Advice {
	a.Kind, a.GainS, a.GainBasis = Act, schema.Some(s), "job time lost to it; an upper bound of what removing it saves"
	if a.Confidence == "" {
		a.Confidence, a.Reason = k.sure(schema.BadMachine)
	}
	return a
}

// quoteSQL writes a text as a literal that DuckDB and Spark parse alike. They treat quotes and backslashes within quotes
// differently (for Spark 3 two quotes end one literal and begin another), so those are written as character codes. A text with
// invisible characters is not written; callers compare keys instead.
func quoteSQL(s string) (expression string, ok bool) {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, prose.Invisible) {
		return "", false
	}
	if !strings.ContainsAny(s, `'\`) {
		return "'" + s + "'", true
	}
	parts := strings.NewReplacer("'", "', chr(39), '", `\`, `', chr(92), '`).Replace(s)
	return "concat('" + parts + "')", true
}
