package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"straggler/schema"
	"straggler/store/parquet"
	"straggler/store/storetest"
)

// raceFS lets another commit take the sequence number just before ours is linked, like a writer that does not see our lock
// because the disk is shared but its locks are not.
type raceFS struct {
	osFS
	races *int
}

func (f raceFS) Link(from, to string) error {
	if *f.races > 0 {
		*f.races--
		data, err := os.ReadFile(from)
		if err := errors.Join(err, os.WriteFile(to, data, 0o666)); err != nil {
			return err
		}
		return &os.LinkError{Op: "link", Old: from, New: to, Err: fs.ErrExist}
	}
	return f.osFS.Link(from, to)
}

func TestNoCommitIsOverwritten(t *testing.T) {
	races := 0
	s, err := Open(t.Context(), t.TempDir(), Options{fs: raceFS{races: &races}})
	if err != nil {
		t.Fatal(err)
	}
	if err := write(t.Context(), s, 1, "a", 10); err != nil {
		t.Fatal(err)
	}
	races = 3
	tx, err := s.Begin(t.Context(), Origin{Kind: Detect})
	if err != nil {
		t.Fatal(err)
	}
	c, err := tx.Commit(t.Context())
	if err != nil || c.Sequence != 5 {
		t.Fatalf("the commit has sequence %d, %v", c.Sequence, err)
	}
}

func TestWaitingForAWriterEndsWithTheContext(t *testing.T) {
	s := testStore(t)
	unlock, err := s.at.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Begin(ctx, Origin{Kind: Log}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Begin gave %v", err)
	}
	unlock()
	if err := write(t.Context(), s, 1, "a", 1); err != nil {
		t.Error(err)
	}
}

