package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/ingest/run"
	"straggler/schema"
	"straggler/store"
)

// toy returns a format for these tests: a line `toy NAME`, then lines `run MACHINE`, each an attempt; the file parts of a
// directory `NAME.toys` are one input. `panic` breaks its reader, `fail` makes it give up.
func toy() ingest.Format {
	return ingest.Format{Name: "toy", Doc: "toy logs", Claim: claimToys, Sniff: sniffToy, Read: readToy}
}

func claimToys(d ingest.Dir) []ingest.Group {
	if !strings.HasSuffix(filepath.Base(d.Path), ".toys") {
		return nil
	}
	g := ingest.Group{Base: filepath.Base(d.Path)}
	for _, name := range d.Names {
		switch {
		case strings.HasPrefix(name, "part"):
			g.Names = append(g.Names, name)
		case name == "DONE":
			g.Drop = append(g.Drop, name)
		}
	}
	return []ingest.Group{g}
}

func sniffToy(h ingest.Head) ingest.Match {
	if bytes.HasPrefix(h.Bytes, []byte("toy ")) {
		return ingest.Match{Confidence: 3, Why: "starts with toy"}
	}
	return ingest.Match{}
}

func readToy(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
	keys := map[string]*schema.Keys{}
	for _, table := range []string{"applications", "attempts"} {
		keys[table] = schema.NewKeys(in.Key, table)
	}
	app := keys["applications"].Next()
	for _, p := range in.Parts {
		err := read.EachLine(ctx, p, out, func(line read.Line) error {
			word, rest, _ := strings.Cut(string(line.Data), " ")
			switch {
			case word == "toy":
				out.Decoded(1)
				return ingest.Emit(out, []schema.Application{{ApplicationID: app, NativeID: rest, Framework: "toy",
					SourceFile: in.Name, TimeOrigin: "epoch", Status: schema.RunUnknown}})
			case word == "run" && !line.Cut:
				out.Decoded(1)
				return ingest.Emit(out, []schema.Attempt{{AttemptID: keys["attempts"].Next(), ApplicationID: app, NativeID: rest,
					Machine: schema.Some(rest), DurationS: schema.Some(1.0), Status: schema.Success}})
			case word == "fail":
				return errors.New("this toy gives up")
			case word == "panic":
				panic("this toy breaks")
			}
			read.RejectLine(out, p, line, "not a toy line")
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// toyLog returns a toy log with n attempts.
func toyLog(name string, n int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "toy %s\n", name)
	for i := range n {
		fmt.Fprintf(&b, "run host%d\n", i)
	}
	return b.Bytes()
}

// tree writes files and returns their directory.
func tree(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		write(t, filepath.Join(dir, name), data)
	}
	return dir
}

func write(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

func newStore(t testing.TB) *store.Store {
	t.Helper()
	st, err := store.Temp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

func mustRun(t testing.TB, st *store.Store, o run.Options, paths ...string) run.Summary {
	t.Helper()
	s, err := run.Run(t.Context(), st, []ingest.Format{toy()}, paths, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// statuses writes a summary's results as `name status`, names relative to dir.
func statuses(dir string, s run.Summary) []string {
	var out []string
	for _, r := range s.Results {
		name, err := filepath.Rel(dir, r.Name)
		if err != nil {
			name = r.Name
		}
		out = append(out, name+" "+string(r.Status))
	}
	return out
}

func want(t testing.TB, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// attempts lists application and machine of the attempts that the store holds, in order.
func attempts(t testing.TB, st *store.Store) []string {
	t.Helper()
	eng, err := engines.Open(t.Context(), st, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	var out []string
	type row struct {
		Name string `col:"name"`
		N    int64  `col:"n"`
	}
	sql := `SELECT a.native_id AS name, count(*) AS n FROM attempts t JOIN applications a ON a.application_id = t.application_id GROUP BY a.native_id ORDER BY a.native_id NULLS LAST`
	for r, err := range engine.Read[row](t.Context(), eng, sql) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r.Name+" "+strconv.FormatInt(r.N, 10))
	}
	return out
}
