package livetest

import (
	"os"
	"path/filepath"
	"testing"

	"straggler/ingest/ingesttest"
	"straggler/ingest/spark"
	"straggler/schema"
)

// Log reads the trace of a Spark event log.
func Log(tb testing.TB, path string) *schema.Trace {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	r := ingesttest.Bytes(tb, spark.Format(), path, data)
	if len(r.Trace.Applications) != 1 {
		tb.Fatalf("%s has %d applications", path, len(r.Trace.Applications))
	}
	return &r.Trace
}

// Labelled returns the event log of a labelled run, for runs with a single file.
func Labelled(tb testing.TB, name string) string {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join("../testdata/labelled", name, "*.zstd"))
	if err != nil || len(paths) != 1 {
		tb.Fatalf("labelled run %s: %v, %v", name, paths, err)
	}
	return paths[0]
}
