package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/sqltext"
	"straggler/schema"
	"straggler/store"
)

// pair is an engine that asks two engines and compares their answers row by row, so that results may have any size. It does
// not accept rows as an in-process engine does, so that everything is asked in SQL.
type pair struct {
	t     *testing.T
	duck  engine.Engine
	spark engine.Engine
	*record
}

// record counts what all sessions of a pair asked.
type record struct {
	// columnsOnly: Spark parses, resolves and optimizes each statement and says its columns, but runs nothing.
	columnsOnly bool

	mu    sync.Mutex
	asked []string
	times map[string]int // comparisons of statements of the same shape; mostTimes once it gave rows
	rows  int64          // rows compared
}

// newPair opens a session of both engines; sessions with the same record count together.
func newPair(t *testing.T, st *store.Store, server string, r *record) *pair {
	t.Helper()
	open := func(o engine.Options) engine.Engine {
		eng, err := engines.Open(t.Context(), st, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { eng.Close() })
		return eng
	}
	return &pair{t, open(engine.Options{}), open(engine.Options{Server: server}), r}
}

func (p *pair) Name() string { return "pair" }

// Dialect returns the dialect of either engine: our statements are valid in both.
func (p *pair) Dialect() sqltext.Dialect { return sqltext.DuckDB }
func (p *pair) Close() error             { return nil }

func (p *pair) Materialize(ctx context.Context, name, sql string) error {
	p.note(sql)
	if err := p.duck.Materialize(ctx, name, sql); err != nil {
		return err
	}
	if err := p.onSpark(ctx, name, sql); err != nil {
		return fmt.Errorf("on Spark: %w\n%s", err, sql)
	}
	p.compare(ctx, "SELECT * FROM "+name)
	return nil
}

// onSpark creates a session table on Spark. A copy of another table is loaded, as detect does: otherwise Spark would compute
// that table again for each use, which takes minutes.
func (p *pair) onSpark(ctx context.Context, name, sql string) error {
	if p.columnsOnly {
		return p.spark.Materialize(ctx, name, withoutRows(sql))
	}
	from, all := strings.CutPrefix(sql, "SELECT * FROM ")
	if !all || engine.CheckName(from) != nil {
		return p.spark.Materialize(ctx, name, sql)
	}
	described, err := p.duck.Query(ctx, withoutRows(sql))
	if err != nil {
		return err
	}
	columns := described.Columns()
	if err := described.Close(); err != nil {
		return err
	}
	if slices.ContainsFunc(columns, func(c engine.Column) bool { return c.Type != schema.BigInt && c.Type != schema.Double }) {
		return p.spark.Materialize(ctx, name, sql)
	}
	next, stop := iter.Pull2(engine.ReadVectors(ctx, p.duck, sql))
	defer stop()
	var failed error
	return errors.Join(p.spark.(engine.Loader).Load(ctx, name, columns, func() *engine.Batch {
		batch, err, _ := next()
		failed = err
		return batch
	}), failed)
}

func (p *pair) Choose(ctx context.Context, inputs []schema.Key) error {
	return errors.Join(p.duck.Choose(ctx, inputs), p.spark.Choose(ctx, inputs))
}

func (p *pair) Drop(ctx context.Context, name string) error {
	return errors.Join(p.duck.Drop(ctx, name), p.spark.Drop(ctx, name))
}

func (p *pair) Query(ctx context.Context, sql string) (*engine.Rows, error) {
	p.note(sql)
	p.compare(ctx, sql)
	return p.duck.Query(ctx, sql)
}

func (p *pair) note(sql string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, sql)
}

// mostTimes is the number of comparisons of statements that differ only in numbers, such as the keys of a report's jobs,
// while they give no rows. After they gave rows, no more are needed.
const mostTimes = 2

// numbers are literals and the keys in them.
var numbers = regexp.MustCompile(`\b\d+\b`)

// enough counts a statement by its shape, and reports whether enough of that shape have been compared.
func (p *pair) enough(shape string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times[shape]++
	return p.times[shape] > mostTimes
}

func shapeOf(sql string) string { return numbers.ReplaceAllString(sql, "0") }

// withoutRows asks for the columns of a statement.
func withoutRows(sql string) string { return "SELECT * FROM (" + sql + ") AS asked LIMIT 0" }

