package main

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"straggler/audit/measure"
	"straggler/causes"
	"straggler/detect"
	"straggler/generate"
	"straggler/ingest/formats"
	"straggler/ingest/run"
	"straggler/report"
	"straggler/report/perfetto"
	"straggler/store"
	"straggler/verify"
	"straggler/whatif"
	"straggler/whatif/simulate"
)

// agreeAttempts names the size of the made store of enginesAgree.
const agreeAttempts = "STRAGGLER_AGREE_ATTEMPTS"

// Law 7: DuckDB and Spark SQL give the same rows, floats to 1e-9 of their size, for every statement of the program. The
// whole way is gone with an engine that asks both: on the labelled logs, and on a made store of any size, with a session of
// Spark that is as forgiving as those of servers without ANSI are.
func enginesAgree(t *testing.T, server string) {
	for _, c := range []struct {
		name, options string
		fill          func(*testing.T, *store.Store)
	}{
		{"labelled logs", "", fillLabelled},
		{"made store", "&set.spark.sql.ansi.enabled=false", fillMade},
	} {
		t.Run(c.name, func(t *testing.T) {
			st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "lake"), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			c.fill(t, st)
			fillSWIM(t, st)
			p := newPair(t, st, server+c.options)
			p.goAllTheWay(t, st)
			p.sawAll(t)
			t.Logf("%d statements, %d rows compared", len(p.asked), p.rows)
		})
	}
}

// goAllTheWay runs everything that asks an engine.
func (p *pair) goAllTheWay(t *testing.T, st *store.Store) {
	ctx := t.Context()
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
	if err := perfetto.Write(ctx, io.Discard, p, ""); err != nil {
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
	if jobs, err := simulate.SWIMJobs(ctx, p); err != nil || len(jobs) != 2 {
		t.Fatalf("%d jobs of a SWIM file of 2: %v", len(jobs), err)
	}
	if _, err := verify.Rows(ctx, p, verify.Options{}); err != nil {
		t.Fatal(err)
	}
	g, err := measure.NewGrouping("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := measure.Runs(ctx, p, g); err != nil {
		t.Fatal(err)
	}
}

// fillLabelled reads the labelled logs.
func fillLabelled(t *testing.T, st *store.Store) {
	t.Helper()
	logs, err := filepath.Glob("../../testdata/labelled/*/*.zstd")
	if err != nil || len(logs) < 10 {
		t.Fatalf("%d labelled logs: %v", len(logs), err)
	}
	if _, err := run.Run(t.Context(), st, formats.All(), logs, run.Options{Tool: "test"}); err != nil {
		t.Fatal(err)
	}
}

// fillSWIM reads a sample of jobs.
func fillSWIM(t *testing.T, st *store.Store) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "jobs.tsv")
	if err := os.WriteFile(name, []byte("job0\t0\t0\t64000000\t1000\t2000\njob1\t5\t5\t0\t3000\t4000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Run(t.Context(), st, formats.All(), []string{name}, run.Options{Tool: "test"}); err != nil {
		t.Fatal(err)
	}
}

// fillMade makes a trace in which everything goes wrong that the generator knows.
func fillMade(t *testing.T, st *store.Store) {
	t.Helper()
	attempts := int64(100_000)
	if text := os.Getenv(agreeAttempts); text != "" {
		var err error
		if attempts, err = strconv.ParseInt(text, 10, 64); err != nil || attempts <= 0 {
			t.Fatalf("%s=%s: write how many attempts to make", agreeAttempts, text)
		}
	}
	o, err := generate.Synthetic{Scenario: "mixed", Seed: 1, Tasks: attempts}.Options()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := generate.ToStore(t.Context(), st, o, "test", nil); err != nil {
		t.Fatal(err)
	}
}
