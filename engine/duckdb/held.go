package duckdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"straggler/engine/sqltext"
)

// A streamed result waits, when nobody reads it, until its buffer of 1 MB has room. If its rows come from the branches of a UNION
// ALL, and a later branch has work of its own to do before its first row (a join, an aggregate), DuckDB 1.5 can wait forever: the
// later branch waits for the earlier one, which waits for a reader, and the result is given to no reader while more than one
// pipeline is open (Executor::ResultCollectorIsBlocked, duckdb issue 22215). Not even an interruption ends that. So such results
// are written to a temporary table, which DuckDB spills to disk as it does other tables, and streamed from there.

// heldTable is the temporary table of a result; each connection, which has one result at a time, has its own.
const heldTable = "straggler_held"

// unions are the views and macros whose rows may come from a UNION, by name in lower case. They stay listed when they are redefined.
type unions struct {
	mu    sync.Mutex
	named map[string]bool
}

// has reports whether a statement may have a UNION: the word, or a view or macro that may have one, is anywhere in its text.
func (u *unions) has(sql string) bool {
	sql = strings.ToLower(sql)
	if strings.Contains(sql, "union") {
		return true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for name := range u.named {
		if strings.Contains(sql, name) {
			return true
		}
	}
	return false
}

// note lists the view or macro that a statement defines or renames, if it may have a UNION: the last name before what it stands
// for, or the parameters.
func (u *unions) note(sql string) {
	if !u.has(sql) {
		return
	}
	defines, name := false, ""
	for t := range sqltext.DuckDB.Tokens(sql) {
		if name != "" && (t.Is("(") || t.Is("as")) {
			break
		}
		if t.Kind == sqltext.Word || t.Kind == sqltext.Name {
			defines = defines || t.Is("view") || t.Is("macro") || t.Is("function")
			name = strings.ToLower(strings.Trim(t.Text, `"`))
		}
	}
	if defines && name != "" {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.named == nil {
			u.named = make(map[string]bool)
		}
		u.named[name] = true
	}
}

// hold replaces a prepared query whose streamed result could wait forever by one of a temporary table with the same rows, in the
// same order.
func (r *result) hold(ctx context.Context, sql string) error {
	if mapping.PreparedStatementType(r.stmt) != mapping.StatementTypeSelect || !r.d.unions.has(sql) {
		return nil
	}
	wait, err := r.mayWait(ctx, sql)
	if err != nil || !wait {
		return err
	}
	n := int(mapping.PreparedStatementColumnCount(r.stmt))
	columns, named := make([]string, n), make([]string, n)
	for i := range n {
		columns[i] = fmt.Sprintf("c%d", i)
		named[i] = columns[i] + " AS " + quoteName(mapping.PreparedStatementColumnName(r.stmt, mapping.IdxT(i)))
	}
	mapping.DestroyPrepare(&r.stmt)
	r.held = true
	err = r.run(ctx, "CREATE OR REPLACE TEMP TABLE "+heldTable+"("+strings.Join(columns, ", ")+") AS "+sqltext.DuckDB.Trim(sql))
	mapping.DestroyResult(&r.res)
	if err != nil {
		return err
	}
	return r.prepare("SELECT "+strings.Join(named, ", ")+" FROM temp."+heldTable, false)
}

// mayWait reports whether DuckDB's plan of a query has a UNION that can wait.
func (r *result) mayWait(ctx context.Context, sql string) (bool, error) {
	plan := &result{d: r.d, ctx: ctx, conn: r.conn}
	defer mapping.DestroyResult(&plan.res)
	if err := plan.run(ctx, "EXPLAIN (FORMAT JSON) "+sqltext.DuckDB.Trim(sql)); err != nil {
		return false, ctx.Err() // what is wrong with a statement, its execution says
	}
	plan.describe()
	batch, err := plan.Next(ctx)
	if err != nil {
		return false, err
	}
	defer mapping.DestroyDataChunk(&plan.chunk)
	var roots []operator
	if batch == nil || len(batch.Columns) != 2 {
		return false, errors.New("duckdb: EXPLAIN gives no plan")
	}
	if err := json.Unmarshal([]byte(batch.Columns[1].Strings[0]), &roots); err != nil {
		return false, fmt.Errorf("duckdb: the plan from EXPLAIN: %w", err)
	}
	return slices.ContainsFunc(roots, operator.mayWait), nil
}

// operator is an operator of a plan, as EXPLAIN shows it.
type operator struct {
	Name     string     `json:"name"`
	Children []operator `json:"children"`
}

// mayWait reports whether rows of a UNION go from an operator to the reader without being gathered, and one of its later
// branches gathers rows before it gives any.
func (o operator) mayWait() bool {
	if len(o.Children) == 0 {
		return false
	}
	name := strings.TrimSpace(o.Name)
	if name == "UNION" {
		return slices.ContainsFunc(o.Children[1:], operator.gathers) || slices.ContainsFunc(o.Children, operator.mayWait)
	}
	return !gathering[name] && slices.ContainsFunc(o.Children, operator.mayWait)
}

// gathers reports whether an operator, or one below it, is not of those that pass rows on one by one.
func (o operator) gathers() bool {
	name := strings.TrimSpace(o.Name)
	return len(o.Children) > 1 && name != "UNION" || gathering[name] || slices.ContainsFunc(o.Children, operator.gathers)
}

// gathering are the operators that take all rows of their child before they give any: what is above one reads from it alone.
var gathering = map[string]bool{
	"HASH_GROUP_BY": true, "PERFECT_HASH_GROUP_BY": true, "PARTITIONED_AGGREGATE": true, "UNGROUPED_AGGREGATE": true,
	"ORDER_BY": true, "TOP_N": true, "WINDOW": true, "LIMIT": true, "LIMIT_PERCENT": true, "RESERVOIR_SAMPLE": true,
}
