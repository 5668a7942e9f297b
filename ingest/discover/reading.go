package discover

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"straggler/ingest"
)

// reading is what is known of the files of an input during and after reading it.
type reading struct {
	progress *atomic.Int64 // raw bytes of the whole run; may be nil

	mu     sync.Mutex
	stats  []*fileStats // by part, nil if not opened
	random []int64      // by part, the decompressed size of those read with random access
}

// input returns a candidate as a format sees it. Its key is not set.
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

// begin returns the stats for the first reading of a part; later readings are not hashed.
func (r *reading) begin(part int) *fileStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stats[part] != nil {
		return &fileStats{shared: r.progress}
	}
	r.stats[part] = newFileStats(r.progress)
	return r.stats[part]
}

// opened records the size of a part that is read with random access.
func (r *reading) opened(part int, size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.random == nil {
		r.random = make([]int64, len(r.stats))
	}
	r.random[part] = size
}

// of returns the statistics of a file, or nil if it was not read.
func (r *reading) of(part int, f *file) *fileStats {
	if f.once != nil {
		return f.once.stats
	}
	return r.stats[part]
}

// Damage returns the error in the first file whose codec found one, wherever the format stopped reading it.
func (in *Input) Damage() error {
	for i, f := range in.files {
		if known := in.reading.of(i, f); known != nil && known.damage != nil {
			return known.damage
		}
	}
	return nil
}

// Fingerprint returns the hash of the input's raw bytes: for a file that was read to its end the bytes read, for another its
// current content.
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
		sums[i] = known.sum
	}
	return fingerprint(sums), nil
}

// Content opens the part, decompressed, without counting or hashing what is read.
func (in *Input) Content(ctx context.Context, part int) (io.ReadCloser, error) {
	return in.files[part].reader(ctx, new(fileStats))
}

// BytesRead returns how much of the input's files was read, raw and decompressed.
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
