package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"straggler/ingest"
	"straggler/schema"
	"straggler/store"
)

// toy is a format for these tests: a line `toy NAME`, then lines `run MACHINE`, each an attempt; the file parts of a
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
		return ingest.Match{Sure: 3, Why: "starts with toy"}
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
		err := ingest.EachLine(ctx, p, out, func(line ingest.Line) error {
			word, rest, _ := strings.Cut(string(line.Data), " ")
			switch {
			case word == "toy":
				out.Decoded(1)
				return ingest.Emit(out, []schema.Application{{ApplicationID: app, NativeID: rest, Framework: "toy", SourceFile: in.Name, TimeOrigin: "epoch", Status: schema.RunUnknown}})
			case word == "run" && !line.Cut:
				out.Decoded(1)
				return ingest.Emit(out, []schema.Attempt{{AttemptID: keys["attempts"].Next(), ApplicationID: app, NativeID: rest, Machine: schema.Some(rest), Status: schema.Success}})
			case word == "fail":
				return errors.New("this toy gives up")
			case word == "panic":
				panic("this toy breaks")
			}
			out.RejectLine(p, line, "not a toy line")
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// toyLog is a toy log with n attempts.
func toyLog(name string, n int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "toy %s\n", name)
	for i := range n {
		fmt.Fprintf(&b, "run host%d\n", i)
	}
	return b.Bytes()
}

// tree writes files and gives their directory.
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

func run(t testing.TB, st *store.Store, o ingest.Options, paths ...string) ingest.Summary {
	t.Helper()
	s, err := ingest.Run(t.Context(), st, []ingest.Format{toy()}, paths, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// statuses writes a summary's results as `name status`, names relative to dir.
func statuses(dir string, s ingest.Summary) []string {
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
	eng, err := st.Engine(t.Context(), store.EngineOptions{})
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
	for r, err := range store.Read[row](t.Context(), eng, sql) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r.Name+" "+strconv.FormatInt(r.N, 10))
	}
	return out
}

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
	s := run(t, st, ingest.Options{Tool: "test"}, dir)
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
		if r.Status == ingest.NotRecognised && r.Reason == "" {
			t.Errorf("%s: no reason", r.Name)
		}
		if strings.ContainsAny(r.Reason, "\x1b\x00") {
			t.Errorf("%s: the reason holds control characters: %q", r.Name, r.Reason)
		}
	}
	checkIngestRow(t, st, s)
}

