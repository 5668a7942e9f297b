package audit

import (
	"fmt"
	"slices"
	"strings"

	"straggler/audit/measure"
	"straggler/report/prose"
)

// size formats a number of bytes as reports do, but with an ordinary space: details are searched with grep.
func size(bytes float64) string { return strings.ReplaceAll(prose.Bytes(bytes), prose.NBSP, " ") }

// changedPlans returns the queries whose plan differs from that in the previous run: a join that was a broadcast, a filter that
// reached the files. They are compared exactly; other rules measure the cost.
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

// planChange describes how the plan of a query differs from the previous one; empty if there is none, or if it is the same.
func planChange(old, p *measure.Plan) string {
	if old == nil || old.Fingerprint == p.Fingerprint {
		return ""
	}
	gone, added := difference(old.Operators, p.Operators), difference(p.Operators, old.Operators)
	if len(gone)+len(added) == 0 {
		return "" // an expression changed, and nothing of how
	}
	return fmt.Sprintf("query %s: %s", orUnnamed(p.Query),
		strings.Join(nonEmpty(listed("no longer ", gone), listed("now ", added), otherJoin(old, p, gone, added)), "; "))
}

// asLarge is the relative difference between the bytes of scans below which they count as equal: as much as the sizes of a
// table's files vary when it is rewritten. An estimate.
const asLarge = 1.1

// otherJoin explains why a join is no longer a broadcast, or has become one, as far as the log shows: Spark compares its
// estimate of an input's size with a threshold, and event logs have the estimate only in plans under
// spark.sql.ui.explainMode=cost. With the same threshold and inputs of the same size, the estimate changed, because of lost or
// new statistics, or a hint.
func otherJoin(old, p *measure.Plan, gone, added []string) string {
	if !broadcastChanged(gone, added) && !broadcastChanged(added, gone) {
		return ""
	}
	if old.Broadcast != p.Broadcast {
		return fmt.Sprintf("spark.sql.autoBroadcastJoinThreshold was %s and is %s", orDefault(old.Broadcast), orDefault(p.Broadcast))
	}
	if len(old.Inputs) == 0 || len(old.Inputs) != len(p.Inputs) {
		return ""
	}
	var changed []string
	for i, now := range p.Inputs {
		was := old.Inputs[i]
		if was.Table != now.Table {
			return ""
		}
		switch {
		case was.Bytes > 0 && now.Bytes > 0:
			if max(was.Bytes, now.Bytes) > asLarge*min(was.Bytes, now.Bytes) {
				changed = append(changed, fmt.Sprintf("%s was %s and is %s", now.Table, size(was.Bytes), size(now.Bytes)))
			}
		case was.Rows > 0 && now.Rows > 0:
			if max(was.Rows, now.Rows) > asLarge*min(was.Rows, now.Rows) {
				changed = append(changed, fmt.Sprintf("%s was %.0f rows and is %.0f", now.Table, was.Rows, now.Rows))
			}
		default:
			return ""
		}
	}
	if len(changed) > 0 {
		return "what it reads has changed: " + strings.Join(changed, ", ")
	}
	return "its scans read as much as before and the threshold of broadcasts is the same, so what changed is Spark's estimate (statistics that are gone or new), a hint or another setting; the log does not say which"
}

// broadcastChanged reports whether a has a broadcast join whose counterpart in b, by the same keys, is not a broadcast.
func broadcastChanged(a, b []string) bool {
	for _, s := range a {
		join, found := strings.CutPrefix(s, "BroadcastHashJoin")
		if found && slices.ContainsFunc(b, func(t string) bool { return t == "SortMergeJoin"+join || t == "ShuffledHashJoin"+join }) {
			return true
		}
	}
	return false
}

func orDefault(threshold string) string {
	if threshold == "" {
		return "the default"
	}
	return threshold
}

// planBefore returns the plan of the same query in the latest normal run, or nil if no run had it.
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

// difference returns the lines of a that b does not have, as a difference of multisets.
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
