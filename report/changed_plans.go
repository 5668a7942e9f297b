package report

import (
	"fmt"

	"straggler/report/prose"
	"straggler/schema"
)

// ChangedPlan is a query of a slow run with another plan than in all earlier runs.
type ChangedPlan struct {
	NativeID  string            `col:"native_id" doc:"the query's id in its application"`
	Query     string            `col:"query" doc:"what the user called it, or its call site"`
	Runs      int64             `col:"runs" doc:"earlier runs, all of which ran it by one plan"`
	Operators []ChangedOperator `col:"operators" doc:"those of which there are more or fewer; none where only their keys or order differ"`
}

// ChangedOperator is an operator that occurs more or less often in a plan.
type ChangedOperator struct {
	Operator string `col:"operator" doc:"its name in Spark"`
	Now      int64  `col:"now" doc:"how many there are"`
	Usually  int64  `col:"usually" doc:"how many there were"`
}

const mostChangedPlans = 5

// changedPlans finds the queries of the slow runs that had other plans before.
func (b *builder) changedPlans(runs map[schema.Key]int) error {
	return readStore(b, "changed_plans", func(c *struct {
		ApplicationID schema.Key          `col:"application_id"`
		NativeID      string              `col:"native_id"`
		Description   string              `col:"description"`
		Runs          int64               `col:"runs"`
		Operator      schema.Null[string] `col:"operator" doc:"its name in Spark"`
		Now           schema.Null[int64]  `col:"now"`
		Usually       schema.Null[int64]  `col:"usually"`
	}) error {
		r := &b.doc.SlowRuns.Rows[runs[c.ApplicationID]]
		if n := len(r.Plans); n == 0 || r.Plans[n-1].NativeID != c.NativeID {
			if n == mostChangedPlans {
				return nil
			}
			r.Plans = append(r.Plans, ChangedPlan{NativeID: c.NativeID, Query: c.Description, Runs: c.Runs})
		}
		if p := &r.Plans[len(r.Plans)-1]; c.Operator.OK && len(p.Operators) < mostChanged {
			p.Operators = append(p.Operators, ChangedOperator{c.Operator.V, c.Now.V, c.Usually.V})
		}
		return nil
	})
}

func (p *ChangedPlan) words() string {
	s := fmt.Sprintf("The query %s (%s) was run with another plan than in all %s", prose.Name(p.Query), prose.Name(p.NativeID),
		prose.Plural(p.Runs, "earlier run", "earlier runs"))
	var parts []string
	for _, o := range p.Operators {
		parts = append(parts, fmt.Sprintf("%s %s instead of %s", prose.Name(o.Operator), prose.Count(o.Now), prose.Count(o.Usually)))
	}
	return s + prose.After(": ", prose.Join(parts)) + "."
}
