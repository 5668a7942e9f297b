package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"golang.org/x/sync/errgroup"
)

// pin sends no request: the grace period protects the objects, and links protect the copies that are read.
func (s *objectStore) pin(context.Context) (pin, error) {
	dir, lock, err := s.cache.readers().create()
	if err != nil {
		return nil, err
	}
	return &pinnedCopies{s, dir, lock}, nil
}

// pinnedCopies reads local copies of the files, through links that keep them when the cache evicts them.
type pinnedCopies struct {
	s    *objectStore
	dir  string
	lock io.Closer
}

func (p *pinnedCopies) path(f FileRecord) string {
	return filepath.Join(p.dir, p.s.cache.name(f)+".parquet")
}

func (p *pinnedCopies) remote() bool { return true }

// fetch links existing copies first, so that they are not evicted to make room for missing ones.
func (p *pinnedCopies) fetch(ctx context.Context, files []FileRecord) error {
	c := p.s.cache
	g := &progress{what: "fetching", report: p.s.report}
	var missing []FileRecord
	for _, f := range files {
		if c.has(f) && c.link(f, p.path(f)) == nil {
			c.touch(f)
			continue
		}
		missing = append(missing, f)
		g.bytes += f.Bytes
		g.files++
	}
	if len(missing) == 0 {
		return nil
	}
	if err := c.makeRoom(g.bytes); err != nil {
		return err
	}
	g.add(0)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	for _, f := range missing {
		group.Go(func() error {
			return c.ensure(ctx, f, p.path(f), func(w io.Writer) error { return p.s.fetch(ctx, f, w, g) })
		})
	}
	return group.Wait()
}

// fetch writes a file's content.
func (s *objectStore) fetch(ctx context.Context, f FileRecord, w io.Writer, g *progress) error {
	r, err := s.open(ctx, f.Path, f.Bytes)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(w, readerFunc(func(b []byte) (int, error) {
		n, err := r.Read(b)
		g.add(int64(n))
		return n, err
	}))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: a file of the store is missing: %w; straggler store verify lists what is damaged", ErrDamaged, err)
	}
	return err
}

func (p *pinnedCopies) Close() error {
	return p.s.cache.readers().remove(p.dir, p.lock)
}
