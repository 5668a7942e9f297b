package discover

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"straggler/ingest"
	"straggler/ingest/codec"
)

// file is one file found by the walk: on disk, in an archive, or a stream.
type file struct {
	name     string // as the user would write it
	size     int64  // of its raw bytes; -1 unknown
	modified int64  // in ns; 0 unknown
	id       string // the same for the same file under two names; "" if unknown

	open   func() (io.ReadCloser, error)          // its raw bytes; of a stream, once
	at     func() (io.ReaderAt, io.Closer, error) // random access to its raw bytes; nil if that needs a copy
	remote bool                                   // not on this machine: many small reads would be slow
	once   *stream                                // a stream, which cannot be opened again
	packed bool                                   // it is a tar, whose files are read as one

	budget *codec.Budget // of the outermost file: this one, or the one that contains it
	meter  *codec.Meter  // of the output of its compression
}

// charge charges a file's decompression to a budget.
func (f *file) charge(b *codec.Budget) { f.budget, f.meter = b, b.Meter() }

// reader opens the file, decompressed. stats counts and hashes what is read.
func (f *file) reader(ctx context.Context, stats *fileStats) (io.ReadCloser, error) {
	if f.once != nil {
		return f.once.rest(f.name)
	}
	raw, err := f.open()
	if err != nil {
		return nil, err
	}
	return f.decompress(ctx, raw, stats)
}

// decompress wraps the file's raw bytes, which it closes, in the codecs.
func (f *file) decompress(ctx context.Context, raw io.ReadCloser, stats *fileStats) (io.ReadCloser, error) {
	stats.layers = nil
	in := &countingReader{r: raw, stats: stats}
	if f.size < 0 {
		in.budget = f.budget
	}
	z, err := codec.Open(in, f.name, max(f.size, 0), f.meter)
	if err != nil {
		raw.Close()
		return nil, err
	}
	stats.layers = z.Layers()
	o := &opened{ctx: ctx, raw: raw, in: in, z: z, stats: stats}
	r := io.ReadCloser(o)
	if len(stats.layers) > 0 && (f.size < 0 || f.size > aheadBytes) {
		r = readAhead(o)
	}
	if f.packed {
		r = &packed{Closer: r, in: bufio.NewReader(r)}
	}
	return r, nil
}

// opened is a file that is being read.
type opened struct {
	ctx   context.Context
	raw   io.Closer
	in    *countingReader
	z     *codec.Reader
	stats *fileStats

	ended bool // z has ended
}

func (o *opened) Read(p []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := o.z.Read(p)
	o.stats.content += int64(n)
	if o.ended = err != nil; errors.Is(err, ingest.ErrCorrupt) {
		o.stats.damage = err
	}
	return n, err
}

// restBytes is how much of the unread rest is decompressed to check whether the file is intact.
const restBytes = 16 << 20

// Close reads the rest, so that the fingerprint covers the whole file, and so that a wrong checksum is found after an object
// that was followed by nothing of interest.
func (o *opened) Close() error {
	if len(o.stats.layers) > 0 && o.stats.hashed && !o.ended {
		io.CopyN(io.Discard, o, restBytes)
	}
	o.in.drain(o.ctx)
	return errors.Join(o.z.Close(), o.raw.Close())
}

// random opens the file for random access, decompressed.
func (f *file) random(ctx context.Context, sp *spool) (ingest.File, error) {
	if f.at != nil && !f.packed {
		r, closer, err := f.at()
		if err != nil {
			return nil, err
		}
		plain, err := isPlain(r, f.name)
		if err == nil && plain {
			return &section{io.NewSectionReader(r, 0, f.size), closer}, nil
		}
		closer.Close()
		if err != nil {
			return nil, err
		}
	}
	r, err := f.reader(ctx, new(fileStats))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	name, size, err := sp.copy(r)
	if err != nil {
		if name != "" {
			sp.remove(name, size)
		}
		return nil, err
	}
	tmp, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return &section{io.NewSectionReader(tmp, 0, size), removing{tmp, sp, size}}, nil
}

func isPlain(r io.ReaderAt, name string) (bool, error) {
	var head [codec.Magic]byte
	n, err := r.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return !codec.Compressed(head[:n], name), nil
}

// section is an ingest.File.
type section struct {
	*io.SectionReader
	io.Closer
}

// removing closes a copy and releases its space.
type removing struct {
	*os.File
	sp   *spool
	size int64
}

func (r removing) Close() error {
	err := r.File.Close()
	return errors.Join(err, r.sp.remove(r.File.Name(), r.size))
}
