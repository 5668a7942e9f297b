package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/ingest"
	"straggler/ingest/read"
	"straggler/ingest/run"
	"straggler/schema"
	"straggler/store"
)

func TestRun(t *testing.T) {
	dir := tree(t, map[string][]byte{
		"a.log":           toyLog("a", 3),
		"sub/b.log":       append(toyLog("b", 2), "what is this\n"...),
		"c.toys/part1":    toyLog("c", 2),
		"c.toys/part2":    []byte("run host7\n"),
		"c.toys/DONE":     nil,
		"c.toys/other":    []byte("nothing to do with it"),
		"_SUCCESS":        nil,
		"README.md":       []byte("# Logs\n"),
		".git/config":     []byte("toy hidden\n"),
		"binary":          {0, 1, 2, 0xff, 0xfe, '\n', 0x1b, '['},
		"empty.log":       nil,
		"deep/er/d.log":   toyLog("d", 1),
		"looks-like.toys": toyLog("e", 1),
	})
	st := newStore(t)
	s := mustRun(t, st, run.Options{Tool: "test"}, dir)
	want(t, statuses(dir, s), []string{
		".git not recognised",
		"README.md not recognised",
		"_SUCCESS not recognised",
		"a.log read",
		"binary not recognised",
		"c.toys read",
		"c.toys/other not recognised",
		"deep/er/d.log read",
		"empty.log not recognised",
		"looks-like.toys read",
		"sub/b.log read",
	})
	want(t, attempts(t, st), []string{"a 3", "b 2", "c 3", "d 1", "e 1"})
	if s.Decoded != 15 || s.Rejects != 1 || s.Rows["attempts"] != 10 || s.Files != 6 || s.Commit == nil {
		t.Errorf("summary %+v", s)
	}
	for _, r := range s.Results {
		if r.Status == run.NotRecognised && r.Reason == "" {
			t.Errorf("%s: no reason", r.Name)
		}
		if strings.ContainsAny(r.Reason, "\x1b\x00") {
			t.Errorf("%s: the reason holds control characters: %q", r.Name, r.Reason)
		}
	}
	checkIngestRow(t, st, s)
}

