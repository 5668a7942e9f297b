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

func (p *objects) hold(context.Context) (holding, error) {
	dir, lock, err := p.cache.readers().enter()
	if err != nil {
		return nil, err
	}
	return &heldCopies{p, dir, lock}, nil
}

// heldCopies reads copies of the files, by links that keep them while others evict them.
type heldCopies struct {
	p    *objects
	dir  string
	lock io.Closer
}

func (h *heldCopies) path(f FileRecord) string {
	return filepath.Join(h.dir, h.p.cache.name(f)+".parquet")
}

func (h *heldCopies) far() bool { return true }

// fetch takes first what there is, so that it is not evicted for what there is not.
func (h *heldCopies) fetch(ctx context.Context, files []FileRecord) error {
	c := h.p.cache
	g := &progress{what: "fetching", tell: h.p.tell}
	var missing []FileRecord
	for _, f := range files {
		if c.has(f) && c.link(f, h.path(f)) == nil {
			c.use(f)
			continue
		}
		missing = append(missing, f)
		g.bytes += f.Bytes
		g.files++
	}
	if len(missing) == 0 {
		return nil
	}
	if err := c.room(g.bytes); err != nil {
		return err
	}
	g.add(0)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	for _, f := range missing {
		group.Go(func() error {
			return c.ensure(ctx, f, h.path(f), func(w io.Writer) error { return h.p.fetch(ctx, f, w, g) })
		})
	}
	return group.Wait()
}

// fetch writes a file's content.
func (p *objects) fetch(ctx context.Context, f FileRecord, w io.Writer, g *progress) error {
	r, err := p.stream(ctx, f)
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

func (h *heldCopies) Close() error {
	return h.p.cache.readers().leave(h.dir, h.lock)
}