func checkIngestRow(t *testing.T, st *store.Store, s ingest.Summary) {
	t.Helper()
	eng, err := st.Engine(t.Context(), store.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	rows := 0
	for r, err := range store.Read[schema.Ingest](t.Context(), eng, "SELECT * FROM ingests") {
		if err != nil {
			t.Fatal(err)
		}
		rows++
		if r.IngestID != s.Commit.ID || r.RowsIn != r.RowsOut+r.Rejects || r.Rejects != s.Rejects || r.Files != s.Files || r.Bytes != s.Content || r.Format != "toy" || r.ToolVersion != "test" {
			t.Errorf("ingests row %+v does not fit summary %+v", *r, s)
		}
	}
	if rows != 1 {
		t.Errorf("%d rows in ingests", rows)
	}
}

// The same inputs again change nothing; a log that has grown replaces what was read of it; --again reads all.
func TestAgain(t *testing.T) {
	long := toyLog("long", 9000) // its head is beyond what a key is made of
	dir := tree(t, map[string][]byte{"long.log": long, "short.log": toyLog("short", 2), "same.log": toyLog("same", 1)})
	st := newStore(t)
	first := run(t, st, ingest.Options{}, dir)
	again := run(t, st, ingest.Options{}, dir)
	want(t, statuses(dir, again), []string{"long.log already there", "same.log already there", "short.log already there"})
	if again.Commit != nil {
		t.Error("a commit was made of nothing")
	}

	write(t, filepath.Join(dir, "long.log"), append(long, "run late\n"...))
	write(t, filepath.Join(dir, "short.log"), toyLog("short", 3))
	grown := run(t, st, ingest.Options{}, dir)
	want(t, statuses(dir, grown), []string{"long.log read", "same.log already there", "short.log read"})
	want(t, attempts(t, st), []string{"long 9001", "same 1", "short 3"})
	for _, r := range grown.Results {
		if r.Status == ingest.Read && !r.Grown {
			t.Errorf("%s: not said to replace an earlier state", r.Name)
		}
	}
	if k := keyOf(t, st, "short.log"); k != keyOf(t, st, "short.log") || k == 0 {
		t.Error("no key")
	}

	forced := run(t, st, ingest.Options{Again: true}, dir)
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

// A log shorter than 64 KiB keeps its keys while it grows, though its key was made of all that there was of it.
func TestGrowingKeepsKey(t *testing.T) {
	dir := tree(t, map[string][]byte{"app.log.inprogress": toyLog("app", 1)})
	st := newStore(t)
	run(t, st, ingest.Options{}, dir)
	key := keyOf(t, st, "app.log.inprogress")
	for _, n := range []int{5, 500, 50_000} {
		write(t, filepath.Join(dir, "app.log.inprogress"), toyLog("app", n))
		run(t, st, ingest.Options{}, dir)
		if got := keyOf(t, st, "app.log.inprogress"); got != key {
			t.Errorf("with %d attempts the key is %d, was %d", n, got, key)
		}
	}
	if err := os.Rename(filepath.Join(dir, "app.log.inprogress"), filepath.Join(dir, "app.log")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "app.log"), toyLog("app", 50_001))
	run(t, st, ingest.Options{}, dir)
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
	s := run(t, st, ingest.Options{}, dir, filepath.Join(dir, "x.log"), dir+"/./x.log")
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
	for round, o := range []ingest.Options{{Parallel: 1}, {Parallel: 7}, {Parallel: 3, Limits: ingest.Limits{Buffered: 1}}, {Parallel: 40}} {
		if round > 0 {
			slices.Reverse(paths)
			paths[0], paths[20] = paths[20], paths[0]
		}
		s := run(t, newStore(t), o, paths...)
		var sums []string
		for _, table := range s.Commit.Tables {
			for _, f := range table.Files {
				if table.Name != "ingests" { // it says how long the ingest took
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

// N shards into one store give what one run gives.
func TestShards(t *testing.T) {
	files := map[string][]byte{}
	for i := range 30 {
		files[fmt.Sprintf("%02d/history.log", i)] = toyLog(fmt.Sprint("job", i), i)
	}
	files["copy.log"] = files["07/history.log"]
	dir := tree(t, files)
	whole, parts := newStore(t), newStore(t)
	run(t, whole, ingest.Options{}, dir)
	const n = 4
	for k := n; k >= 1; k-- {
		s := run(t, parts, ingest.Options{Shard: ingest.Shard{K: k, N: n}}, dir)
		if got := s.Count(ingest.Read); got == 0 || got == 30 {
			t.Errorf("shard %d read %d inputs", k, got)
		}
	}
	want(t, attempts(t, parts), attempts(t, whole))
	if _, err := ingest.Run(t.Context(), whole, nil, nil, ingest.Options{Shard: ingest.Shard{K: 5, N: 4}}); !errors.Is(err, ingest.ErrUse) {
		t.Errorf("shard 5 of 4: error %v", err)
	}
}

// One bad input spoils nothing.
func TestBadInputs(t *testing.T) {
	dir := tree(t, map[string][]byte{
		"fail.log":  []byte("toy fail\nrun a\nfail\n"),
		"fail2.log": []byte("toy \xff\x1b[31m\n"),
		"good.log":  toyLog("good", 2),
		"panic.log": []byte("panic\n"),
		"mid.log":   []byte("toy mid\nrun a\npanic\nrun b\n"),
		"zero.log":  []byte("toy nul\nrun \x00\xff<script>\n\x00\n"),
	})
	if err := os.WriteFile(filepath.Join(dir, "panic.log"), []byte("toy \npanic\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	st := newStore(t)
	s := run(t, st, ingest.Options{}, dir)
	want(t, statuses(dir, s), []string{"fail.log read in part", "fail2.log read", "good.log read", "mid.log read in part", "panic.log read in part", "zero.log read"})
	if bad := s.Unread(); len(bad) != 3 || !errors.Is(bad[1].Err, ingest.ErrInternal) {
		t.Errorf("%d inputs unread", len(bad))
	}
	// What could not be read is remembered: the next run does not read it again, but says so.
	s = run(t, st, ingest.Options{}, dir)
	want(t, statuses(dir, s), []string{"fail.log already there", "fail2.log already there", "good.log already there", "mid.log already there", "panic.log already there", "zero.log already there"})
	if r := s.Results[4]; !strings.Contains(r.Reason, "this toy breaks") {
		t.Errorf("the reason %q does not say what broke", r.Reason)
	}
	if !strings.Contains(s.Results[0].Reason, "gives up") {
		t.Errorf("the reason %q does not say why it was read in part", s.Results[0].Reason)
	}
}

func TestNothingGood(t *testing.T) {
	dir := tree(t, map[string][]byte{"empty": nil, "junk": {1, 2, 3}, "d/README": []byte("hello"), "fail.log": []byte("toy x\n")})
	refuses := toy()
	refuses.Read = func(context.Context, *ingest.Input, *ingest.Sink) error { return errors.New("refused") }
	other := toy()
	other.Name = "other"
	for _, c := range []struct {
		name    string
		formats []ingest.Format
		paths   []string
		o       ingest.Options
		kinds   []error
	}{
		{"directory without logs", []ingest.Format{toy()}, []string{dir + "/d"}, ingest.Options{}, []error{ingest.ErrNothingToRead}},
		{"no arguments", []ingest.Format{toy()}, nil, ingest.Options{}, []error{ingest.ErrNothingToRead}},
		{"named empty file", []ingest.Format{toy()}, []string{dir + "/empty"}, ingest.Options{}, []error{ingest.ErrUnreadable, ingest.ErrNotRecognised}},
		{"named junk", []ingest.Format{toy()}, []string{dir + "/junk"}, ingest.Options{}, []error{ingest.ErrUnreadable, ingest.ErrNotRecognised}},
		{"missing file", []ingest.Format{toy()}, []string{dir + "/none"}, ingest.Options{}, []error{ingest.ErrUnreadable, os.ErrNotExist}},
		{"pattern that matches nothing", []ingest.Format{toy()}, []string{dir + "/*.none"}, ingest.Options{}, []error{ingest.ErrUnreadable, os.ErrNotExist}},
		{"reader that refuses", []ingest.Format{refuses}, []string{dir + "/fail.log"}, ingest.Options{}, []error{ingest.ErrUnreadable}},
		{"two formats", []ingest.Format{toy(), other}, []string{dir + "/fail.log"}, ingest.Options{}, []error{ingest.ErrUnreadable, ingest.ErrAmbiguous}},
		{"unknown --from", []ingest.Format{toy()}, []string{dir + "/fail.log"}, ingest.Options{From: "toys"}, []error{ingest.ErrUnknownFormat}},
	} {
		st := newStore(t)
		s, err := ingest.Run(t.Context(), st, c.formats, c.paths, c.o)
		for _, kind := range c.kinds {
			if !errors.Is(err, kind) {
				t.Errorf("%s: error %v is not %v", c.name, err, kind)
			}
		}
		if inputs, err := st.Inputs(t.Context()); err != nil || len(inputs) != 0 || s.Commit != nil {
			t.Errorf("%s: the store holds %d inputs, error %v", c.name, len(inputs), err)
		}
	}
	st := newStore(t)
	if s, err := ingest.Run(t.Context(), st, []ingest.Format{toy(), other}, []string{dir + "/fail.log"}, ingest.Options{From: "other"}); err != nil || s.Results[0].Format != "other" {
		t.Errorf("--from does not settle a tie: %v", err)
	}
	other.Sniff = func(ingest.Head) ingest.Match { return ingest.Match{} }
	mixed := tree(t, map[string][]byte{"d/toy.log": toyLog("toy", 1)})
	s, err := ingest.Run(t.Context(), st, []ingest.Format{toy(), other}, []string{mixed + "/d"}, ingest.Options{From: "other"})
	if !errors.Is(err, ingest.ErrNothingToRead) || len(s.Results) != 1 || !strings.Contains(s.Results[0].Reason, "it is toy") {
		t.Errorf("--from does not say what the files of a directory are: %v, %+v", err, s.Results)
	}
}

// Files that go away between being listed and being read, and files whose reading fails.
func TestVanishing(t *testing.T) {
	dir := tree(t, map[string][]byte{"gone.log": toyLog("gone", 1), "good.log": toyLog("good", 1), "dir.log": toyLog("dir", 1)})
	f := toy()
	f.Sniff = func(h ingest.Head) ingest.Match {
		switch h.Name {
		case "gone.log":
			os.Remove(filepath.Join(dir, h.Name))
		case "dir.log":
			os.Remove(filepath.Join(dir, h.Name))
			os.Mkdir(filepath.Join(dir, h.Name), 0o777)
		}
		return sniffToy(h)
	}
	s, err := ingest.Run(t.Context(), newStore(t), []ingest.Format{f}, []string{dir}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want(t, statuses(dir, s), []string{"dir.log failed", "gone.log failed", "good.log read"})
	if !errors.Is(s.Results[1].Err, os.ErrNotExist) || !strings.Contains(s.Results[1].Reason, "vanished") {
		t.Errorf("error %v", s.Results[1].Err)
	}
}

func TestUnreadable(t *testing.T) {
	dir := tree(t, map[string][]byte{"good.log": toyLog("good", 1), "secret.log": toyLog("secret", 1), "closed/in.log": toyLog("in", 1)})
	s := ingest.Summary{}
	switch {
	case os.Geteuid() != 0:
		os.Chmod(filepath.Join(dir, "secret.log"), 0)
		os.Chmod(filepath.Join(dir, "closed"), 0)
		defer os.Chmod(filepath.Join(dir, "closed"), 0o777)
		s = run(t, newStore(t), ingest.Options{}, dir)
		want(t, statuses(dir, s), []string{"closed failed", "good.log read", "secret.log failed"})
	case runtime.GOOS == "linux":
		// Root reads everything, except the memory of a process at address 0.
		s = run(t, newStore(t), ingest.Options{}, filepath.Join(dir, "good.log"), "/proc/self/mem")
		if got := s.Unread(); len(got) != 1 || got[0].Name != "/proc/self/mem" || s.Count(ingest.Read) != 1 {
			t.Errorf("%v", statuses(dir, s))
		}
	default:
		t.Skip("no file can be made unreadable for this user")
	}
}

func TestSymbolicLinks(t *testing.T) {
	dir := tree(t, map[string][]byte{"z/real.log": toyLog("real", 2), "other.log": toyLog("other", 1)})
	for link, to := range map[string]string{
		"a-loop":       ".",
		"z/up":         "..",
		"b-dir":        "z",
		"c-file.log":   "other.log",
		"d-broken.log": "nowhere",
		"e-self":       "e-self",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here")
		}
	}
	st := newStore(t)
	s := run(t, st, ingest.Options{}, dir)
	want(t, statuses(dir, s), []string{"d-broken.log not recognised", "e-self not recognised", "other.log read", "z/real.log read"})
	// Named itself, a link is followed.
	s = run(t, newStore(t), ingest.Options{}, filepath.Join(dir, "b-dir"), filepath.Join(dir, "c-file.log"))
	want(t, statuses(dir, s), []string{"b-dir/real.log read", "b-dir/up/d-broken.log not recognised", "b-dir/up/e-self not recognised", "c-file.log read"})
}

func TestStandardInput(t *testing.T) {
	for name, data := range map[string][]byte{"plain": toyLog("in", 5), "gzip": gzipped(t, toyLog("in", 5))} {
		st := newStore(t)
		for round, status := range []ingest.Status{ingest.Read, ingest.AlreadyThere} {
			s := run(t, st, ingest.Options{Stdin: pipe(t, data)}, "-")
			if s.Results[0].Status != status || s.Results[0].Bytes != int64(len(data)) {
				t.Errorf("%s, round %d: %+v", name, round, s.Results[0])
			}
		}
		want(t, attempts(t, st), []string{"in 5"})
	}
}

// A stream that nobody reads to its end leaves nothing behind that waits for it.
func TestUnwantedStream(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, "what is this\n")
		w.Close()
		if _, err := ingest.Run(t.Context(), newStore(t), []ingest.Format{toy()}, []string{"-"}, ingest.Options{Stdin: r}); !errors.Is(err, ingest.ErrNotRecognised) {
			t.Fatal(err)
		}
	}
	for tries := 0; runtime.NumGoroutine() > before+5; tries++ {
		if tries == 1000 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

func pipe(t testing.TB, data []byte) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		w.Write(data)
		w.Close()
	}()
	t.Cleanup(func() { r.Close() })
	return r
}

// A run that is cancelled ends, even when it waits for a writer that says nothing, and leaves the store as it was.
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
		_, err := ingest.Run(ctx, st, []ingest.Format{toy()}, []string{"-"}, ingest.Options{Stdin: r})
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
	var last ingest.Progress
	s := run(t, newStore(t), ingest.Options{Progress: func(p ingest.Progress) { last = p }}, dir)
	if last.Done != 2 || last.Inputs != 2 || last.Bytes != s.Bytes || last.Total != s.Bytes || last.Rows != 152 {
		t.Errorf("the last progress is %+v of %d bytes", last, s.Bytes)
	}
}

// A thousand rejects are counted; as many as the limit says are kept, and the application says so.
func TestRejectsAreBounded(t *testing.T) {
	dir := tree(t, map[string][]byte{"bad.log": append(toyLog("bad", 1), strings.Repeat("?\x1b[2J\xff\n", 1000)...)})
	st := newStore(t)
	s := run(t, st, ingest.Options{Limits: ingest.Limits{Rejects: 10}}, dir)
	if s.Rejects != 1000 || s.Rows["rejects"] != 10 || s.Rows["caveats"] != 1 || s.Decoded != 2 {
		t.Errorf("summary %+v", s)
	}
	eng, err := st.Engine(t.Context(), store.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	line := int64(3)
	for r, err := range store.Read[schema.Reject](t.Context(), eng, "SELECT * FROM rejects ORDER BY line NULLS LAST") {
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

// A store that can not be written to any more ends the run, and holds what it held.
func TestStoreFails(t *testing.T) {
	dir := tree(t, map[string][]byte{"a.log": toyLog("a", 1), "b.log": toyLog("b", 1)})
	st := newStore(t)
	run(t, st, ingest.Options{}, filepath.Join(dir, "a.log"))
	f := toy()
	f.Read = func(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
		os.RemoveAll(filepath.Join(st.Where(), "staging"))
		return readToy(ctx, in, out)
	}
	s, err := ingest.Run(t.Context(), st, []ingest.Format{f}, []string{dir}, ingest.Options{})
	if err == nil || errors.Is(err, ingest.ErrUnreadable) || s.Commit != nil {
		t.Errorf("error %v, commit %v", err, s.Commit)
	}
	want(t, attempts(t, st), []string{"a 1"})
}

// Runs that bring the same inputs at the same time bring each of them once.
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
			if _, err := ingest.Run(t.Context(), st, []ingest.Format{toy()}, paths, ingest.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	want(t, attempts(t, st), []string{"0 10", "1 11", "2 12", "3 13", "4 14", "5 15"})
}
