package whatif

import (
	"context"
	"embed"
	"fmt"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
	"straggler/whatif/workload"
)

//go:embed sql/*.sql
var queries embed.FS

// query is the statement that reads one kind of row, in the order that replays take them.
func query(name string) string {
	text, err := queries.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(err) // the files are part of the program
	}
	return string(text)
}

// Load reads what a replay needs from the tables of a store.
func Load(ctx context.Context, eng engine.Engine) (*workload.Rows, error) {
	r := &workload.Rows{}
	err := first(
		func() error { return collect(ctx, eng, &r.Applications, query("applications")) },
		func() error { return collect(ctx, eng, &r.Settings, query("settings")) },
		func() error { return collect(ctx, eng, &r.Jobs, query("jobs")) },
		func() error { return collect(ctx, eng, &r.Phases, query("phases")) },
		func() error { return collect(ctx, eng, &r.Edges, query("edges")) },
		func() error { return collect(ctx, eng, &r.Machines, query("machines")) },
		func() error { return collect(ctx, eng, &r.Losses, query("losses")) },
		func() error { return loadOutputs(ctx, eng, r) },
		func() error { return loadAttempts(ctx, eng, r) },
		func() error { return loadProgress(ctx, eng, r) },
	)
	if err != nil {
		return nil, fmt.Errorf("whatif: reading the store: %w", err)
	}
	return r, nil
}

// Workload is the workload of a store, with what the analysis of causes says of its machines where that is of the logs
// that the store has now.
func Workload(ctx context.Context, st *store.Store, eng engine.Engine) (*workload.Workload, error) {
	rows, err := Load(ctx, eng)
	if err != nil {
		return nil, err
	}
	return workload.Build(rows), nil
}

func first(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func collect[R any](ctx context.Context, eng engine.Engine, to *[]R, sql string) error {
	for row, err := range engine.Read[R](ctx, eng, sql) {
		if err != nil {
			return err
		}
		*to = append(*to, *row)
	}
	return nil
}

// loadOutputs reads how large outputs are, in applications that lost any.
func loadOutputs(ctx context.Context, eng engine.Engine, r *workload.Rows) error {
	if len(r.Losses) == 0 {
		return nil
	}
	type output struct {
		AttemptID schema.Key `col:"attempt_id"`
		Bytes     int64      `col:"bytes"`
	}
	r.Outputs = map[schema.Key]int64{}
	for o, err := range engine.Read[output](ctx, eng, query("outputs")) {
		if err != nil {
			return err
		}
		r.Outputs[o.AttemptID] = o.Bytes
	}
	return nil
}

func loadAttempts(ctx context.Context, eng engine.Engine, r *workload.Rows) error {
	type count struct {
		N int64 `col:"n"`
	}
	var counts []count
	if err := collect(ctx, eng, &counts, query("count")); err != nil {
		return err
	}
	for _, c := range counts {
		r.Attempts = make([]workload.LoggedAttempt, 0, c.N)
	}
	for row, err := range engine.Read[workload.AttemptRow](ctx, eng, query("attempts")) {
		if err != nil {
			return err
		}
		r.Add(row)
	}
	return nil
}

// loadProgress reads what attempts reported; after the attempts, and in their order.
func loadProgress(ctx context.Context, eng engine.Engine, r *workload.Rows) error {
	type sample struct {
		AttemptID schema.Key  `col:"attempt_id"`
		Time      schema.Time `col:"time"`
		Progress  float64     `col:"progress"`
	}
	for row, err := range engine.Read[sample](ctx, eng, query("progress")) {
		if err != nil {
			return err
		}
		r.Report(row.AttemptID, int64(row.Time), row.Progress)
	}
	return nil
}
