package duckdb

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"straggler/engine"
	"straggler/engine/sqltext"
)

// Restrictions on the statements of users on a locked engine, in three layers:
//
//   - lockdown: DuckDB opens no file but those of the tables, and its settings cannot be changed;
//   - checkTree: before a statement is bound it must parse as a query, and its functions must be known to have no effect.
//     DuckDB has functions that write files or change the session from within a SELECT (enable_logging);
//   - checkType: the bound statement must be one that reads.

// lockdown restricts the session: it can then open only the listed files, and its settings cannot be changed.
func (d *Engine) lockdown(tables []table) []string {
	var names []string
	for _, v := range tables {
		for _, f := range v.files {
			f := d.files.Path(f)
			names = append(names, quoteText(f))
			if p := literalPath(f); p != f {
				names = append(names, quoteText(p)) // as the view names it
			}
		}
	}
	return []string{
		"SET allowed_paths = [" + strings.Join(names, ", ") + "]",
		"SET enable_external_access = false",
		"SET lock_configuration = true",
	}
}

// check checks a statement without running it.
func (d *Engine) check(ctx context.Context, sql string) error {
	conn, err := d.connect()
	if err != nil {
		return err
	}
	r := &result{d: d, ctx: ctx, conn: conn}
	defer r.Close()
	return r.prepare(sql, true)
}

func checkType(t mapping.StatementType) error {
	switch t {
	case mapping.StatementTypeSelect, mapping.StatementTypeExplain, mapping.StatementTypeRelation:
		return nil
	}
	return errNotQuery
}

var errNotQuery = fmt.Errorf("duckdb: %w: only queries are: SELECT, WITH, VALUES, FROM, TABLE, DESCRIBE, SHOW, SUMMARIZE, and EXPLAIN of them",
	engine.ErrStatement)

// tableFunctions are the functions allowed in FROM. They produce rows from their arguments or describe the session; functions
// that read files are excluded, because the tables have names.
var tableFunctions = map[string]bool{
	"range": true, "generate_series": true, "unnest": true, "repeat": true, "repeat_row": true,
	"histogram": true, "histogram_values": true, "json_each": true, "json_tree": true, "summary": true,
	"duckdb_columns": true, "duckdb_functions": true, "duckdb_keywords": true, "duckdb_memory": true, "duckdb_settings": true,
	"duckdb_tables": true, "duckdb_types": true, "duckdb_views": true, "pragma_table_info": true, "pragma_version": true,
	"pg_timezone_names": true, "test_all_types": true,
}

// scalarEffects are the scalar functions with side effects.
var scalarEffects = map[string]bool{"write_log": true, "setseed": true, "nextval": true, "currval": true}

// checkTree checks the parsed statement, of which nothing has been bound or run.
func (r *result) checkTree(sql string) error {
	reason := ""
	for _, query := range explained(sql) {
		tree, err := r.parse(query)
		if err != nil {
			return err
		}
		if tree.Error && tree.Type == "parser" {
			reason = tree.Message
		}
		if !tree.Error {
			return checkNode(tree.Statements)
		}
	}
	if reason != "" {
		return fmt.Errorf("duckdb: Parser Error: %s", reason)
	}
	return errNotQuery
}

// syntaxTree is DuckDB's syntax tree of a query.
type syntaxTree struct {
	Error      bool   `json:"error"`
	Type       string `json:"error_type"`
	Message    string `json:"error_message"`
	Statements any    `json:"statements"`
}

func (r *result) parse(sql string) (*syntaxTree, error) {
	rows, err := r.d.query(r.ctx, "SELECT json_serialize_sql("+quoteText(sql)+")", how{whole: true})
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		return nil, fmt.Errorf("duckdb cannot parse the statement: %w", rows.Err())
	}
	text, _ := rows.Value(0).(string)
	tree := new(syntaxTree)
	if err := json.Unmarshal([]byte(text), tree); err != nil {
		return nil, fmt.Errorf("duckdb cannot parse the statement: %w", err)
	}
	return tree, nil
}

// checkNode looks for functions in a syntax tree.
func checkNode(node any) error {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			if err := checkNode(child); err != nil {
				return err
			}
		}
	case map[string]any:
		if n["type"] == "TABLE_FUNCTION" {
			f, _ := n["function"].(map[string]any)
			if name, _ := f["function_name"].(string); !tableFunctions[strings.ToLower(name)] {
				return fmt.Errorf("duckdb: %w: the function %s cannot stand in FROM here; the tables have names: SHOW TABLES lists them", engine.ErrStatement, name)
			}
		}
		if name, _ := n["function_name"].(string); scalarEffects[strings.ToLower(name)] {
			return fmt.Errorf("duckdb: %w: the function %s has effects", engine.ErrStatement, name)
		}
		for _, child := range n {
			if err := checkNode(child); err != nil {
				return err
			}
		}
	}
	return nil
}

// explained returns the possible texts of the query itself: the statement, or what it explains. Parentheses after EXPLAIN may
// be options or the query.
func explained(sql string) []string {
	var texts []string
	depth := 0
	for t := range sqltext.DuckDB.Tokens(sql) {
		after := sql[t.Offset+len(t.Text):]
		switch {
		case t.Kind == sqltext.Space || t.Kind == sqltext.Comment:
		case texts == nil && !t.Is("explain"):
			return []string{sql}
		case texts == nil:
			texts = []string{after}
		case depth == 0 && len(texts) == 1 && t.Is("analyze"):
			texts = append(texts, after)
		case t.Is("("):
			depth++
		case t.Is(")"):
			if depth--; depth <= 0 {
				return append(texts, after)
			}
		case depth == 0:
			return texts
		}
	}
	return texts
}
