package ingest

import (
	"encoding/hex"
	"errors"
	"io"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// tally is what is known of a file's bytes after they were read.
type tally struct {
	hash    *xxh3.Hasher  // over the raw bytes; nil where no fingerprint is wanted
	shared  *atomic.Int64 // raw bytes of the whole run, for its progress; may be nil
	raw     int64
	content int64 // decompressed bytes
	layers  []string
	whole   bool  // the raw bytes were read to their end
	err     error // why they were not
	damage  error // of the kind ErrCorrupt: what a codec says of them, wherever the reader stopped
}

// newTally counts and hashes; shared may be nil.
func newTally(shared *atomic.Int64) *tally { return &tally{hash: xxh3.New(), shared: shared} }

// sum is the hash of the file, once it was read to its end.
func (t *tally) sum() [16]byte { return t.hash.Sum128().Bytes() }

// fingerprint is that of an input: of the one file, or of the hashes of all in reading order.
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

// tallied counts the raw bytes of a file.
type tallied struct {
	r io.Reader
	t *tally
}

func (r *tallied) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if r.t.hash != nil {
		r.t.hash.Write(p[:n])
	}
	r.t.raw += int64(n)
	if r.t.shared != nil {
		r.t.shared.Add(int64(n))
	}
	switch {
	case errors.Is(err, io.EOF):
		r.t.whole = true
	case err != nil:
		r.t.err = err
	}
	return n, err
}

// drain reads what a codec did not want.
func (r *tallied) drain() {
	if r.t.hash == nil || r.t.whole || r.t.err != nil {
		return
	}
	buf := make([]byte, 256<<10)
	for {
		if _, err := r.Read(buf); err != nil {
			return
		}
	}
}
