package formats

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest/discover"
	"straggler/ingest/ingesttest"
	"straggler/ingest/run"
	"straggler/schema"
	"straggler/store"
)

func open(t *testing.T, dir string) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// contentOf returns the number of rows of every log table, and a checksum of them that does not depend on their order.
func contentOf(t *testing.T, st *store.Store) (lines []string) {
	t.Helper()
	eng, err := engines.Open(t.Context(), st, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	for _, table := range schema.Tables() {
		if table.Result || table.Name == "ingests" {
			continue
		}
		rows, err := eng.Query(t.Context(), "SELECT count(*), CAST(bit_xor(hash(t)) AS VARCHAR) FROM "+table.Name+" t")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			lines = append(lines, fmt.Sprintf("%s: %v rows, %v", table.Name, rows.Value(0), rows.Value(1)))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		rows.Close()
	}
	return lines
}

// families returns the directories of the real logs.
func families(t *testing.T) (dirs []string) {
	for _, dir := range ingesttest.Corpus(t, "*") {
		info, err := os.Stat(dir)
		if err == nil && info.IsDir() && filepath.Base(dir) != "ml" && filepath.Base(dir) != "labelled" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Two runs that share the inputs of a family give the same store as one run.
func TestShardsEqualOneRun(t *testing.T) {
	for _, dir := range families(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			one, shared := open(t, t.TempDir()), open(t, t.TempDir())
			s, err := run.Run(t.Context(), one, All(), []string{dir}, run.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkSummary(t, &s)
			for _, k := range []int{2, 1, 2} { // in any order, one of them twice
				if _, err := run.Run(t.Context(), shared, All(), []string{dir}, run.Options{Shard: run.Shard{K: k, N: 2}}); err != nil {
					t.Fatal(err)
				}
			}
			if want, got := contentOf(t, one), contentOf(t, shared); !slices.Equal(want, got) {
				t.Errorf("one run:\n%s\ntwo shards:\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
			}
		})
	}
}

// checkSummary checks that the summary counts the whole content of each input, also of files that are read from their ends,
// and says how each was recognised and why.
func checkSummary(t *testing.T, s *run.Summary) {
	t.Helper()
	for _, r := range s.Results {
		if r.Status != run.Read && r.Status != run.Partial {
			continue
		}
		if r.Content == 0 || r.Content < r.Bytes/2 {
			t.Errorf("%s (%s): %d bytes of content in %d of files", r.Name, r.Format, r.Content, r.Bytes)
		}
		if r.Why == "" || r.Format == "" {
			t.Errorf("%s: the summary does not say what it was taken for and why", r.Name)
		}
	}
}

// sparkLines returns the events of a small log in the repository.
func sparkLines(t *testing.T) [][]byte {
	paths, _ := filepath.Glob("../../testdata/labelled/clean/*.zstd")
	if len(paths) == 0 {
		t.Fatal("the repository has no labelled log")
	}
	in, err := discover.Find(t.Context(), All(), paths[:1], discover.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	r, err := in.Inputs[0].Parts[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return bytes.SplitAfter(bytes.TrimSpace(buf.Bytes()), []byte("\n"))
}

// A rolling log whose first files Spark has compacted since the last ingest is still the same log.
func TestCompactionCountsOnce(t *testing.T) {
	lines := sparkLines(t)
	third := len(lines) / 3
	dir := filepath.Join(t.TempDir(), "eventlog_v2_app-1")
	put := func(name string, lines ...[]byte) {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), bytes.Join(lines, nil), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put("appstatus_app-1")
	put("events_1_app-1", lines[:third]...)
	put("events_2_app-1", lines[third:2*third]...)
	put("events_3_app-1", lines[2*third:]...)
	st := open(t, t.TempDir())
	ingestDir := func() {
		if _, err := run.Run(t.Context(), st, All(), []string{dir}, run.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	ingestDir()
	before := contentOf(t, st)
	for n, keep := range [][]byte{lines[1], lines[2]} { // compacted twice: each time another event is missing
		os.Remove(filepath.Join(dir, "events_1_app-1"))
		compact := slices.DeleteFunc(slices.Clone(lines[:2*third]), func(l []byte) bool { return bytes.Equal(l, keep) })
		put(fmt.Sprintf("events_%d_app-1.compact", n+1), compact...)
		ingestDir()
		if now := contentOf(t, st); len(now) != len(before) || !strings.HasPrefix(now[0], "applications: 1 rows") {
			t.Fatalf("after compaction %d:\n%s", n+1, strings.Join(now, "\n"))
		}
	}
	inputs, err := st.Inputs(t.Context())
	if err != nil || len(inputs) != 1 {
		t.Errorf("%d inputs, error %v", len(inputs), err)
	}
}

const followed = "STRAGGLER_TEST_FOLLOW"

// TestMain lets the test binary follow a directory in a separate process, which can be killed.
func TestMain(m *testing.M) {
	if args := os.Getenv(followed); args != "" {
		dir, lake, _ := strings.Cut(args, "\n")
		st, err := store.Open(context.Background(), lake, store.Options{})
		if err == nil {
			err = run.Follow(context.Background(), st, All(), []string{dir},
				run.FollowOptions{Every: 10 * time.Millisecond, Each: func(s run.Summary, err error) { fmt.Println("round", err) }})
		}
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// A follower that is killed repeatedly, within rounds and between them, neither loses nor duplicates anything.
func TestFollowSurvivesKills(t *testing.T) {
	logs := ingesttest.Corpus(t, "jhist/*/*.jhist")
	dir, lake := t.TempDir(), t.TempDir()
	for i := 0; len(logs) > 0; i++ {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), followed+"="+dir+"\n"+lake)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range min(len(logs), 2) {
			data, err := os.ReadFile(logs[0])
			if err != nil {
				t.Fatal(err)
			}
			half := filepath.Join(dir, filepath.Base(logs[0]))
			if err := os.WriteFile(half, data[:len(data)/2], 0o666); err != nil { // a growing log
				t.Fatal(err)
			}
			if i%2 == 0 { // the follower has read something, and may be reading more
				if !bufio.NewScanner(out).Scan() {
					t.Fatal("the follower ended")
				}
			}
			if err := os.WriteFile(half, data, 0o666); err != nil {
				t.Fatal(err)
			}
			logs = logs[1:]
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
	}
	st, one := open(t, lake), open(t, t.TempDir())
	for _, s := range []*store.Store{st, one} { // removes what killed followers left behind
		if _, err := run.Run(t.Context(), s, All(), []string{dir}, run.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if want, got := rowCounts(contentOf(t, one)), rowCounts(contentOf(t, st)); !slices.Equal(want, got) {
		t.Errorf("one run:\n%s\nkilled followers:\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

// rowCounts omits the checksums: a log that was first read when it was shorter has other keys.
func rowCounts(lines []string) (counts []string) {
	for _, l := range lines {
		n, _, _ := strings.Cut(l, ",")
		counts = append(counts, n)
	}
	return counts
}
