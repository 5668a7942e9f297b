package detect

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

//go:embed executions.sql
var executionsSQL string

//go:embed operators.sql
var operatorsSQL string

//go:embed usage.sql
var usageSQL string

//go:embed stages.sql
var stagesSQL string

//go:embed earlier.sql
var earlierSQL string

//go:embed usual.sql
var usualSQL string

//go:embed stage_history.sql
var stageHistorySQL string

// ownColumns are the columns of stage_history that depend only on the log of an execution, which later executions are compared
// with.
const ownColumns = "phase_id, program, stage, identity, kind, ordinal, run_start_time, tasks, median_s, spread, input_bytes, input_records, cpu_s, wait_s, tick_s"

// history compares the phases of the part with the earlier executions of their stages and writes stage_history, and the
// attempts that are slow compared with them. medians is the query of the median durations by phase, and usage returns that of
// what tasks used, once detected_executions exists. For executions known from earlier results it reads only those rows. If a
// log has been added, changed or removed, the results for later executions of its stages are recomputed, and written with
// everything else that is known of their inputs.
func (p *part) history(ctx context.Context, tx *store.Tx, eng engine.Engine, medians string, usage func() (string, error)) error {
	runs, err := p.executions(ctx, eng, medians, usage)
	if err != nil {
		return fmt.Errorf("executions: %w", err)
	}
	in, here := engine.InProcess(eng)
	if runs != nil {
		return p.compareHere(ctx, tx, in, runs)
	}
	if err := p.number(ctx, tx, eng); err != nil {
		return fmt.Errorf("stages: %w", err)
	}
	again, err := p.overtaken(ctx, tx, eng)
	if err != nil {
		return fmt.Errorf("executions after those that are new: %w", err)
	}
	tables := &stageTables{p, eng, again}
	if here {
		return p.compareHere(ctx, tx, in, tables)
	}
	if err := p.usual(ctx, eng, tables); err != nil {
		return fmt.Errorf("what is usual: %w", err)
	}
	if err := tables.write(ctx, tx); err != nil {
		return fmt.Errorf("comparison: %w", err)
	}
	if err := p.keepTimes(ctx, tx, eng); err != nil {
		return err
	}
	return p.slower(ctx, tx, eng)
}

// usual creates the table detected_usual on an engine of many machines.
func (p *part) usual(ctx context.Context, eng engine.Engine, tables *stageTables) error {
	if p.onCopies {
		return p.usualOnCopies(ctx, eng, tables)
	}
	if err := eng.Materialize(ctx, "detected_earlier", earlierSQL); err != nil {
		return fmt.Errorf("earlier executions: %w", err)
	}
	if err := engine.MaterializeParts(ctx, eng, "detected_expected", usualSQL); err != nil {
		return err
	}
	return pin[expectation](ctx, eng, "detected_usual", "detected_expected")
}

// executions returns the executions of stages that the phases of the part are, or creates the table detected_own of them and
// returns nil. usage is called once detected_executions exists; on an engine in this process, which does not need that table,
// it is all one query.
func (p *part) executions(ctx context.Context, eng engine.Engine, medians string, usage func() (string, error)) (runs *phaseRuns, err error) {
	var plans []engine.Seen
	for _, table := range []string{"queries", "plan_nodes", "node_phases"} {
		if !p.whole {
			plans = append(plans, engine.Seen{Table: table, SQL: "SELECT * FROM " + p.from(table)})
		}
	}
	if err := engine.MaterializeParts(ctx, eng, "detected_operators", operatorsSQL, plans...); err != nil {
		return nil, fmt.Errorf("operators: %w", err)
	}
	seen := append(p.seen(span{all: true}), engine.Seen{Table: "phase_stats", SQL: medians})
	if _, ok := engine.InProcess(eng); ok {
		used, err := usage()
		if err == nil {
			runs, err = p.runsHere(ctx, eng, used, seen)
		}
		if err == nil && runs == nil {
			err = engine.MaterializeParts(ctx, eng, "detected_own", withRuns(ownSQL("("+executionsSQL+")", used)), seen...)
		}
		return runs, errors.Join(err, eng.Drop(ctx, usageTable)) // which is in memory
	}
	if err := engine.MaterializeParts(ctx, eng, "detected_executions", withRuns(executionsSQL), seen...); err != nil {
		return nil, err
	}
	used, err := usage()
	if err != nil {
		return nil, err
	}
	return nil, eng.Materialize(ctx, "detected_own", ownSQL("detected_executions", used))
}