func checkIngestRow(t *testing.T, st *store.Store, s run.Summary) {
	t.Helper()
	eng, err := engines.Open(t.Context(), st, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	rows := 0
	for r, err := range engine.Read[schema.Ingest](t.Context(), eng, "SELECT * FROM ingests") {
		if err != nil {
			t.Fatal(err)
		}
		rows++
		if r.IngestID != s.Commit.ID || r.RowsIn != r.RowsOut+r.Rejects || r.Rejects != s.Rejects || r.Files != s.Files ||
			r.Bytes != s.Content || r.Format != "toy" || r.ToolVersion != "test" {
			t.Errorf("ingests row %+v does not fit summary %+v", *r, s)
		}
	}
	if rows != 1 {
		t.Errorf("%d rows in ingests", rows)
	}
}

// The same inputs change nothing the second time; a log that has grown replaces its earlier rows; --again reads all.
func TestAgain(t *testing.T) {
	long := toyLog("long", 9000) // its head exceeds what a key is made from
	dir := tree(t, map[string][]byte{"long.log": long, "short.log": toyLog("short", 2), "same.log": toyLog("same", 1)})
	st := newStore(t)
	first := mustRun(t, st, run.Options{}, dir)
	again := mustRun(t, st, run.Options{}, dir)
	want(t, statuses(dir, again), []string{"long.log already there", "same.log already there", "short.log already there"})
	if again.Commit != nil {
		t.Error("a commit was made of nothing")
	}

	write(t, filepath.Join(dir, "long.log"), append(long, "run late\n"...))
	write(t, filepath.Join(dir, "short.log"), toyLog("short", 3))
	grown := mustRun(t, st, run.Options{}, dir)
	want(t, statuses(dir, grown), []string{"long.log read", "same.log already there", "short.log read"})
	want(t, attempts(t, st), []string{"long 9001", "same 1", "short 3"})
	for _, r := range grown.Results {
		if r.Status == run.Read && !r.Grown {
			t.Errorf("%s: not said to replace an earlier state", r.Name)
		}
	}
	if k := keyOf(t, st, "short.log"); k != keyOf(t, st, "short.log") || k == 0 {
		t.Error("no key")
	}

	forced := mustRun(t, st, run.Options{Again: true}, dir)
	want(t, statuses(dir, forced), []string{"long.log read", "same.log read", "short.log read"})
	want(t, attempts(t, st), []string{"long 9001", "same 1", "short 3"})
	if first.Commit.ID == grown.Commit.ID {
		t.Error("two different ingests have one id")
	}
}

func keyOf(t *testing.T, st *store.Store, base string) store.KeyText {
	t.Helper()
	inputs, err := st.Inputs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range inputs {
		if filepath.Base(in.Name) == base {
			return in.Key
		}
	}
	return 0
}

// A log shorter than 64 KiB keeps its keys while it grows, although its key was made from all of it.
func TestGrowingKeepsKey(t *testing.T) {
	dir := tree(t, map[string][]byte{"app.log.inprogress": toyLog("app", 1)})
	st := newStore(t)
	mustRun(t, st, run.Options{}, dir)
	key := keyOf(t, st, "app.log.inprogress")
	for _, n := range []int{5, 500, 50_000} {
		write(t, filepath.Join(dir, "app.log.inprogress"), toyLog("app", n))
		mustRun(t, st, run.Options{}, dir)
		if got := keyOf(t, st, "app.log.inprogress"); got != key {
			t.Errorf("with %d attempts the key is %d, was %d", n, got, key)
		}
	}
	if err := os.Rename(filepath.Join(dir, "app.log.inprogress"), filepath.Join(dir, "app.log")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "app.log"), toyLog("app", 50_001))
	mustRun(t, st, run.Options{}, dir)
	if got := keyOf(t, st, "app.log"); got != key {
		t.Errorf("renamed, the key is %d, was %d", got, key)
	}
	want(t, attempts(t, st), []string{"app 50001"})
}

// Two states of one log, and copies of one, are read once.
func TestDuplicates(t *testing.T) {
	long := toyLog("long", 9000)
	dir := tree(t, map[string][]byte{
		"a/long.log": long[:len(long)-10],
		"b/long.log": long,
		"x.log":      toyLog("x", 4),
		"x-copy.log": toyLog("x", 4),
	})
	st := newStore(t)
	s := mustRun(t, st, run.Options{}, dir, filepath.Join(dir, "x.log"), dir+"/./x.log")
	want(t, statuses(dir, s), []string{"a/long.log duplicate", "b/long.log read", "x-copy.log read", "x.log duplicate"})
	want(t, attempts(t, st), []string{"long 9000", "x 4"})
}

// Law 2: the same files give the same bytes in the store, whatever their order and however many are read at once.
func TestDeterminism(t *testing.T) {
	files := map[string][]byte{}
	for i := range 40 {
		files[fmt.Sprintf("d%d/%02d.log", i%3, i)] = append(toyLog(strconv.Itoa(i), i*i%700), "rubbish\n"...)
	}
	dir := tree(t, files)
	var paths []string
	for name := range files {
		paths = append(paths, filepath.Join(dir, name))
	}
	slices.Sort(paths)
	var first []string
	for round, o := range []run.Options{{Parallel: 1}, {Parallel: 7}, {Parallel: 3, Limits: ingest.Limits{Buffered: 1}}, {Parallel: 40}} {
		if round > 0 {
			slices.Reverse(paths)
			paths[0], paths[20] = paths[20], paths[0]
		}
		s := mustRun(t, newStore(t), o, paths...)
		var sums []string
		for _, table := range s.Commit.Tables {
			for _, f := range table.Files {
				if table.Name != "ingests" { // its rows record how long the ingest took
					sums = append(sums, f.Path+" "+f.Checksum)
				}
			}
		}
		if first == nil {
			first = sums
		}
		want(t, sums, first)
	}
}

