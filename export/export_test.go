package export

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/schema"
	"straggler/store"
)

// filled returns an engine over a store with some attempts, written in an order that is not that of their keys.
func filled(t *testing.T) engine.Engine {
	t.Helper()
	st, err := store.Temp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	tx, err := st.Begin(t.Context(), store.Origin{Kind: store.Log})
	if err != nil {
		t.Fatal(err)
	}
	var attempts []schema.Attempt
	for _, n := range []int64{7, 3, 9, 1} {
		attempts = append(attempts, schema.Attempt{AttemptID: n, PhaseID: 10 - n%2, NativeID: `a "quoted", name`, Status: schema.Success})
	}
	settings := []schema.Setting{{ApplicationID: 1, Name: "b"}, {ApplicationID: 1, Name: "a", Value: "2"}, {ApplicationID: 1, Name: "a", Value: "1"}}
	if err := errors.Join(store.Append(tx, 5, attempts), store.Append(tx, 5, settings)); err != nil {
		t.Fatal(err)
	}
	if err := tx.Input(store.InputRecord{Name: "x", Key: store.KeyText(5), Fingerprint: "f"}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	eng, err := engines.Open(t.Context(), st, engine.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	return eng
}

func TestOrder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	tables, err := Tables(nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := Run(t.Context(), filled(t), tables, dir, "csv")
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]int64)
	for _, f := range files {
		rows[f.Table] = f.Rows
		if info, err := os.Stat(filepath.Join(dir, f.File)); err != nil || info.Size() != f.Bytes {
			t.Errorf("%s has %d bytes: %v", f.File, f.Bytes, err)
		}
	}
	if rows["attempts"] != 4 || rows["settings"] != 3 || len(files) != len(schema.LogTables()) {
		t.Errorf("files %+v", files)
	}
	if got := column(t, filepath.Join(dir, "attempts.csv"), 0); got != "1 3 7 9" {
		t.Errorf("attempts in the order %s", got)
	}
	if got := column(t, filepath.Join(dir, "settings.csv"), 1) + ", " + column(t, filepath.Join(dir, "settings.csv"), 2); got != `a a b, 1 2 ""` {
		t.Errorf("settings in the order %s", got)
	}
}

// column returns a column of a CSV file without its name.
func column(t *testing.T, file string, n int) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		out = append(out, strings.Split(line, ",")[n])
	}
	return strings.Join(out, " ")
}

func TestAllOrNothing(t *testing.T) {
	eng := filled(t)
	tables, err := Tables([]string{"phases", "attempts"})
	if err != nil || len(tables) != 2 || tables[0].Name != "phases" {
		t.Fatalf("tables %v, %v", tables, err)
	}
	parent := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, eng, tables, filepath.Join(parent, "out"), "parquet"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	bad := append(tables[:2:2], &schema.Table{Name: "nothing", Columns: tables[0].Columns})
	if _, err := Run(t.Context(), eng, bad, filepath.Join(parent, "out"), "parquet"); err == nil {
		t.Error("a table that is not there was written")
	}
	if entries, err := os.ReadDir(parent); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if err := os.WriteFile(filepath.Join(parent, "mine"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), eng, tables, parent, "parquet"); !errors.Is(err, ErrExists) {
		t.Errorf("over a directory with files: %v", err)
	}
	if _, err := Run(t.Context(), eng, tables, filepath.Join(parent, "out"), "md"); !errors.Is(err, ErrEncoding) {
		t.Errorf("as md: %v", err)
	}
	if _, err := Tables([]string{"attempt"}); !errors.Is(err, ErrNoTable) {
		t.Errorf("no such table: %v", err)
	}
}
