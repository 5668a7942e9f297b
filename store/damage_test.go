package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"straggler/schema"
	"straggler/store/storetest"
)

// TestDamageIsFound damages each file of a store in each way. Verify must name the file and say what to do; an engine must not
// open a store with damage that is easily detected; and nothing may panic.
func TestDamageIsFound(t *testing.T) {
	flip := func(at func(n int) int) func(t *testing.T, name string) {
		return func(t *testing.T, name string) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			data[at(len(data))] ^= 0x10
			if err := os.WriteFile(name, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	cut := func(at func(n int64) int64) func(t *testing.T, name string) {
		return func(t *testing.T, name string) {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(name, at(info.Size())); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, name string)
		sees   bool // an engine sees it when it opens
	}{
		{"cut to nothing", cut(func(int64) int64 { return 0 }), true},
		{"cut in the middle", cut(func(n int64) int64 { return n / 2 }), true},
		{"one byte short", cut(func(n int64) int64 { return n - 1 }), true},
		{"a bit flipped at the start", flip(func(int) int { return 10 }), false},
		{"a bit flipped in the middle", flip(func(n int) int { return n / 2 }), false},
		{"a bit flipped in the footer", flip(func(n int) int { return n - 12 }), false},
		{"one byte longer", func(t *testing.T, name string) {
			data, err := os.ReadFile(name)
			if err := errors.Join(err, os.WriteFile(name, append(data, 'x'), 0o666)); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"missing", func(t *testing.T, name string) {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"a link elsewhere", func(t *testing.T, name string) {
			if err := errors.Join(os.Rename(name, name+".away"), os.Symlink(name+".away", name)); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"a directory", func(t *testing.T, name string) {
			if err := errors.Join(os.Remove(name), os.Mkdir(name, 0o777)); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		s := testStore(t)
		ingest(t, s, 7, storetest.Attempts(7, 100))
		file := storetest.ParquetFile(t, filepath.Join(s.Where(), "tables", "attempts"))
		c.damage(t, file)
		found, err := s.Verify(t.Context())
		if err != nil || len(found) == 0 || !errors.Is(found[0].Err, ErrDamaged) || s.path(found[0].File) != file ||
			found[0].Problem == "" || !strings.Contains(found[0].Advice, "ingest") {
			t.Errorf("%s: Verify says %+v %v", c.name, found, err)
		}
		if _, err := scanned[schema.Attempt](t.Context(), snapshot(t, s)); err != nil || c.sees {
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(file)) ||
				!c.sees && !strings.Contains(err.Error(), "straggler store verify") {
				t.Errorf("%s: a reader is told %v", c.name, err)
			}
		}
	}
}

// TestDamagedCommits damages the commit file.
func TestDamagedCommits(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(data string) string
		kind   error
	}{
		{"empty", func(string) string { return "" }, ErrDamaged},
		{"cut", func(s string) string { return s[:len(s)/2] }, ErrDamaged},
		{"not JSON", func(string) string { return "hello" }, ErrDamaged},
		{"another row count", func(s string) string { return strings.Replace(s, `"rows": 100`, `"rows": 101`, 1) }, ErrDamaged},
		{"another key", func(s string) string { return strings.Replace(s, `"key": "7"`, `"key": "8"`, 1) }, ErrDamaged},
		{"a number for a text", func(s string) string { return strings.Replace(s, `"kind": "log"`, `"kind": 1`, 1) }, ErrDamaged},
		{"of a newer straggler", func(s string) string { return strings.Replace(s, `"format": 1`, `"format": 4`, 1) }, ErrNewer},
		{"of a newer straggler, with more than we know",
			func(s string) string { return strings.Replace(s, `"format": 1`, `"format": 4, "more": 1`, 1) }, ErrNewer},
		{"with more than we know", func(s string) string { return strings.Replace(s, `"tool"`, `"more": 1, "tool"`, 1) }, ErrDamaged},
	} {
		s := testStore(t)
		ingest(t, s, 7, storetest.Attempts(7, 100))
		name := filepath.Join(s.Where(), "commits", "00000001.json")
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		damaged := c.damage(string(data))
		if damaged == string(data) {
			t.Fatalf("%s: nothing was damaged", c.name)
		}
		if err := os.WriteFile(name, []byte(damaged), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Snapshot(t.Context()); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the engine says %v", c.name, err)
		}
		if _, err := s.Begin(t.Context(), Origin{Kind: Log}); !errors.Is(err, c.kind) {
			t.Errorf("%s: Begin says %v", c.name, err)
		}
		found, err := s.Verify(t.Context())
		if err != nil || len(found) != 1 || found[0].File != "commits/00000001.json" || !errors.Is(found[0].Err, c.kind) {
			t.Errorf("%s: Verify says %+v %v", c.name, found, err)
		}
		if newer := c.kind == ErrNewer; newer == strings.Contains(found[0].Advice, "remove") || newer != strings.Contains(found[0].Advice, "install a version") {
			t.Errorf("%s: the advice is %q", c.name, found[0].Advice)
		}
	}
}

// sealed returns a commit with the checksum of its content, as an attacker could.
func sealed(t *testing.T, c Commit) []byte {
	t.Helper()
	data, err := c.encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCommitsNameFilesOfTheStoreOnly(t *testing.T) {
	for _, path := range []string{"/etc/passwd", "../x.parquet", "tables/attempts/../../x", "tables/jobs/x.parquet", "tables/attempts/a/b", "x", "", "tables/attempts/"} {
		c := Commit{Format: 1, Sequence: 1, Kind: Log, Tables: []TableRecord{{Name: "attempts", Files: []FileRecord{{Path: path}}}}}
		if _, err := decodeCommit(sealed(t, c), 1); !errors.Is(err, ErrDamaged) {
			t.Errorf("a commit may name %q: %v", path, err)
		}
	}
	good := Commit{Format: 1, Sequence: 1, Kind: Log, Tables: []TableRecord{{Name: "attempts", Files: []FileRecord{{Path: "tables/attempts/x-0.parquet"}}}}}
	if _, err := decodeCommit(sealed(t, good), 1); err != nil {
		t.Error(err)
	}
	if _, err := decodeCommit(sealed(t, good), 2); !errors.Is(err, ErrDamaged) {
		t.Error("a commit may have another sequence number than its file:", err)
	}
}

func FuzzDecodeCommit(f *testing.F) {
	c := Commit{Format: 1, Sequence: 3, ID: "x", Kind: Detect, State: "s",
		Inputs:  []InputRecord{{Name: "log", Key: 5, Rows: map[string]int64{"jobs": 1}, Extra: json.RawMessage(`{"a": 1}`)}},
		Retired: []KeyText{4}, Replaced: []int64{1}, Ingests: []IngestRecord{{"i", 9}},
		Tables: []TableRecord{{Name: "jobs", Columns: []string{"a BIGINT"},
			Files: []FileRecord{{Path: "tables/jobs/x-0.parquet", Bytes: 1, Rows: 1, Checksum: "0"}}}}}
	data, err := c.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"format": 1}`))
	f.Add([]byte(`{"format": 1e9, "sequence": "x"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decodeCommit(data, 3)
		if err != nil {
			return
		}
		again, err := c.encode()
		if err != nil {
			t.Fatal(err)
		}
		if d, err := decodeCommit(again, 3); err != nil || !reflect.DeepEqual(c, d) {
			t.Errorf("what was accepted is %+v, and written and read again %+v, %v", c, d, err)
		}
	})
}

func TestReadOnly(t *testing.T) {
	s := testStore(t)
	ingest(t, s, 7, storetest.Attempts(7, 100))
	walkModes := func(dirs, files os.FileMode) {
		err := filepath.WalkDir(s.Where(), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				return os.Chmod(path, dirs)
			}
			return os.Chmod(path, files)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	walkModes(0o555, 0o444)
	defer walkModes(0o755, 0o644)
	before := storetest.Tree(t, s.Where())
	ro, err := Open(t.Context(), s.Where(), Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(visible[schema.Attempt](t, ro)); n != 100 {
		t.Errorf("%d rows", n)
	}
	if _, err := ro.List(t.Context()); err != nil {
		t.Error(err)
	}
	if found, err := ro.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := ro.Begin(t.Context(), Origin{Kind: Log}); err == nil || !strings.Contains(err.Error(), "reading only") {
		t.Errorf("Begin gave %v", err)
	}
	if os.Geteuid() != 0 { // root may write anyway
		if _, err := s.Begin(t.Context(), Origin{Kind: Log}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("Begin gave %v", err)
		}
	}
	if after := storetest.Tree(t, s.Where()); after != before {
		t.Errorf("files changed from\n%s\nto\n%s", before, after)
	}
}

func TestOpenRefuses(t *testing.T) {
	base := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(base, "file"), nil, 0o666), os.Mkdir(filepath.Join(base, "full"), 0o777),
		os.WriteFile(filepath.Join(base, "full", "thesis.tex"), nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), filepath.Join(base, "missing"), Options{ReadOnly: true}); !errors.Is(err, ErrNotStore) {
		t.Errorf("a missing directory gave %v", err)
	}
	if _, err := Open(t.Context(), filepath.Join(base, "full"), Options{}); !errors.Is(err, ErrNotStore) || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("a directory of other things gave %v", err)
	}
	for _, readOnly := range []bool{false, true} {
		if _, err := Open(t.Context(), filepath.Join(base, "file"), Options{ReadOnly: readOnly}); !errors.Is(err, ErrNotStore) ||
			!strings.Contains(err.Error(), "it is a file") {
			t.Errorf("a file gave %v", err)
		}
	}
	if _, err := os.Stat(filepath.Join(base, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("opening for reading made a directory")
	}
}

// TestReadersKeepTheirFiles: a compaction does not remove files of an open snapshot, and a later one does.
func TestReadersKeepTheirFiles(t *testing.T) {
	s := testStore(t)
	ingest(t, s, 1, storetest.Attempts(1, 10))
	ingest(t, s, 2, storetest.Attempts(2, 10))
	reader, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Compact(t.Context(), "test")
	if err != nil || !c.Postponed || c.Commits != 2 || c.Rows != 20 || c.Removed != 0 {
		t.Fatalf("the compaction did %+v, %v", c, err)
	}
	if rows, err := scanned[schema.Attempt](t.Context(), reader); err != nil || len(rows) != 20 {
		t.Errorf("the reader finds %d rows, %v", len(rows), err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err = s.Compact(t.Context(), "test"); err != nil || c.Postponed || c.Into != "" {
		t.Errorf("the second compaction did %+v, %v", c, err)
	}
	if list, err := s.List(t.Context()); err != nil || len(list) != 1 || list[0].Rows != 20 || len(list[0].Inputs) != 2 {
		t.Errorf("left are %+v, %v", list, err)
	}
	if files, err := filepath.Glob(filepath.Join(s.Where(), "tables", "*", "*")); err != nil || len(files) != 1 {
		t.Errorf("left are %v, %v", files, err)
	}
}

// TestOlderColumns reads and compacts files of a schema that had fewer columns. Missing columns that can be NULL are; others
// keep the rows from being read.
func TestOlderColumns(t *testing.T) {
	for _, c := range []struct {
		without string
		fails   bool
	}{{"machine", false}, {"status", true}} {
		s := testStore(t)
		older := *schema.ByName("attempts")
		older.Columns = slices.DeleteFunc(slices.Clone(older.Columns), func(col schema.Column) bool { return col.Name == c.without })
		tx, err := s.Begin(t.Context(), Origin{Kind: Log})
		if err != nil {
			t.Fatal(err)
		}
		rows := storetest.Attempts(7, 10)
		if err := tx.Append(7, older.Batch(reflect.ValueOf(rows))); err != nil {
			t.Fatal(err)
		}
		if err := tx.Input(InputRecord{Name: "log", Key: 7, Fingerprint: "f"}); err != nil {
			t.Fatal(err)
		}
		commit, err := tx.finish()
		if err != nil {
			t.Fatal(err)
		}
		commit.Tables[0].Columns = columnTexts(&older)
		if err := errors.Join(tx.publish(t.Context(), commit), tx.Abort()); err != nil {
			t.Fatal(err)
		}
		ingest(t, s, 8, storetest.Attempts(8, 10))
		if c.fails {
			_, err := scanned[schema.Attempt](t.Context(), snapshot(t, s))
			_, cerr := s.Compact(t.Context(), "test")
			for _, err := range []error{err, cerr} {
				if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "lacks the column "+c.without) {
					t.Errorf("without %s: %v", c.without, err)
				}
			}
			continue
		}
		for i := range rows {
			rows[i].Machine = schema.Null[string]{}
		}
		want := slices.Concat(rows, storetest.Attempts(8, 10))
		for _, what := range []string{"before", "after"} {
			if got := visible[schema.Attempt](t, s); !slices.Equal(got, want) {
				t.Errorf("%s the compaction: %+v", what, got)
			}
			if _, err := s.Compact(t.Context(), "test"); err != nil {
				t.Error(err)
			}
		}
	}
}

// A store whose directory of tables was removed is damaged, and the error says what to do.
func TestTablesGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ingest(t, s, 1, storetest.Attempts(1, 5))
	if err := os.RemoveAll(filepath.Join(dir, "tables")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Snapshot(t.Context()); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "restore it from a copy") {
		t.Errorf("a reader is told %v", err)
	}
}

// A store cannot be where no directory can be, or where SQL cannot name its files; the error says so before anything is written.
func TestImpossiblePlaces(t *testing.T) {
	base := t.TempDir()
	if err := os.Symlink("nowhere", filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	for name, says := range map[string]string{"link": "cannot be created", "caf\xe9": "not valid UTF-8", "caf\xe9/store": "not valid UTF-8"} {
		if _, err := Open(t.Context(), filepath.Join(base, name), Options{}); !errors.Is(err, ErrNotStore) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", name, err)
		}
	}
	t.Setenv("STRAGGLER_CACHE", filepath.Join(base, "caf\xe9"))
	if _, err := Open(t.Context(), "file://"+base+"/bucket", Options{}); !errors.Is(err, ErrCache) || !strings.Contains(err.Error(), "not valid UTF-8") {
		t.Errorf("the cache: %v", err)
	}
	if names, err := os.ReadDir(base); err != nil || len(names) > 2 {
		t.Errorf("there are %v, %v", names, err)
	}
}