// N shards into one store give the same as one run.
func TestShards(t *testing.T) {
	files := map[string][]byte{}
	for i := range 30 {
		files[fmt.Sprintf("%02d/history.log", i)] = toyLog(fmt.Sprint("job", i), i)
	}
	files["copy.log"] = files["07/history.log"]
	dir := tree(t, files)
	whole, parts := newStore(t), newStore(t)
	mustRun(t, whole, run.Options{}, dir)
	const n = 4
	for k := n; k >= 1; k-- {
		s := mustRun(t, parts, run.Options{Shard: run.Shard{K: k, N: n}}, dir)
		if got := s.Count(run.Read); got == 0 || got == 30 {
			t.Errorf("shard %d read %d inputs", k, got)
		}
	}
	want(t, attempts(t, parts), attempts(t, whole))
	if _, err := run.Run(t.Context(), whole, nil, nil, run.Options{Shard: run.Shard{K: 5, N: 4}}); !errors.Is(err, ingest.ErrUse) {
		t.Errorf("shard 5 of 4: error %v", err)
	}
}

// A cancelled run ends, even if it waits for a silent writer, and leaves the store unchanged.
func TestCancel(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	io.WriteString(w, "toy slow\nrun a\n")
	ctx, cancel := context.WithCancel(t.Context())
	st := newStore(t)
	ended := make(chan error, 1)
	go func() {
		_, err := run.Run(ctx, st, []ingest.Format{toy()}, []string{"-"}, run.Options{Stdin: r})
		ended <- err
	}()
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the run does not end")
	}
	if inputs, err := st.Inputs(t.Context()); err != nil || len(inputs) != 0 {
		t.Errorf("the store holds %d inputs, error %v", len(inputs), err)
	}
}

func TestProgress(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.log": toyLog("a", 100), "b.log": toyLog("b", 50)})
	var last run.Progress
	s := mustRun(t, newStore(t), run.Options{Progress: func(p run.Progress) { last = p }}, dir)
	if last.Done != 2 || last.Inputs != 2 || last.Bytes != s.Bytes || last.Total != s.Bytes || last.Rows != 152 {
		t.Errorf("the last progress is %+v of %d bytes", last, s.Bytes)
	}
}

// A log without a usable record counts as not read: the run fails, also when it meets the log again, and the store has the
// reason.
func TestNoUsableRecord(t *testing.T) {
	dir := tree(t, map[string][]byte{"bad.log": []byte("?\n?\n?\n"), "good.log": toyLog("good", 1)})
	st := newStore(t)
	for range 2 {
		s, err := run.Run(t.Context(), st, []ingest.Format{toy()}, []string{dir + "/bad.log"}, run.Options{From: "toy"})
		if !errors.Is(err, run.ErrUnreadable) || !errors.Is(err, run.ErrNoUsableRecord) || len(s.Unread()) != 1 {
			t.Errorf("error %v, %v", err, statuses(dir, s))
		}
		if got := rejects(t, st); got != 3 {
			t.Errorf("%d rejects are in the store, want 3", got)
		}
	}
	s := mustRun(t, st, run.Options{From: "toy", Again: true}, dir+"/bad.log", dir+"/good.log")
	want(t, statuses(dir, s), []string{"bad.log failed", "good.log read"})
	if got := rejects(t, st); got != 3 {
		t.Errorf("%d rejects are in the store after reading again, want 3", got)
	}
}

