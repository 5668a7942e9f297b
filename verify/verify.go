package verify

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"straggler/engine"
	"straggler/schema"
	"straggler/schema/laws"
)

//go:embed attempts.sql
var attemptsSQL string

//go:embed phase_tasks.sql
var phaseTasksSQL string

//go:embed edges.sql
var edgesSQL string

//go:embed progress.sql
var progressSQL string

//go:embed plan_nodes.sql
var planNodesSQL string

//go:embed losses.sql
var lossesSQL string

// Options say how much to report.
type Options struct {
	PerLaw int // violations of each column and law that are given; 0: 100
}

// Result is what breaks the laws.
type Result struct {
	Broken []Broken // in the order of the tables and of the laws
	Rows   int64    // violations of all of them
}

// Broken is a law that rows of a table break by a column.
type Broken struct {
	Table, Column string
	Law           laws.Law
	Rows          int64            // violations
	First         []laws.Violation // the first of them by key and value
}

// Rows checks the log tables of a store. The same rows give the same result, in whatever order an engine gives them.
func Rows(ctx context.Context, eng engine.Engine, o Options) (Result, error) {
	if o.PerLaw <= 0 {
		o.PerLaw = 100
	}
	c := collector{max: o.PerLaw, broken: map[brokenLaw]*Broken{}}
	var err error
	for _, check := range []func(context.Context, engine.Engine, laws.Report) error{rows, keys, joins} {
		if err = check(ctx, eng, c.add); err != nil {
			return Result{}, fmt.Errorf("verify: %w", err)
		}
	}
	return c.result(), nil
}

// rows checks each row by itself.
func rows(ctx context.Context, eng engine.Engine, report laws.Report) error {
	for _, t := range schema.Tables() {
		if t.Result {
			continue
		}
		for rows, err := range engine.ReadBatches(ctx, eng, t, allRows(t)) {
			if err != nil {
				return fmt.Errorf("%s: %w", t.Name, err)
			}
			laws.Rows(rows, report)
		}
	}
	return nil
}

// allRows returns a query for the columns of a table.
func allRows(t *schema.Table) string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return "SELECT " + strings.Join(names, ", ") + " FROM " + t.Name
}

// joins checks rows against those that they refer to.
func joins(ctx context.Context, eng engine.Engine, report laws.Report) error {
	var cycles laws.Cycles
	edge := func(e *laws.EdgeOfPhases) {
		e.Check(report)
		cycles.Add(e, report)
	}
	err := errors.Join(
		joined(ctx, eng, attemptsSQL, func(a *laws.AttemptInPhase) { a.Check(report) }),
		joined(ctx, eng, phaseTasksSQL, func(p *laws.PhaseTasks) { p.Check(report) }),
		joined(ctx, eng, edgesSQL, edge),
		joined(ctx, eng, progressSQL, func(p *laws.ProgressOfAttempt) { p.Check(report) }),
		joined(ctx, eng, planNodesSQL, func(n *laws.NodeOfPlan) { n.Check(report) }),
		joined(ctx, eng, lossesSQL, func(l *laws.LossOfAttempt) { l.Check(report) }),
	)
	cycles.End(report)
	return err
}

func joined[R any](ctx context.Context, eng engine.Engine, sql string, check func(*R)) error {
	for row, err := range engine.Read[R](ctx, eng, sql) {
		if err != nil {
			return err
		}
		check(row)
	}
	return nil
}
