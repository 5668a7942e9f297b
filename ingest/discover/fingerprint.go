package discover

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"straggler/ingest/codec"
)

// fingerprint returns that of an input: of its only file, or of the hashes of all files in reading order.
func fingerprint(sums [][16]byte) string {
	if len(sums) == 1 {
		return hex.EncodeToString(sums[0][:])
	}
	h := xxh3.New()
	for _, s := range sums {
		h.Write(s[:])
	}
	sum := h.Sum128().Bytes()
	return hex.EncodeToString(sum[:])
}

// hash reads a file only to compute its hash.
func (f *file) hash(ctx context.Context) (*fileStats, error) {
	raw, err := f.open()
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	stats := newFileStats(nil)
	r := &countingReader{r: raw, stats: stats}
	size := f.size + 1 // so that the end is seen together with the last bytes
	if f.size < 0 {
		size = 1 << 20
	}
	buf := make([]byte, min(max(size, 4<<10), 1<<20))
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := r.Read(buf); err == io.EOF {
			return stats, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// fileStats describes the bytes of a file that were read.
type fileStats struct {
	hashed  bool          // a fingerprint is wanted
	hash    *xxh3.Hasher  // over the raw bytes, until their end: it takes a kilobyte, and a run may read millions of files
	sum     [16]byte      // hash of the file, once it was read to its end
	shared  *atomic.Int64 // raw bytes of the whole run, for its progress; may be nil
	raw     int64
	content int64 // decompressed bytes
	layers  []string
	whole   bool  // the raw bytes were read to their end
	err     error // why they were not
	damage  error // an ErrCorrupt: what a codec found, wherever the reader stopped
}

// newFileStats counts and hashes; shared may be nil.
func newFileStats(shared *atomic.Int64) *fileStats {
	return &fileStats{hashed: true, hash: xxh3.New(), shared: shared}
}

// end notes that the raw bytes were read to their end.
func (s *fileStats) end() {
	s.whole = true
	if s.hash != nil {
		s.sum, s.hash = s.hash.Sum128().Bytes(), nil
	}
}

// countingReader counts and hashes the raw bytes of a file.
type countingReader struct {
	r      io.Reader
	stats  *fileStats
	budget *codec.Budget // of an input of unknown size; else nil
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	s := r.stats
	if s.hash != nil {
		s.hash.Write(p[:n])
	}
	s.raw += int64(n)
	r.budget.In(int64(n))
	if s.shared != nil {
		s.shared.Add(int64(n))
	}
	switch {
	case errors.Is(err, io.EOF):
		s.end()
	case err != nil:
		s.err = err
	}
	return n, err
}

// drain reads what a codec left unread, as long as the context lasts.
func (r *countingReader) drain(ctx context.Context) {
	if !r.stats.hashed || r.stats.whole || r.stats.err != nil {
		return
	}
	buf := make([]byte, 256<<10)
	for ctx.Err() == nil {
		if _, err := r.Read(buf); err != nil {
			return
		}
	}
}
