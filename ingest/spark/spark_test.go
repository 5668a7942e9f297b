package spark

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/ingest"
	"straggler/ingest/ingesttest"
	"straggler/schema"
	"straggler/schema/laws"
)

// labelled are the project's own logs, of Spark 3.5 and 4.0.
const labelled = "../../testdata/labelled"

// labelledLogs returns the files of the labelled logs that contain events.
func labelledLogs(tb testing.TB) []string {
	tb.Helper()
	var logs []string
	for _, pattern := range []string{"*/app-*", "*/eventlog_v2_*/events_*"} {
		found, err := filepath.Glob(filepath.Join(labelled, pattern))
		if err != nil {
			tb.Fatal(err)
		}
		logs = append(logs, found...)
	}
	if len(logs) < 30 {
		tb.Fatalf("only %d labelled logs in %s", len(logs), labelled)
	}
	return logs
}

// content returns a file as a format sees it: decompressed.
func content(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := ingesttest.Input(path, data).Parts[0].Open(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil && !ingest.IsCut(err) {
		tb.Fatal(err)
	}
	return text
}

func readFile(tb testing.TB, path string) ingesttest.Result {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return ingesttest.Bytes(tb, Format(), path, data)
}

func readText(tb testing.TB, lines ...string) ingesttest.Result {
	tb.Helper()
	return ingesttest.Bytes(tb, Format(), "log", []byte(strings.Join(lines, "\n")+"\n"))
}

// dirInput groups the files of a directory as an ingest does.
func dirInput(tb testing.TB, dir string) *ingest.Input {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	groups := claim(ingest.Dir{Path: dir, Names: names})
	if len(groups) != 1 {
		tb.Fatalf("%s makes %d groups", dir, len(groups))
	}
	in := &ingest.Input{Name: dir, Base: groups[0].Base}
	var head []byte
	for _, name := range groups[0].Names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			tb.Fatal(err)
		}
		head = append(head, data...)
		in.Parts = append(in.Parts, ingesttest.Input(filepath.Join(dir, name), data).Parts...)
	}
	in.Key = schema.InputKey(in.Base, head)
	return in
}

// valid fails the test if rows break the laws of their tables.
func valid(tb testing.TB, t *schema.Trace) {
	tb.Helper()
	for i, v := range laws.Trace(t) {
		if i == 10 {
			tb.Fatal("and more")
		}
		tb.Error(v)
	}
}

func caveat(t *schema.Trace, code string) int64 {
	for _, c := range t.Caveats {
		if c.Code == code {
			return max(c.Count.V, 1)
		}
	}
	return 0
}
