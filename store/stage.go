package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
)

// StagedFile is a file in the store's directory that belongs to no table, for programs on other machines to read. It is
// removed when it is closed or the process ends.
type StagedFile struct {
	Name string // relative to the store, with slashes

	s    *Store
	dir  string
	lock io.Closer
}

// Stage puts data into a staged file. It fails with errors.ErrUnsupported for a store in a bucket.
func (s *Store) Stage(ctx context.Context, data []byte) (*StagedFile, error) {
	if _, local := s.at.(*directory); !local {
		return nil, fmt.Errorf("store: %s is no directory that other programs can read a file from: %w", s.Where(), errors.ErrUnsupported)
	}
	unlock, err := s.at.lock(ctx)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	dir, lock, err := s.staging.create()
	unlock()
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	const name = "staged"
	staged := &StagedFile{path.Join("staging", filepath.Base(dir), name), s, dir, lock}
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %w", err), staged.Close())
	}
	return staged, nil
}

func (f *StagedFile) Close() error { return f.s.staging.remove(f.dir, f.lock) }
