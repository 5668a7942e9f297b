package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/cespare/xxhash/v2"

	"straggler/schema"
)

// Finding is something about a file of the store that is not as it should be.
type Finding struct {
	File    string // relative to the store
	Problem string
	Advice  string
	Damage  bool // rows are lost or wrong; without it, something merely lies about
}

const (
	adviceRestore = "restore the file from a copy of the store, or remove its ingest (straggler store rm) and ingest its logs again"
	adviceOrphan  = "it is of no use to the store; the next ingest removes it"
)

// Verify reads every file that a commit names and holds it against the commit: its length, checksum, rows and columns.
// It also lists files that no commit names.
func (s *Store) Verify(ctx context.Context) ([]Finding, error) {
	unlock, err := s.holdFiles()
	if err != nil {
		return nil, err
	}
	defer unlock.Close()
	cat, found, err := s.lenientCatalog()
	if err != nil {
		return nil, err
	}
	for i, c := range cat.commits {
		if !cat.alive[i] {
			continue // its files may be removed already
		}
		for _, t := range c.Tables {
			for _, f := range t.Files {
				if err := ctx.Err(); err != nil {
					return found, fmt.Errorf("store: %w", err)
				}
				if problem := s.verifyFile(ctx, t, f); problem != "" {
					found = append(found, Finding{File: f.Path, Problem: problem, Advice: adviceRestore, Damage: true})
				}
			}
		}
	}
	if slices.ContainsFunc(found, func(f Finding) bool { return f.Damage && strings.HasPrefix(f.File, "commits/") }) {
		return found, nil // with a commit unread nobody knows whose the other files are
	}
	orphans, err := s.orphans(cat)
	if err != nil {
		return found, fmt.Errorf("store: %w", err)
	}
	for _, name := range orphans {
		found = append(found, Finding{File: name, Problem: "no commit names it", Advice: adviceOrphan})
	}
	return found, nil
}

// lenientCatalog reads the commits that can be read and reports the others.
func (s *Store) lenientCatalog() (*catalog, []Finding, error) {
	entries, err := s.fs.ReadDir(s.path("commits"))
	if err != nil {
		return nil, nil, fmt.Errorf("store: %w", err)
	}
	cat := &catalog{next: 1}
	var found []Finding
	for _, e := range entries {
		name := "commits/" + e.Name()
		n, ok := commitSequence(e.Name())
		if !ok {
			found = append(found, Finding{File: name, Problem: "it is not named as a commit", Advice: "remove it"})
			continue
		}
		data, err := s.fs.ReadFile(s.path(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // a compaction took it away
		}
		var c *Commit
		if err == nil {
			c, err = decodeCommit(data, n)
		}
		if err != nil {
			found = append(found, Finding{File: name, Problem: err.Error(), Damage: true,
				Advice: "restore it from a copy of the store, or remove it and ingest its logs again"})
			continue
		}
		cat.commits = append(cat.commits, c)
	}
	slices.SortFunc(cat.commits, func(a, b *Commit) int { return int(a.Sequence - b.Sequence) })
	cat.resolve()
	return cat, found, nil
}

// verifyFile says what is wrong with a file, "" when nothing is.
func (s *Store) verifyFile(ctx context.Context, t TableRecord, f FileRecord) string {
	name := s.path(f.Path)
	info, err := s.fs.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it is missing"
	case err != nil:
		return err.Error()
	case !info.Mode().IsRegular():
		return "it is not a plain file"
	case info.Size() != f.Bytes:
		return fmt.Sprintf("it has %d bytes and its commit says %d", info.Size(), f.Bytes)
	}
	sum, err := s.checksum(ctx, name)
	if err != nil {
		return err.Error()
	}
	if sum != f.Checksum {
		return fmt.Sprintf("its content has changed: its checksum is %s and its commit says %s", sum, f.Checksum)
	}
	return verifyParquet(name, t, f)
}

func (s *Store) checksum(ctx context.Context, name string) (string, error) {
	r, err := s.fs.Open(name)
	if err != nil {
		return "", err
	}
	defer r.Close()
	h := xxhash.New()
	if _, err := io.Copy(h, contextReader{ctx, r}); err != nil {
		return "", err
	}
	return fmt.Sprintf("%016x", h.Sum64()), nil
}

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// verifyParquet holds the file's own footer against the commit.
func verifyParquet(name string, t TableRecord, f FileRecord) (problem string) {
	defer func() {
		if r := recover(); r != nil {
			problem = fmt.Sprintf("it is not a whole Parquet file: %v", r)
		}
	}()
	r, err := pqfile.OpenParquetFile(name, false)
	if err != nil {
		return fmt.Sprintf("it is not a whole Parquet file: %v", err)
	}
	defer r.Close()
	if n := r.NumRows(); n != f.Rows {
		return fmt.Sprintf("it has %d rows and its commit says %d", n, f.Rows)
	}
	sc := r.MetaData().Schema
	for _, c := range append(slices.Clone(t.Columns), inputColumn+" "+string(schema.BigInt)) {
		name, _, _ := strings.Cut(c, " ")
		if sc.ColumnIndexByName(name) < 0 {
			return "it lacks the column " + name
		}
	}
	return ""
}
