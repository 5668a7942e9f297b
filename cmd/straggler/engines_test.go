package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"straggler/audit/measure"
	"straggler/causes"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/generate"
	"straggler/ingest/formats"
	"straggler/ingest/run"
	"straggler/plans"
	"straggler/report"
	"straggler/report/perfetto"
	"straggler/schema"
	"straggler/selection"
	"straggler/store"
	"straggler/verify"
	"straggler/whatif"
	"straggler/whatif/simulate"
)

// agreeAttempts names the variable with the size of the synthetic trace of enginesAgree.
const agreeAttempts = "STRAGGLER_AGREE_ATTEMPTS"

// Law 7: DuckDB and Spark SQL give the same rows, floats to 1e-9 of their size, for every statement of the program. All verbs
// run with an engine that asks both, over the labelled logs and a synthetic trace of any size in one store: first those that
// write results, and then, in parallel, those that read them. With columnsOnly Spark gives the same columns, and nothing is said
// of rows.
func enginesAgree(t *testing.T, server string, columnsOnly bool) {
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "lake"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fillLogs(t, st)
	fillMade(t, st)
	tr := &schema.Trace{}
	addNights(tr)
	addAges(tr)
	enginetest.IngestTrace(t, st, tr)
	server = enginetest.Server(t, server, func(address string) (engine.Engine, error) {
		return engines.Open(t.Context(), st, engine.Options{Server: address})
	})
	r := &record{columnsOnly: columnsOnly, times: map[string]int{}}
	if err := writeAll(t.Context(), st, newPair(t, st, server, r)); err != nil {
		t.Fatal(err)
	}
	p := newPair(t, st, server, r) // sees what was written
	for _, read := range []func(context.Context, *pair) error{readReport, readAttempt, readRows} {
		if err := read(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	r.sawAll(t)
	t.Logf("%d statements, %d rows compared", len(r.asked), r.rows)
}

// writeAll writes all results and simulates a cluster.
func writeAll(ctx context.Context, st *store.Store, p *pair) error {
	if _, err := detect.Run(ctx, st, p, detect.Options{}); err != nil {
		return err
	}
	if _, err := causes.Run(ctx, st, p, causes.Options{}); err != nil {
		return err
	}
	if s, err := plans.Run(ctx, st, p, plans.Options{}); err != nil || s.Findings == 0 {
		return fmt.Errorf("%d findings in the plans of skewed queries: %v", s.Findings, err)
	}
	o, err := whatif.Brief(ctx, p, selection.Applications{})
	if err != nil {
		return err
	}
	o.Seeds = 1
	if _, err := whatif.Run(ctx, st, p, o); err != nil {
		return err
	}
	w, err := simulate.Example("batch")
	if err != nil {
		return err
	}
	_, err = simulate.Into(ctx, st, w, simulate.Options{}, "test")
	return err
}

// readReport builds the report on everything.
func readReport(ctx context.Context, p *pair) error {
	_, err := report.Build(ctx, p, report.Options{})
	return err
}

// readAttempt builds the report on the attempt that lost most time.
func readAttempt(ctx context.Context, p *pair) error {
	doc, err := report.Build(ctx, p.duck, report.Options{})
	if err != nil {
		return err
	}
	if len(doc.Outliers.Rows) == 0 {
		return errors.New("no outlier")
	}
	_, err = report.Build(ctx, p, report.Options{Scope: report.Scope{Attempt: doc.Outliers.Rows[0].AttemptID}})
	return err
}

// readRows reads what is not part of a report.
func readRows(ctx context.Context, p *pair) error {
	if keys, err := (selection.Applications{Named: "nightly"}).Keys(ctx, p); err != nil || len(keys) != 5 {
		return fmt.Errorf("%d nights: %v", len(keys), err)
	}
	if _, err := causes.PaperFigures(ctx, p); err != nil {
		return err
	}
	if err := perfetto.Write(ctx, io.Discard, p, selection.Applications{}); err != nil {
		return err
	}
	if _, err := report.BuildSimulation(ctx, p); err != nil {
		return err
	}
	if jobs, err := simulate.SWIMJobs(ctx, p); err != nil || len(jobs) != 2 {
		return fmt.Errorf("%d jobs of a SWIM file of 2: %v", len(jobs), err)
	}
	if _, err := verify.Rows(ctx, p, verify.Options{}); err != nil {
		return err
	}
	if _, err := whatif.MostGained(ctx, p, nil); err != nil {
		return err
	}
	g, err := measure.NewGrouping("")
	if err != nil {
		return err
	}
	runs, err := measure.Runs(ctx, p, g)
	if err != nil {
		return err
	}
	all := make([]*measure.Run, len(runs))
	for i := range runs {
		all[i] = &runs[i]
	}
	return measure.Tasks(ctx, p, all...)
}

// fillLogs reads the labelled logs, one of Spark SQL with skewed joins and groups, and a SWIM sample, in one commit: Spark opens
// each file of a table in every statement.
func fillLogs(t *testing.T, st *store.Store) {
	t.Helper()
	logs, err := filepath.Glob("../../testdata/labelled/*/*.zstd")
	if err != nil || len(logs) < 10 {
		t.Fatalf("%d labelled logs: %v", len(logs), err)
	}
	jobs := filepath.Join(t.TempDir(), "jobs.tsv")
	if err := os.WriteFile(jobs, []byte("job0\t0\t0\t64000000\t1000\t2000\njob1\t5\t5\t0\t3000\t4000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	logs = append(logs, "../../plans/testdata/spark3-aqe-on.zstd", jobs)
	if _, err := run.Run(t.Context(), st, formats.All(), logs, run.Options{Tool: "test"}); err != nil {
		t.Fatal(err)
	}
}

// addNights adds five runs of one application, the last of them slow as a whole.
func addNights(tr *schema.Trace) {
	for night := range schema.Key(5) {
		key, took := 1000+night, 10.0+float64(night)/10
		if night == 4 {
			took = 40
		}
		start := schema.FromMillis(1700000000000 + int64(night)*86400000)
		tr.Applications = append(tr.Applications, schema.Application{ApplicationID: key, Framework: "spark", NativeID: fmt.Sprint("night-", night),
			Name: schema.Some("nightly"), StartTime: schema.Some(start), FinishTime: schema.Some(start.Add(took)),
			Status: schema.RunSucceeded, SourceFile: "made", Complete: true, TimeOrigin: "epoch"})
		tr.Jobs = append(tr.Jobs, schema.Job{JobID: key, ApplicationID: key, NativeID: "0", Status: schema.RunSucceeded,
			SubmitTime: schema.Some(start), FinishTime: schema.Some(start.Add(took))})
		tr.Phases = append(tr.Phases, schema.Phase{PhaseID: key, JobID: key, NativeID: "0", Status: schema.RunSucceeded,
			Name: schema.Some("count"), Kind: "map",
			TaskCount: schema.Some(int64(12)), StartTime: schema.Some(start), FinishTime: schema.Some(start.Add(took))})
		for i := range int64(12) {
			seconds := took - float64(i)/100
			tr.Attempts = append(tr.Attempts,
				schema.Attempt{AttemptID: 10*key + schema.Key(i)*100_000, PhaseID: key, JobID: key, ApplicationID: key, Task: i, NativeID: "0",
					Machine: schema.Some("m"), StartTime: schema.Some(start), FinishTime: schema.Some(start.Add(seconds)),
					DurationS: schema.Some(seconds), Status: schema.Success})
		}
	}
}

// addAges adds a job whose outliers together last longer than 64 bits of microseconds can represent, as in a log with wrong
// clocks.
func addAges(tr *schema.Trace) {
	const key, ages = 2000, 2.4e11
	start := schema.FromMillis(1700000000000)
	finish := schema.Some(start.Add(ages))
	tr.Applications = append(tr.Applications, schema.Application{ApplicationID: key, Framework: "spark", NativeID: "ages", Name: schema.Some("ages"),
		StartTime: schema.Some(start), FinishTime: finish, Status: schema.RunSucceeded, SourceFile: "made", Complete: true, TimeOrigin: "epoch"})
	tr.Jobs = append(tr.Jobs, schema.Job{JobID: key, ApplicationID: key, NativeID: "0", Status: schema.RunSucceeded,
		SubmitTime: schema.Some(start), FinishTime: finish})
	tr.Phases = append(tr.Phases, schema.Phase{PhaseID: key, JobID: key, NativeID: "0", Status: schema.RunSucceeded, Name: schema.Some("sum"), Kind: "map",
		TaskCount: schema.Some(int64(100)), StartTime: schema.Some(start), FinishTime: finish})
	for i := range int64(100) {
		seconds := 10 + float64(i)/100
		if i%5 < 2 {
			seconds = ages - float64(i)
		}
		tr.Attempts = append(tr.Attempts, schema.Attempt{AttemptID: 100_000_000 + schema.Key(i), PhaseID: key, JobID: key,
			ApplicationID: key, Task: i, NativeID: "0",
			Machine: schema.Some("m"), StartTime: schema.Some(start), FinishTime: schema.Some(start.Add(seconds)),
			DurationS: schema.Some(seconds), Status: schema.Success})
	}
}

// fillMade generates a trace with all faults of the generator.
func fillMade(t *testing.T, st *store.Store) {
	t.Helper()
	attempts := int64(5_000)
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
