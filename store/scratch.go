package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
)

// ReadOnly reports whether an error means that this user cannot write to the store's location.
func ReadOnly(err error) bool {
	return errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)
}

// Scratch returns a temporary store with the contents that are visible in s now: results for a store that cannot be written go
// there. The files of s are read in place and stay until the scratch store is closed, which removes the rest.
func (s *Store) Scratch(ctx context.Context) (*Store, error) {
	pinned, err := s.at.pin(ctx)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	t, err := Temp(ctx)
	if err != nil {
		return nil, errors.Join(err, pinned.Close())
	}
	own := t.at.(*directory)
	t.at, t.base = &scratch{own, s.at, pinned}, pinned
	files, err := s.commitFiles(ctx)
	for _, f := range files {
		var data []byte
		if data, err = readFile(ctx, s.at, f.fileInfo); err == nil {
			err = own.writeFile(own.path(f.name), data)
		}
		if err != nil {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: %w", err), t.Close())
	}
	return t, nil
}

// scratch is a temporary directory with the commits of another store, whose files are read from there.
type scratch struct {
	*directory
	from   backend
	pinned pin
}

func (s *scratch) has(name string) bool {
	_, err := s.stat(name)
	return err == nil
}

func (s *scratch) open(ctx context.Context, name string, bytes int64) (io.ReadCloser, error) {
	if s.has(name) {
		return s.directory.open(ctx, name, bytes)
	}
	return s.from.open(ctx, name, bytes)
}

// collectable returns no commits: their files belong to the other store.
func (s *scratch) collectable(context.Context, *catalog) (obsolete []*Commit, postponed bool, release func(), err error) {
	return nil, true, func() {}, nil
}

func (s *scratch) pin(ctx context.Context) (pin, error) {
	own, err := s.directory.pin(ctx)
	if err != nil {
		return nil, err
	}
	return &pinnedScratch{own, s}, nil
}

// pinnedScratch reads each file in place. The other store stays pinned until the scratch store is closed.
type pinnedScratch struct {
	pin
	s *scratch
}

func (p *pinnedScratch) path(f FileRecord) string {
	if p.s.has(f.Path) {
		return p.pin.path(f)
	}
	return p.s.pinned.path(f)
}

func (p *pinnedScratch) remote() bool { return p.s.pinned.remote() }

func (p *pinnedScratch) fetch(ctx context.Context, files []FileRecord) error {
	var own, others []FileRecord
	for _, f := range files {
		if p.s.has(f.Path) {
			own = append(own, f)
		} else {
			others = append(others, f)
		}
	}
	if err := p.pin.fetch(ctx, own); err != nil {
		return err
	}
	return p.s.pinned.fetch(ctx, others)
}