// compare asks both engines and compares their rows.
func (p *pair) compare(ctx context.Context, sql string) {
	p.t.Helper()
	shape := shapeOf(sql)
	if p.enough(shape) {
		return
	}
	fail := func(format string, args ...any) { p.t.Errorf("%s\n%s", fmt.Sprintf(format, args...), sql) }
	if p.columnsOnly {
		sql = withoutRows(sql)
	}
	sql, err := p.ordered(ctx, sql)
	if err != nil {
		fail("on DuckDB: %v", err)
		return
	}
	want, err := p.duck.Query(ctx, sql)
	if err != nil {
		fail("on DuckDB: %v", err)
		return
	}
	defer want.Close()
	got, err := p.spark.Query(ctx, sql)
	if err != nil {
		fail("on Spark: %v", err)
		return
	}
	defer got.Close()
	if problem := alikeColumns(want.Columns(), got.Columns()); problem != "" {
		fail("%s", problem)
		return
	}
	a, b := &groups{rows: want}, &groups{rows: got}
	for {
		x, y := a.next(), b.next()
		if problem := differ(want.Columns(), x, y); problem != "" {
			fail("after %d rows: %s", a.n, problem)
			return
		}
		if x == nil {
			break
		}
	}
	if want.Err() != nil || got.Err() != nil {
		fail("on DuckDB: %v, on Spark: %v", want.Err(), got.Err())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rows += a.n; a.n > 0 || p.columnsOnly {
		p.times[shape] = mostTimes
	}
}

// orders matches statements that fix the order of their rows.
var orders = regexp.MustCompile(`(?s)ORDER BY [^()]*$|ORDER BY [^()]*\([^()]*\)[^()]*$`)

// ordered sorts the rows of a statement that leaves their order open, by all columns on which the engines agree to the last
// digit. Rows that are equal in these are sorted by groups.
func (p *pair) ordered(ctx context.Context, sql string) (string, error) {
	if p.columnsOnly || orders.MatchString(sql) {
		return sql, nil
	}
	rows, err := p.duck.Query(ctx, withoutRows(sql))
	if err != nil {
		return sql, err
	}
	defer rows.Close()
	var by []string
	for i, c := range rows.Columns() {
		if c.Type != schema.Double {
			by = append(by, strconv.Itoa(i+1)+" NULLS LAST")
		}
	}
	if sql = "SELECT * FROM (" + sql + ") AS asked"; len(by) == 0 {
		return sql, nil
	}
	return sql + " ORDER BY " + strings.Join(by, ", "), nil
}

// groups sorts consecutive rows that differ only in floats by these.
type groups struct {
	rows *engine.Rows
	held []any // the first row of the next group
	n    int64
}

func (g *groups) next() (group [][]any) {
	if g.held != nil {
		group = append(group, g.held)
		g.held = nil
	}
	for g.rows.Next() {
		row := make([]any, len(g.rows.Columns()))
		for i := range row {
			row[i] = g.rows.Value(i)
		}
		g.n++
		if len(group) > 0 && !sameBut(g.rows.Columns(), group[0], row) {
			g.held = row
			break
		}
		group = append(group, row)
	}
	slices.SortStableFunc(group, byFloats)
	return group
}

// sameBut reports whether rows differ only in floats.
func sameBut(columns []engine.Column, a, b []any) bool {
	for i, c := range columns {
		if c.Type != schema.Double && a[i] != b[i] {
			return false
		}
	}
	return true
}

// byFloats compares rows that are otherwise equal by their floats, NULL last.
func byFloats(a, b []any) int {
	for i := range a {
		x, xOK := a[i].(float64)
		y, yOK := b[i].(float64)
		switch {
		case xOK && !yOK:
			return -1
		case yOK && !xOK:
			return 1
		case x != y:
			return cmp.Compare(x, y)
		}
	}
	return 0
}

// differ describes the difference between two groups of rows; "" for none.
func differ(columns []engine.Column, want, got [][]any) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d rows on DuckDB and %d on Spark, beginning with %v and %v", len(want), len(got), first(want), first(got))
	}
	for i := range want {
		for c := range want[i] {
			if !alike(want[i][c], got[i][c]) {
				return fmt.Sprintf("column %s: %v on DuckDB and %v on Spark", columns[c].Name, want[i], got[i])
			}
		}
	}
	return ""
}

func first(group [][]any) []any {
	if len(group) == 0 {
		return nil
	}
	return group[0]
}

// alikeColumns reports where a struct that accepts the first columns does not accept the others; "" for nowhere.
func alikeColumns(want, got []engine.Column) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d columns on DuckDB and %d on Spark", len(want), len(got))
	}
	whole := func(t schema.Type) bool { return t == schema.BigInt || t == schema.Int }
	for i, a := range want {
		if b := got[i]; a.Name != b.Name || a.Type != b.Type && !(whole(a.Type) && whole(b.Type)) {
			return fmt.Sprintf("column %s is %s (%s) on DuckDB and column %s is %s (%s) on Spark", a.Name, a.Type, a.Native, b.Name, b.Type, b.Native)
		}
	}
	return ""
}

func alike(a, b any) bool {
	x, isNumber := number(a)
	y, isNumber2 := number(b)
	if !isNumber || !isNumber2 {
		return a == b
	}
	return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y))
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int32:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// sawAll checks that every SQL file was asked, except those of serve, which only uses the embedded engine, and those whose
// rows go to copies of this program, which TestSpark of detect checks by their results.
func (p *record) sawAll(t *testing.T) {
	t.Helper()
	bare := func(s string) string { return regexp.MustCompile(`--[^\n]*`).ReplaceAllString(s, "") }
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	var all strings.Builder
	for _, sql := range p.asked {
		all.WriteString(squeeze(bare(sql)) + "\n")
	}
	files := 0
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || d.Name() == "serve") {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".sql" || strings.HasPrefix(d.Name(), "copies_") {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files++
		longest := "" // between two placeholders, or a named part
		for _, piece := range regexp.MustCompile(`\{\w+\}|(?m:^(WITH\s+)?\w+ AS \($|^\),?$)`).Split(bare(string(data)), -1) {
			if piece = squeeze(piece); len(piece) > len(longest) {
				longest = piece
			}
		}
		if !strings.Contains(all.String(), longest) {
			t.Errorf("%s was not asked", name)
		}
		return nil
	})
	if err != nil || files < 30 {
		t.Errorf("%d files of SQL: %v", files, err)
	}
}