// withRuns adds detected_runs to a query.
func withRuns(sql string) string { return "WITH detected_runs AS (\n" + runsSQL + "\n)\n" + sql }

// ownSQL returns the query of detected_own, joining that of executions.sql with that of the tasks' usage, which has no rows for
// phases that are not executions.
func ownSQL(executions, used string) string {
	sql := "SELECT e.*"
	for _, column := range []string{"input_bytes", "input_records", "cpu_s", "wait_s", "tick_s"} {
		sql += ", CASE WHEN e.ordinal IS NOT NULL THEN u." + column + " END AS " + column
	}
	return sql + " FROM " + executions + " AS e LEFT JOIN (" + used + ") AS u ON u.phase_id = e.phase_id"
}

// namesAtOnce is the number of names in a statement, a megabyte of text.
const namesAtOnce = 10_000

// programs creates the table detected_programs: for the applications whose names have parts that differ in each run, the names
// without these parts.
func (p *part) programs(ctx context.Context, eng engine.Engine) error {
	pieces := []string{"SELECT CAST(NULL AS BIGINT) AS application_id, CAST(NULL AS STRING) AS program WHERE FALSE"}
	var rows []string
	keep := func() error {
		if len(rows) == 0 {
			return nil
		}
		piece := fmt.Sprintf("detected_programs_%d", len(pieces))
		sql := "SELECT CAST(c0 AS BIGINT) AS application_id, c1 AS program FROM (VALUES " + strings.Join(rows, ", ") + ") AS t(c0, c1)"
		rows, pieces = rows[:0], append(pieces, "SELECT * FROM "+piece)
		return eng.Materialize(ctx, piece, sql)
	}
	for a, err := range engine.Read[struct {
		Key  schema.Key          `col:"application_id"`
		Name schema.Null[string] `col:"name"`
	}](ctx, eng, "SELECT application_id, name FROM "+p.from("applications")+" ORDER BY application_id NULLS LAST") {
		if err != nil {
			return err
		}
		program := schema.Lasting(a.Name.V)
		if program == a.Name.V {
			continue
		}
		if rows = append(rows, fmt.Sprintf("(%d, %s)", a.Key, eng.Dialect().QuoteText(program))); len(rows) == namesAtOnce {
			if err := keep(); err != nil {
				return err
			}
		}
	}
	if err := keep(); err != nil {
		return err
	}
	return eng.Materialize(ctx, "detected_programs", strings.Join(pieces, " UNION ALL "))
}

// hasNames reports whether stages may have executions: some program of the part has a name.
func (p *part) hasNames(ctx context.Context, eng engine.Engine) (bool, error) {
	found := false
	for _, err := range engine.Read[struct {
		Key schema.Key `col:"application_id"`
	}](ctx, eng, "SELECT application_id FROM "+p.from("applications")+" WHERE name IS NOT NULL LIMIT 1") {
		if err != nil {
			return false, err
		}
		found = true
	}
	return found, nil
}

