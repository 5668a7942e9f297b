package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"straggler/audit"
	"straggler/causes"
	"straggler/detect"
	"straggler/ingest"
	"straggler/ingest/formats"
	"straggler/report"
	"straggler/schema"
	"straggler/store"
	"straggler/store/sparktest"
	"straggler/whatif"
	"straggler/whatif/simulate"
)

// Law 7: DuckDB and Spark SQL give the same rows, floats to 1e-9 of their size, for every statement of the program. The
// whole way is gone on the labelled logs with an engine that asks both.
func TestEnginesAgree(t *testing.T) {
	server := sparktest.Engine(t)
	ctx := t.Context()
	st, err := store.Open(ctx, filepath.Join(t.TempDir(), "lake"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.Run(ctx, st, formats.All(), labelledLogs(t), ingest.Options{Tool: "test"}); err != nil {
		t.Fatal(err)
	}
	p := newPair(t, st, server)
	if _, err := detect.Run(ctx, st, p, detect.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := causes.Run(ctx, st, p, causes.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := causes.PaperFigures(ctx, p); err != nil {
		t.Fatal(err)
	}
	o, err := whatif.Brief(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	o.Seeds = 1
	if _, err := whatif.Run(ctx, st, p, o); err != nil {
		t.Fatal(err)
	}
	if _, err := report.Build(ctx, p, report.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := report.Perfetto(ctx, io.Discard, p, report.Options{}); err != nil {
		t.Fatal(err)
	}
	w, err := simulate.Example("batch")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := simulate.Into(ctx, st, w, simulate.Options{}, "test"); err != nil {
		t.Fatal(err)
	}
	if _, err := report.BuildSimulation(ctx, p); err != nil {
		t.Fatal(err)
	}
	g, err := audit.NewGrouping("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Measure(ctx, p, g); err != nil {
		t.Fatal(err)
	}
	p.sawAll(t)
}

// labelledLogs are the logs that come with the tests.
func labelledLogs(t *testing.T) []string {
	t.Helper()
	logs, err := filepath.Glob("../../testdata/labelled/*/*.zstd")
	if err != nil || len(logs) < 10 {
		t.Fatalf("%d labelled logs: %v", len(logs), err)
	}
	return logs
}

// pair is an engine that asks two and compares.
type pair struct {
	t     *testing.T
	duck  store.Engine
	spark store.Engine
	mu    sync.Mutex
	asked []string
}

func newPair(t *testing.T, st *store.Store, server string) *pair {
	t.Helper()
	open := func(o store.EngineOptions) store.Engine {
		eng, err := st.Engine(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { eng.Close() })
		return eng
	}
	return &pair{t: t, duck: open(store.EngineOptions{}), spark: open(store.EngineOptions{Server: server})}
}

func (p *pair) Name() string { return "pair" }
func (p *pair) Close() error { return nil }

func (p *pair) Materialize(ctx context.Context, name, sql string) error {
	p.note(sql)
	if err := p.duck.Materialize(ctx, name, sql); err != nil {
		return err
	}
	if err := p.spark.Materialize(ctx, name, sql); err != nil {
		return fmt.Errorf("on Spark: %w\n%s", err, sql)
	}
	p.compare(ctx, "SELECT * FROM "+name)
	return nil
}

func (p *pair) Query(ctx context.Context, sql string) (*store.Rows, error) {
	p.note(sql)
	p.compare(ctx, sql)
	return p.duck.Query(ctx, sql)
}

func (p *pair) note(sql string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, sql)
}

// compare asks both engines.
func (p *pair) compare(ctx context.Context, sql string) {
	p.t.Helper()
	want, types, err := collect(ctx, p.duck, sql)
	if err != nil {
		p.t.Errorf("on DuckDB: %v\n%s", err, sql)
		return
	}
	got, ours, err := collect(ctx, p.spark, sql)
	if err != nil {
		p.t.Errorf("on Spark: %v\n%s", err, sql)
		return
	}
	for i := range types {
		if i < len(ours) && !alikeTypes(types[i], ours[i]) {
			p.t.Errorf("column %s is %s (%s) on DuckDB and %s (%s) on Spark\n%s", types[i].Name, types[i].Type, types[i].Native, ours[i].Type, ours[i].Native, sql)
		}
	}
	if !ordered.MatchString(sql) {
		slices.SortStableFunc(want, before)
		slices.SortStableFunc(got, before)
	}
	if len(got) != len(want) {
		p.t.Errorf("%d rows on DuckDB and %d on Spark\n%s", len(want), len(got), sql)
		return
	}
	for i := range want {
		for c := range want[i] {
			if !alike(want[i][c], got[i][c]) {
				p.t.Errorf("row %d, column %s: %v on DuckDB and %v on Spark\n%s", i, types[c].Name, want[i][c], got[i][c], sql)
				return
			}
		}
	}
}

// ordered says that a statement fixes the order of its rows.
var ordered = regexp.MustCompile(`(?s)ORDER BY [^()]*$|ORDER BY [^()]*\([^()]*\)[^()]*$`)

func collect(ctx context.Context, eng store.Engine, sql string) (out [][]any, columns []store.Column, err error) {
	rows, err := eng.Query(ctx, sql)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	columns = rows.Columns()
	for rows.Next() {
		row := make([]any, len(columns))
		for i := range row {
			row[i] = rows.Value(i)
		}
		out = append(out, row)
	}
	return out, columns, rows.Err()
}

// alikeTypes says whether a struct that takes the first type takes the second.
func alikeTypes(a, b store.Column) bool {
	return a.Type == b.Type || a.Type == schema.BigInt && b.Type == schema.Int || a.Type == schema.Int && b.Type == schema.BigInt
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

// before orders rows by what engines agree on to the last digit, then by the rest.
func before(a, b []any) int {
	key := func(row []any, floats bool) string {
		var s strings.Builder
		for _, v := range row {
			if _, is := v.(float64); is == floats {
				fmt.Fprintf(&s, "%020v|", v)
			}
		}
		return s.String()
	}
	if c := strings.Compare(key(a, false), key(b, false)); c != 0 {
		return c
	}
	return strings.Compare(key(a, true), key(b, true))
}

// sawAll sees that every file of SQL was asked.
func (p *pair) sawAll(t *testing.T) {
	t.Helper()
	squeeze := func(s string) string {
		return strings.Join(strings.Fields(regexp.MustCompile(`--[^\n]*`).ReplaceAllString(s, "")), " ")
	}
	var all strings.Builder
	for _, sql := range p.asked {
		all.WriteString(squeeze(sql) + "\n")
	}
	files := 0
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".sql" {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files++
		longest := "" // piece between two placeholders
		for _, piece := range regexp.MustCompile(`\{\w+\}`).Split(squeeze(string(data)), -1) {
			if len(piece) > len(longest) {
				longest = piece
			}
		}
		if !strings.Contains(all.String(), strings.TrimSpace(longest)) {
			t.Errorf("%s was never asked", name)
		}
		return nil
	})
	if err != nil || files < 30 {
		t.Errorf("%d files of SQL: %v", files, err)
	}
}