func TestLiveStagingIsLeftAlone(t *testing.T) {
	s := testStore(t)
	tx, err := s.Begin(t.Context(), Origin{Kind: Log})
	if err != nil {
		t.Fatal(err)
	}
	if err := Append(tx, 1, storetest.Attempts(1, parquet.RowGroupRows+1)); err != nil { // some of it is in staging
		t.Fatal(err)
	}
	if err := write(t.Context(), s, 2, "b", 10); err != nil {
		t.Fatal(err)
	}
	if err := tx.Input(InputRecord{Name: "log-1", Key: 1, Fingerprint: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("%+v %v", found, err)
	}
}

// TestSameInputTwice: of two writers that ingest the same log at once, one is told that it is already there.
func TestSameInputTwice(t *testing.T) {
	s := testStore(t)
	begin := func(key schema.Key, name, fingerprint string) *Tx {
		tx, err := s.Begin(t.Context(), Origin{Kind: Log})
		if err != nil {
			t.Fatal(err)
		}
		if err := Append(tx, key, storetest.Attempts(1, 10)); err != nil {
			t.Fatal(err)
		}
		if err := tx.Input(InputRecord{Name: name, Key: KeyText(key), Fingerprint: fingerprint}); err != nil {
			t.Fatal(err)
		}
		return tx
	}
	a, b, grown := begin(1, "log", "a"), begin(1, "log", "a"), begin(1, "log", "b")
	collides := begin(1, "another", "c")
	if _, err := a.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Commit(t.Context()); !errors.Is(err, ErrIngested) {
		t.Errorf("the same log again gave %v", err)
	}
	if _, err := grown.Commit(t.Context()); !errors.Is(err, ErrKeys) {
		t.Errorf("the same key without retiring gave %v", err)
	}
	if _, err := collides.Commit(t.Context()); !errors.Is(err, ErrKeys) || !strings.Contains(err.Error(), "another") {
		t.Errorf("another log with the same key gave %v", err)
	}
	in, ok, err := s.Input(t.Context(), 1)
	if err != nil || !ok || in.Fingerprint != "a" || in.Rows["attempts"] != 10 {
		t.Errorf("the store knows %+v %v %v", in, ok, err)
	}
	if _, ok, err := s.Input(t.Context(), 2); ok || err != nil {
		t.Errorf("the store knows an input 2, %v", err)
	}
}

// TestKeysOfBlocks: a commit is checked against the ranges of keys that inputs allocate from.
func TestKeysOfBlocks(t *testing.T) {
	one, two := InputRecord{Key: 5, Rows: map[string]int64{"attempts": schema.BlockKeys + 1, "edges": 3}},
		InputRecord{Key: 6, Rows: map[string]int64{"attempts": 1}}
	var blocks []block
	for b := range one.blocks {
		blocks = append(blocks, b)
	}
	if len(blocks) != 2 || blocks[0] == blocks[1] || blocks[1].first != schema.NewKeys(5, "attempts").Nth(schema.BlockKeys) {
		t.Errorf("the blocks are %v", blocks)
	}
	for b := range two.blocks {
		if b == blocks[0] || b == blocks[1] {
			t.Errorf("inputs 5 and 6 share %v", b)
		}
	}
}

func TestRowsNeedTheirInput(t *testing.T) {
	s := testStore(t)
	tx, err := s.Begin(t.Context(), Origin{Kind: Log})
	if err != nil {
		t.Fatal(err)
	}
	if err := Append(tx, 9, storetest.Attempts(9, 3)); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err == nil || !strings.Contains(err.Error(), "input 9") {
		t.Errorf("rows without a record of their input gave %v", err)
	}
	if err := Append(tx, 9, storetest.Attempts(9, 3)); !errors.Is(err, errDone) {
		t.Errorf("Append after the end gave %v", err)
	}
	if err := tx.Abort(); err != nil {
		t.Errorf("Abort after the end gave %v", err)
	}
}

// TestConcurrentAppends: several inputs are read at once, and every row arrives.
func TestConcurrentAppends(t *testing.T) {
	s := testStore(t)
	tx, err := s.Begin(t.Context(), Origin{Kind: Log})
	if err != nil {
		t.Fatal(err)
	}
	const inputs, rows, batch = 4, 80000, 777
	var wg sync.WaitGroup
	for k := range schema.Key(inputs) {
		wg.Go(func() {
			all := storetest.Attempts(k+1, rows)
			for from := 0; from < rows; from += batch {
				if err := Append(tx, k+1, all[from:min(from+batch, rows)]); err != nil {
					t.Error(err)
				}
			}
			if err := tx.Input(InputRecord{Name: fmt.Sprint(k), Key: KeyText(k + 1), Fingerprint: fmt.Sprint(k)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	ids, seconds := make(map[schema.Key]bool), 0.0
	got := visible[schema.Attempt](t, s)
	for _, r := range got {
		ids[r.AttemptID] = true
		seconds += r.DurationS.V
	}
	want := 0.0
	for _, r := range storetest.Attempts(1, rows) {
		want += r.DurationS.V
	}
	if len(got) != inputs*rows || len(ids) != inputs*rows || seconds != inputs*want {
		t.Errorf("%d rows of %d came back, with %d ids and %v s", len(got), inputs*rows, len(ids), seconds)
	}
}

// TestSameRowsSameBytes: files and commits do not depend on when or where they were written.
func TestSameRowsSameBytes(t *testing.T) {
	var trees [2]map[string]string
	for i := range trees {
		s := testStore(t)
		ingest(t, s, 7, storetest.Attempts(7, 3*parquet.RowGroupRows/2))
		if err := results(t.Context(), s, 5); err != nil {
			t.Fatal(err)
		}
		trees[i] = make(map[string]string)
		err := filepath.WalkDir(s.Where(), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			trees[i][strings.TrimPrefix(path, s.Where())] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(trees[0]) != len(trees[1]) || len(trees[0]) < 4 {
		t.Fatalf("%d and %d files", len(trees[0]), len(trees[1]))
	}
	for name, data := range trees[0] {
		if trees[1][name] != data {
			t.Errorf("%s differs", name)
		}
	}
}

func TestCancelledAppend(t *testing.T) {
	s := testStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	tx, err := s.Begin(ctx, Origin{Kind: Log})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := Append(tx, 1, storetest.Attempts(1, parquet.RowGroupRows)); !errors.Is(err, context.Canceled) {
		t.Errorf("Append gave %v", err)
	}
	if _, err := tx.Commit(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit gave %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(s.Where(), "staging")); err != nil || len(left) > 0 {
		t.Errorf("staging holds %v, %v", left, err)
	}
}

// panicFS has files that panic when they are written.
type panicFS struct{ osFS }

func (f panicFS) Create(name string) (file, error) {
	inner, err := f.osFS.Create(name)
	return panicFile{inner}, err
}

type panicFile struct{ file }

func (panicFile) Write([]byte) (int, error) { panic("a mistake") }

// TestPanicWhileWriting: rows are written by a goroutine of the store, where a panic would end the process. It ends the
// transaction.
func TestPanicWhileWriting(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir(), Options{fs: panicFS{}})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := s.Begin(t.Context(), Origin{Kind: Log})
	if err != nil {
		t.Fatal(err)
	}
	if err := Append(tx, 1, storetest.Attempts(1, parquet.RowGroupRows)); err != nil { // which hands the row group over
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); !errors.Is(err, errBroken) {
		t.Errorf("the commit gave %v", err)
	}
	left, err := os.ReadDir(filepath.Join(s.Where(), "staging"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v are left of the transaction, %v", left, err)
	}
}
