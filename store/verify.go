package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"straggler/bucket"
	"straggler/schema"
	"straggler/store/parquet"
)

// Finding is a problem with a file of the store.
type Finding struct {
	File    string // relative to the store
	Problem string
	Advice  string
	Err     error // ErrDamaged or ErrNewer where rows cannot be read or are wrong; nil for files that merely take up space
}

const (
	adviceRestore = "restore the file from a copy of the store, or remove its ingest (straggler store rm) and ingest its logs again"
	adviceOrphan  = "it is of no use to the store; the next ingest or compaction removes it"
)

// Verify reads every file that a commit names and compares it with the commit: its length, checksum, rows and columns.
// It also lists files that no commit names.
func (s *Store) Verify(ctx context.Context) ([]Finding, error) {
	pinned, err := s.at.pin(ctx)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	defer pinned.Close()
	cat, found, err := s.lenientCatalog(ctx)
	if err != nil {
		return nil, err
	}
	files, err := tableFiles(ctx, s.at)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	stored := make(map[string]fileInfo, len(files))
	for _, f := range files {
		stored[f.name] = f
	}
	for i, c := range cat.commits {
		if !cat.visible[i] {
			continue // its files may already be removed
		}
		for _, t := range c.Tables {
			for _, f := range t.Files {
				if err := ctx.Err(); err != nil {
					return found, fmt.Errorf("store: %w", err)
				}
				if problem := s.verifyFile(ctx, stored, t, f); problem != "" {
					found = append(found, Finding{File: f.Path, Problem: problem, Advice: adviceRestore, Err: ErrDamaged})
				}
			}
		}
	}
	if slices.ContainsFunc(found, func(f Finding) bool { return f.Err != nil && strings.HasPrefix(f.File, "commits/") }) {
		return found, nil // which other files are orphans depends on the commits that could not be read
	}
	orphans, err := s.at.orphans(ctx, cat.files(), true)
	if err != nil {
		return found, fmt.Errorf("store: %w", err)
	}
	for _, name := range orphans {
		found = append(found, Finding{File: name, Problem: "no commit names it", Advice: adviceOrphan})
	}
	return found, nil
}

// lenientCatalog reads the commits that can be read and reports the others.
func (s *Store) lenientCatalog(ctx context.Context) (*catalog, []Finding, error) {
	entries, err := s.at.list(ctx, "commits")
	if err != nil {
		return nil, nil, fmt.Errorf("store: %w", err)
	}
	cat := &catalog{next: 1}
	var found []Finding
	for _, e := range entries {
		n, ok := commitSequence(e.name)
		if !ok && isUnfinished(e.name) {
			continue // orphans has those that no process writes any more
		}
		if !ok {
			found = append(found, Finding{File: e.name, Problem: "it is not named as a commit", Advice: "remove it"})
			continue
		}
		data, err := readFile(ctx, s.at, e)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed by a compaction
		}
		var c *Commit
		if err == nil {
			c, err = decodeCommit(data, n)
		}
		if err != nil {
			found = append(found, Finding{File: e.name, Problem: err.Error(), Advice: adviceOnCommit(err), Err: unreadable(err)})
			continue
		}
		cat.commits, cat.times = append(cat.commits, c), append(cat.times, e.modified)
	}
	cat.resolve()
	return cat, found, nil
}

// unreadable returns what kind of error kept a commit from being read.
func unreadable(err error) error {
	if errors.Is(err, ErrNewer) {
		return ErrNewer
	}
	return ErrDamaged
}

// verifyFile describes what is wrong with a file, "" if nothing is.
func (s *Store) verifyFile(ctx context.Context, stored map[string]fileInfo, t TableRecord, f FileRecord) string {
	switch found, ok := stored[f.Path]; {
	case !ok:
		return "it is missing"
	case !found.regular:
		return "it is not a plain file"
	case found.size != f.Bytes:
		return fmt.Sprintf("it has %d bytes and its commit says %d", found.size, f.Bytes)
	}
	r, err := s.at.open(ctx, f.Path, f.Bytes)
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	h := xxhash.New()
	end := new(tail)
	if _, err := io.Copy(io.MultiWriter(h, end), bucket.WithContext(ctx, r)); err != nil {
		return err.Error()
	}
	if sum := checksumText(h.Sum64()); sum != f.Checksum {
		return fmt.Sprintf("its content has changed: its checksum is %s and its commit says %s", sum, f.Checksum)
	}
	return verifyFooter(end, t, f)
}

// tail keeps the end of what is written to it, which in a Parquet file is the footer. It can be read like the whole file, as
// far as it was kept.
type tail struct {
	at   int64 // how much was written
	kept []byte
}

// tailBytes bounds what is kept. A footer is larger than that only if it has very many row groups, and a file of the store has
// at most fileGroups.
const tailBytes = 8 << 20

func (t *tail) Write(p []byte) (int, error) {
	t.at += int64(len(p))
	t.kept = append(t.kept, p...)
	if len(t.kept) > 2*tailBytes {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-tailBytes:]...)
	}
	return len(p), nil
}

func (t *tail) ReadAt(p []byte, off int64) (int, error) {
	off -= t.at - int64(len(t.kept))
	if off < 0 {
		return 0, errors.New("its footer is too large")
	}
	if off >= int64(len(t.kept)) {
		return 0, io.EOF
	}
	n := copy(p, t.kept[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// verifyFooter compares the file's own footer with the commit.
func verifyFooter(end *tail, t TableRecord, f FileRecord) string {
	footer, err := parquet.ReadFooter(io.NewSectionReader(end, 0, f.Bytes))
	if err != nil {
		return "it is " + err.Error()
	}
	if footer.Rows != f.Rows {
		return fmt.Sprintf("it has %d rows and its commit says %d", footer.Rows, f.Rows)
	}
	for _, c := range append(slices.Clone(t.Columns), InputColumn+" "+string(schema.BigInt)) {
		name, _, _ := strings.Cut(c, " ")
		if !slices.Contains(footer.Columns, name) {
			return "it lacks the column " + name
		}
	}
	return ""
}