// number creates the table detected_stages: those executions that matter of the stages in which the part has executions, or has
// lost some.
func (p *part) number(ctx context.Context, tx *store.Tx, eng engine.Engine) error {
	var columns []string
	for c := range strings.SplitSeq(ownColumns, ", ") {
		columns = append(columns, "h."+c)
	}
	if err := loadStrides(ctx, eng); err != nil {
		return err
	}
	before := "SELECT " + strings.Join(columns, ", ") + ", h.executions, %s AS stands FROM stage_history h%s WHERE h.ordinal IS NOT NULL"
	switch changed := append(p.owners.Blocks("phases"), p.others.Blocks("phases")...); {
	case !p.kept:
		before = fmt.Sprintf(before, "TRUE", "") + " AND FALSE"
	case !tx.Stale():
		before = fmt.Sprintf(before, "TRUE", "")
	default:
		stands := "p.phase_id IS NOT NULL"
		if len(changed) > 0 {
			stands += " AND h.phase_id & " + blockBits + " NOT IN (" + schema.KeyList(changed) + ")"
		}
		before = fmt.Sprintf(before, stands, " LEFT JOIN phases p ON p.phase_id = h.phase_id")
	}
	if _, ok := engine.InProcess(eng); ok || p.onCopies { // it is read once, which is faster than keeping it
		return engine.MaterializeParts(ctx, eng, "detected_stages", stagesSQL, engine.Seen{Table: "detected_before", SQL: before})
	}
	if err := eng.Materialize(ctx, "detected_before", before); err != nil {
		return err
	}
	if err := engine.MaterializeParts(ctx, eng, "detected_numbered", stagesSQL); err != nil {
		return err
	}
	return pin[stageExecution](ctx, eng, "detected_stages", "detected_numbered")
}

// blockBits are the bits that the keys of a block share.
var blockBits = strconv.Itoa(-schema.BlockKeys)

// overtaken returns the phases that earlier results compared with other executions than there are now. Their inputs are added
// to the part, and everything else known of these is rewritten unchanged.
func (p *part) overtaken(ctx context.Context, tx *store.Tx, eng engine.Engine) (phases []schema.Key, err error) {
	if !p.kept {
		return nil, nil
	}
	stands := store.OwnersOf(tx.Kept())
	inputs := make(map[schema.Key]bool)
	for r, err := range engine.Read[stageExecution](ctx, eng, "SELECT * FROM detected_stages WHERE todo = 1 AND known = 1 ORDER BY phase_id NULLS LAST") {
		if err != nil {
			return nil, err
		}
		phases = append(phases, r.PhaseID)
		if input, ok := stands.Of("phases", r.PhaseID); ok {
			inputs[input] = true
		}
	}
	if len(phases) == 0 {
		return nil, nil
	}
	if p.slowAppended != nil {
		if err := p.slowAppended(); err != nil { // by the inputs that the part has so far, and before copy appends others
			return nil, err
		}
	}
	var again []store.InputRecord
	for _, in := range tx.Kept() {
		if inputs[schema.Key(in.Key)] {
			again = append(again, in)
		}
	}
	tx.Drop(again)
	p.again = store.OwnersOf(again)
	if err := p.choose(ctx, eng, append(slices.Clone(p.inputs), again...)); err != nil {
		return nil, err
	}
	return phases, p.copy(ctx, tx, eng, phases)
}

// copy appends the earlier results of the inputs that are rewritten, except for the history of some phases.
func (p *part) copy(ctx context.Context, tx *store.Tx, eng engine.Engine, but []schema.Key) error {
	where := " WHERE phase_id & " + blockBits + " IN (" + schema.KeyList(p.again.Blocks("phases")) + ")"
	stats := "SELECT * FROM phase_stats" + where
	attempts, err := countAttempts(ctx, eng, stats)
	if err != nil {
		return err
	}
	to := output{tx, eng, p, attempts}
	if err := statsRows.write(ctx, to, stats); err != nil {
		return err
	}
	slow := "SELECT * FROM outliers" + where + " AND (rule <> 'slower_than_usual' OR phase_id NOT IN (" + schema.KeyList(but) + "))"
	if err := outlierRows.write(ctx, to, slow); err != nil {
		return err
	}
	where += " AND phase_id NOT IN (" + schema.KeyList(but) + ")"
	if err := historyRows.write(ctx, to, "SELECT * FROM stage_history"+where); err != nil {
		return err
	}
	return timeRows.write(ctx, to, "SELECT * FROM task_times"+where)
}
