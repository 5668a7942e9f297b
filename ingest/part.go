package ingest

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
)

// tallies are what is known of the files of an input while it is read.
type tallies struct {
	shared *atomic.Int64

	mu     sync.Mutex
	list   []*tally // by part, nil where it was not opened
	random []int64  // by part, the decompressed size of those that were read in any order
}

// opened remembers the size of a part that is read in any order.
func (t *tallies) opened(part int, size int64) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.random == nil {
		t.random = make([]int64, len(t.list))
	}
	t.random[part] = size
}

// claim gives the tally for reading a part for the first time; later readings are not hashed.
func (t *tallies) claim(part int) *tally {
	if t == nil {
		return new(tally)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list[part] != nil {
		return &tally{shared: t.shared}
	}
	t.list[part] = newTally(t.shared)
	return t.list[part]
}

// input is what a format gets to see of a candidate. Its key is not set.
func (c *candidate) input(l Limits, sp *spool, t *tallies) *Input {
	in := &Input{Name: c.name, Base: c.base, Parts: make([]Part, len(c.files))}
	for i, f := range c.files {
		in.Parts[i] = Part{
			Name: f.name,
			Size: f.size,
			Open: func(ctx context.Context) (io.ReadCloser, error) { return f.reader(ctx, l, t.claim(i)) },
			OpenAt: func(ctx context.Context) (File, error) {
				at, err := f.random(ctx, l, sp)
				if err == nil {
					t.opened(i, at.Size())
				}
				return at, err
			},
		}
	}
	return in
}

// damage is what is wrong with the first file whose codec found something.
func (c *candidate) damage(t *tallies) error {
	for i, f := range c.files {
		known := t.list[i]
		if f.once != nil {
			known = f.once.tally
		}
		if known != nil && known.damage != nil {
			return known.damage
		}
	}
	return nil
}

// sums are the hashes of the files, of those first that were not read to their ends.
func (c *candidate) sums(ctx context.Context, t *tallies) ([][16]byte, error) {
	out := make([][16]byte, len(c.files))
	for i, f := range c.files {
		known := t.list[i]
		if f.once != nil {
			known = f.once.tally
		}
		if known == nil || !known.whole {
			var err error
			if known, err = f.hash(ctx); err != nil {
				return nil, err
			}
		}
		out[i] = known.sum()
	}
	return out, nil
}

// hash reads a file only to know its hash.
func (f *file) hash(ctx context.Context) (*tally, error) {
	raw, err := f.open()
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	t := newTally(nil)
	r := &tallied{r: raw, t: t}
	size := f.size + 1 // so that the end is seen with the last bytes
	if f.size < 0 {
		size = 1 << 20
	}
	buf := make([]byte, min(max(size, 4<<10), 1<<20))
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := r.Read(buf); err == io.EOF {
			return t, nil
		} else if err != nil {
			return nil, err
		}
	}
}
