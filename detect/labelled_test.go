package detect

import (
	"context"
	"path/filepath"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/ingest/formats"
	ingest "straggler/ingest/run"
	"straggler/schema"
	"straggler/store"
)

// Real logs, every phase and attempt of them, against the reference and the queries.
func TestLabelledLogs(t *testing.T) {
	ctx := context.Background()
	st, err := store.Temp(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if _, err := ingest.Run(ctx, st, formats.All(), []string{filepath.Join("..", "testdata", "labelled")}, ingest.Options{}); err != nil {
		t.Fatal(err)
	}
	eng, err := engines.Open(ctx, st, engine.Options{Threads: 2, MemoryBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	tr := &schema.Trace{Applications: enginetest.ReadAll[schema.Application](t, eng, "SELECT * FROM applications"),
		Phases: enginetest.ReadAll[schema.Phase](t, eng, "SELECT * FROM phases"), Attempts: enginetest.ReadAll[schema.Attempt](t, eng, "SELECT * FROM attempts")}
	eng.Close()
	if len(tr.Applications) < 25 || len(tr.Attempts) < 10_000 {
		t.Fatalf("%d applications and %d attempts: where are the logs?", len(tr.Applications), len(tr.Attempts))
	}
	seen := make(map[string]int)
	d := runStore(t, st, Options{})
	compare(t, tr, d, seen)
	sameAsSQL(t, inSQL(t, st), d)
	t.Logf("%d phases, %d attempts, %d outlier rows: %v", len(tr.Phases), len(tr.Attempts), len(d.outliers), seen)
}