// A log that is read as another format than its own counts as not read: it certainly belongs to the other one, or the format
// skips all its records, and the error says what to leave out. If recognised by its content, a log may be empty except for its
// header.
func TestWrongFormat(t *testing.T) {
	skips := toy()
	skips.Read = func(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
		return read.EachLine(ctx, in.Parts[0], out, func(line read.Line) error {
			if bytes.HasPrefix(line.Data, []byte("reject")) {
				read.RejectLine(out, in.Parts[0], line, "no toy")
			} else {
				out.Decoded(1)
			}
			return nil
		})
	}
	other := skips
	other.Name, other.Claim = "other", nil
	other.Sniff = func(ingest.Head) ingest.Match { return ingest.Match{} }
	for name, c := range map[string]struct {
		data, from string
		why        string // "" if it is read
	}{
		"skipped":           {"what is this\n", "other", "without --from"},
		"a reject":          {"reject\nwhat is this\n", "other", "without --from"},
		"certainly another": {"toy a\nrun host0\n", "other", "it is toy"},
		"recognised":        {"toy a\n", "toy", ""},
		"by content":        {"toy a\n", "", ""},
	} {
		dir := tree(t, map[string][]byte{"a.log": []byte(c.data)})
		s, err := run.Run(t.Context(), newStore(t), []ingest.Format{skips, other}, []string{filepath.Join(dir, "a.log")}, run.Options{From: c.from})
		if (err != nil) != (c.why != "") || err != nil && (!errors.Is(err, run.ErrUnreadable) || !strings.Contains(err.Error(), c.why) || len(s.Unread()) != 1) {
			t.Errorf("%s: %v, %v", name, err, statuses(dir, s))
		}
	}
}

func rejects(t *testing.T, st *store.Store) (n int) {
	t.Helper()
	eng, err := engines.Open(t.Context(), st, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	for _, err := range engine.Read[schema.Reject](t.Context(), eng, "SELECT * FROM rejects") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// A thousand rejects are counted; the number kept is limited, and the application says so.
func TestRejectsAreBounded(t *testing.T) {
	dir := tree(t, map[string][]byte{"bad.log": append(toyLog("bad", 1), strings.Repeat("?\x1b[2J\xff\n", 1000)...)})
	st := newStore(t)
	s := mustRun(t, st, run.Options{Limits: ingest.Limits{Rejects: 10}}, dir)
	if s.Rejects != 1000 || s.Rows["rejects"] != 10 || s.Rows["caveats"] != 1 || s.Decoded != 2 {
		t.Errorf("summary %+v", s)
	}
	eng, err := engines.Open(t.Context(), st, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	line := int64(3)
	for r, err := range engine.Read[schema.Reject](t.Context(), eng, "SELECT * FROM rejects ORDER BY line NULLS LAST") {
		if err != nil {
			t.Fatal(err)
		}
		if r.Line.V != line || r.Sample != `?\x1b[2J\xff` || !strings.HasSuffix(r.SourceFile, "bad.log") {
			t.Errorf("reject %+v", *r)
		}
		line++
	}
	if line != 13 {
		t.Errorf("the last line is %d", line)
	}
}

// A store that becomes unwritable ends the run, and keeps its contents.
func TestStoreFails(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.log": toyLog("a", 1), "b.log": toyLog("b", 1)})
	st := newStore(t)
	mustRun(t, st, run.Options{}, filepath.Join(dir, "a.log"))
	f := toy()
	f.Read = func(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
		os.RemoveAll(filepath.Join(st.Where(), "staging"))
		return readToy(ctx, in, out)
	}
	s, err := run.Run(t.Context(), st, []ingest.Format{f}, []string{dir}, run.Options{})
	if err == nil || errors.Is(err, run.ErrUnreadable) || s.Commit != nil {
		t.Errorf("error %v, commit %v", err, s.Commit)
	}
	want(t, attempts(t, st), []string{"a 1"})
}

// Concurrent runs over the same inputs add each of them once.
func TestConcurrentRuns(t *testing.T) {
	files := map[string][]byte{}
	for i := range 6 {
		files[fmt.Sprintf("%d.log", i)] = toyLog(fmt.Sprint(i), 10+i)
	}
	dir := tree(t, files)
	st := newStore(t)
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			paths := []string{dir}
			if k%2 == 0 {
				paths = []string{filepath.Join(dir, "1.log"), filepath.Join(dir, fmt.Sprintf("%d.log", 2+k))}
			}
			if _, err := run.Run(t.Context(), st, []ingest.Format{toy()}, paths, run.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	want(t, attempts(t, st), []string{"0 10", "1 11", "2 12", "3 13", "4 14", "5 15"})
}
