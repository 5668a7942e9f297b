package audit

import (
	"fmt"
	"slices"
	"strings"

	"straggler/audit/measure"
)

// changedPlans are the queries that did the same by another plan than in the run before: a join that was a broadcast, a filter
// that reached the files. They are compared exactly; what it cost the other rules say.
func changedPlans(r *measure.Run, history []*measure.Run, cfg *Config, known func(string, *measure.Run) bool) []Finding {
	rule, _ := RuleNamed("plan_changed")
	set := cfg.settings(rule, r.Group, measure.Signature{})
	if set.Severity == Off {
		return nil
	}
	var findings []Finding
	for i := range r.Plans {
		p := &r.Plans[i]
		id := findingID(r.Group, rule.Name, measure.Signature{}, fmt.Sprintf("%s %s %d", p.Query, p.Shape, p.Nth))
		old := planBefore(p, history, func(h *measure.Run) bool { return known(id, h) })
		change := planChange(old, p)
		if change == "" {
			continue
		}
		f := Finding{ID: id, Rule: rule.Name, Severity: set.Severity, Group: r.Group, Run: r.ID, Runs: len(history), Detail: change}
		f.SQL = fmt.Sprintf("SELECT position, operator, keys, right_keys, join_type, source, detail FROM plan_nodes WHERE query_id = %d AND plan = 'final' ORDER BY position NULLS LAST", p.QueryKey)
		findings = append(findings, f)
	}
	return findings
}

// planChange says how the plan of a query differs from the one before; empty where there is none before, or it is the same.
func planChange(old, p *measure.Plan) string {
	if old == nil || old.Fingerprint == p.Fingerprint {
		return ""
	}
	gone, added := difference(old.Operators, p.Operators), difference(p.Operators, old.Operators)
	if len(gone)+len(added) == 0 {
		return "" // an expression changed, and nothing of how
	}
	return fmt.Sprintf("query %s: %s", orUnnamed(p.Query), strings.Join(nonEmpty(listed("no longer ", gone), listed("now ", added)), "; "))
}

// planBefore is the plan of the same query in the latest run that is an example of what is normal, nil where no run had it.
func planBefore(p *measure.Plan, history []*measure.Run, skip func(*measure.Run) bool) *measure.Plan {
	for _, h := range slices.Backward(history) {
		if skip(h) {
			continue
		}
		for i := range h.Plans {
			if o := &h.Plans[i]; o.Query == p.Query && o.Shape == p.Shape && o.Nth == p.Nth {
				return o
			}
		}
	}
	return nil
}

// difference are the lines of a that b does not have, each as often as a has it more.
func difference(a, b []string) []string {
	count := map[string]int{}
	for _, s := range b {
		count[s]++
	}
	var out []string
	for _, s := range a {
		if count[s]--; count[s] < 0 {
			out = append(out, s)
		}
	}
	return out
}

// mostOperatorsListed bounds the operators of a difference.
const mostOperatorsListed = 6

func listed(what string, lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	more := ""
	if n := len(lines) - mostOperatorsListed; n > 0 {
		lines, more = lines[:mostOperatorsListed], fmt.Sprintf(" and %d more", n)
	}
	return what + strings.Join(lines, ", ") + more
}

func nonEmpty(list ...string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

func orUnnamed(s string) string {
	if s == "" {
		return "(no name)"
	}
	return s
}
