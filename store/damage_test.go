package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"straggler/schema"
)

// TestDamageIsFound damages each file of a store in each way. Verify must name the file and say what to do; an engine
// must not open over what is damaged where a look tells; and nothing may panic.
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
		ingest(t, s, 7, attempts(7, 100))
		file := existing(t, filepath.Join(s.Where(), "tables", "attempts"))
		c.damage(t, file)
		found, err := s.Verify(t.Context())
		if err != nil || len(found) == 0 || !found[0].Damage || s.at.show(found[0].File) != file || found[0].Problem == "" || !strings.Contains(found[0].Advice, "ingest") {
			t.Errorf("%s: Verify says %+v %v", c.name, found, err)
		}
		eng, err := s.Engine(t.Context(), EngineOptions{})
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: the engine says %v", c.name, err)
		}
		if c.sees && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(file))) {
			t.Errorf("%s: the engine says %v", c.name, err)
		}
		if err == nil {
			if _, err := count(t.Context(), eng, "SELECT * FROM attempts"); err != nil && !strings.Contains(err.Error(), "straggler store verify") {
				t.Errorf("%s: the query's error does not say what to do: %v", c.name, err)
			}
			eng.Close()
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
		{"of a newer straggler", func(s string) string { return strings.Replace(s, `"format": 1`, `"format": 2`, 1) }, ErrNewer},
		{"with more than we know", func(s string) string { return strings.Replace(s, `"tool"`, `"more": 1, "tool"`, 1) }, ErrDamaged},
	} {
		s := testStore(t)
		ingest(t, s, 7, attempts(7, 100))
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
		if _, err := s.Engine(t.Context(), EngineOptions{}); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the engine says %v", c.name, err)
		}
		if _, err := s.Begin(t.Context(), Origin{Kind: Log}); !errors.Is(err, c.kind) {
			t.Errorf("%s: Begin says %v", c.name, err)
		}
		found, err := s.Verify(t.Context())
		if err != nil || len(found) != 1 || found[0].File != "commits/00000001.json" || !found[0].Damage {
			t.Errorf("%s: Verify says %+v %v", c.name, found, err)
		}
	}
}

// sealed gives a commit the checksum of its content, as somebody could who wants to lead straggler astray.
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
	c := Commit{Format: 1, Sequence: 3, ID: "x", Kind: Detect, State: "s", Inputs: []InputRecord{{Name: "log", Key: 5, Rows: map[string]int64{"jobs": 1}, Extra: json.RawMessage(`{"a": 1}`)}},
		Retired: []KeyText{4}, Replaced: []int64{1}, Ingests: []IngestRecord{{"i", 9}}, Tables: []TableRecord{{Name: "jobs", Columns: []string{"a BIGINT"}, Files: []FileRecord{{Path: "tables/jobs/x-0.parquet", Bytes: 1, Rows: 1, Checksum: "0"}}}}}
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
	ingest(t, s, 7, attempts(7, 100))
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
	before := tree(t, s.Where())
	ro, err := Open(t.Context(), s.Where(), Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	eng := testEngine(t, ro, EngineOptions{Locked: true})
	if n, err := count(t.Context(), eng, "SELECT * FROM attempts"); err != nil || n != 100 {
		t.Errorf("%d rows, %v", n, err)
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
	if after := tree(t, s.Where()); after != before {
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
	if _, err := Open(t.Context(), filepath.Join(base, "file"), Options{}); err == nil {
		t.Error("a file is taken for a store")
	}
	if _, err := os.Stat(filepath.Join(base, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("opening for reading made a directory")
	}
}

// TestReadersKeepTheirFiles: a compaction does not take away what an engine reads, and a later one does.
func TestReadersKeepTheirFiles(t *testing.T) {
	s := testStore(t)
	ingest(t, s, 1, attempts(1, 10))
	ingest(t, s, 2, attempts(2, 10))
	eng := testEngine(t, s, EngineOptions{Locked: true})
	c, err := s.Compact(t.Context(), "test")
	if err != nil || !c.Postponed || c.Commits != 2 || c.Rows != 20 || c.Removed != 0 {
		t.Fatalf("the compaction did %+v, %v", c, err)
	}
	if n, err := count(t.Context(), eng, "SELECT * FROM attempts"); err != nil || n != 20 {
		t.Errorf("the engine finds %d rows, %v", n, err)
	}
	if err := eng.Close(); err != nil {
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

// TestOlderColumns reads files of a schema that had fewer columns, and another type.
func TestOlderColumns(t *testing.T) {
	s := testStore(t)
	older := *schema.ByName("jobs")
	older.Columns = append([]schema.Column(nil), older.Columns[:3]...)
	tx, err := s.Begin(t.Context(), Origin{Kind: Log})
	if err != nil {
		t.Fatal(err)
	}
	rows := []schema.Job{{JobID: 1, ApplicationID: 2, NativeID: "old"}}
	if err := tx.Append(7, older.Batch(reflect.ValueOf(rows))); err != nil {
		t.Fatal(err)
	}
	if err := tx.Input(InputRecord{Name: "log", Key: 7, Fingerprint: "f"}); err != nil {
		t.Fatal(err)
	}
	c, err := tx.seal()
	if err != nil {
		t.Fatal(err)
	}
	c.Tables[0].Columns = columnTexts(&older)
	if err := tx.publish(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := tx.Abort(); err != nil {
		t.Fatal(err)
	}
	if err := write(t.Context(), s, 8, "new", 2); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"before", "after"} {
		eng := testEngine(t, s, EngineOptions{})
		type row struct {
			NativeID string              `col:"native_id"`
			Status   schema.Null[string] `col:"status"`
		}
		got := readAll[row](t, eng, "SELECT native_id, status FROM jobs ORDER BY native_id")
		if len(got) != 3 || got[2].NativeID != "old" || got[2].Status.OK || got[0].Status.V != "succeeded" {
			t.Errorf("%s compaction: %+v", what, got)
		}
		eng.Close()
		if what == "before" {
			if _, err := s.Compact(t.Context(), "test"); err == nil {
				t.Error("a NULL was put into a column that has none")
			}
		}
	}
}
