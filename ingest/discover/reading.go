package discover

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"straggler/ingest"
)

// reading is what is known of the files of an input while it is read, and after that.
type reading struct {
	progress *atomic.Int64 // raw bytes of the whole run; may be nil

	mu     sync.Mutex
	stats  []*fileStats // by part, nil where it was not opened
	random []int64      // by part, the decompressed size of those that were read in any order
}

// input is what a format gets to see of a candidate. Its key is not set.
func (c *candidate) input(sp *spool, r *reading) *ingest.Input {
	in := &ingest.Input{Name: c.name, Base: c.base, Parts: make([]ingest.Part, len(c.files))}
	for i, f := range c.files {
		in.Parts[i] = ingest.Part{
			Name: f.name,
			Size: f.size,
			Open: func(ctx context.Context) (io.ReadCloser, error) { return f.reader(ctx, r.begin(i)) },
			OpenAt: func(ctx context.Context) (ingest.File, error) {
				at, err := f.random(ctx, sp)
				if err == nil {
					r.opened(i, at.Size())
				}
				return at, err
			},
		}
	}
	return in
}

// begin gives the stats for reading a part for the first time; later readings are not hashed.
func (r *reading) begin(part int) *fileStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stats[part] != nil {
		return &fileStats{shared: r.progress}
	}
	r.stats[part] = newFileStats(r.progress)
	return r.stats[part]
}

// opened notes the size of a part that is read in any order.
func (r *reading) opened(part int, size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.random == nil {
		r.random = make([]int64, len(r.stats))
	}
	r.random[part] = size
}

// of gives what is known of a file, nil where it was not read.
func (r *reading) of(part int, f *file) *fileStats {
	if f.once != nil {
		return f.once.stats
	}
	return r.stats[part]
}

// Damage is what is wrong with the first file whose codec found something, wherever the format stopped reading it.
func (in *Input) Damage() error {
	for i, f := range in.files {
		if known := in.reading.of(i, f); known != nil && known.damage != nil {
			return known.damage
		}
	}
	return nil
}

// Fingerprint is the hash of the input's raw bytes: of a file that was read to its end what was read, of another what it
// holds now.
func (in *Input) Fingerprint(ctx context.Context) (string, error) {
	sums := make([][16]byte, len(in.files))
	for i, f := range in.files {
		known := in.reading.of(i, f)
		if known == nil || !known.whole {
			var err error
			if known, err = f.hash(ctx); err != nil {
				return "", err
			}
		}
		sums[i] = known.sum()
	}
	return fingerprint(sums), nil
}

// Content opens the part, decompressed, without counting or hashing what is read.
func (in *Input) Content(ctx context.Context, part int) (io.ReadCloser, error) {
	return in.files[part].reader(ctx, new(fileStats))
}

// BytesRead is how much of the input's files was read, as they are and decompressed.
func (in *Input) BytesRead() (raw, content int64) {
	for i, f := range in.files {
		var r, c int64
		if known := in.reading.of(i, f); known != nil {
			r, c = known.raw, known.content
		}
		if random := in.reading.random; random != nil && random[i] > c { // an index at its end, or all of it, was read in place
			r, c = max(r, f.size), random[i]
		}
		raw, content = raw+r, content+c
	}
	return raw, content
}
