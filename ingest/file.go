package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"straggler/ingest/codec"
)

// file is one file that the walk found, on disk, in an archive, or a stream.
type file struct {
	name     string // as the user would write it
	size     int64  // of its raw bytes; -1 unknown
	modified int64  // in ns; 0 unknown
	id       string // the same for the same file under two names; "" where that can not be told

	open func() (io.ReadCloser, error)          // its raw bytes; a stream's once
	at   func() (io.ReaderAt, io.Closer, error) // its raw bytes in any order; nil where that needs a copy
	far  bool                                   // not on this machine: many small reads would take long
	once *stream                                // a stream, which can not be opened again
}

func osFile(name, id string, info fs.FileInfo) *file {
	return &file{
		name:     name,
		size:     info.Size(),
		modified: info.ModTime().UnixNano(),
		id:       id,
		open:     func() (io.ReadCloser, error) { return openRegular(name) },
		at: func() (io.ReaderAt, io.Closer, error) {
			f, err := openRegular(name)
			return f, f, err
		},
	}
}

// openRegular opens a file that was a regular one when it was listed. It may be something else by now, and opening a
// pipe would wait for a writer.
func openRegular(name string) (*os.File, error) {
	if info, err := os.Stat(name); err != nil {
		return nil, vanished(err)
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no longer a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, vanished(err)
	}
	return f, nil
}

func vanished(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("it vanished after it was listed: %w", err)
	}
	return err
}

// stream is a file that gives its bytes once. Its first bytes are read when it is recognised and are kept for the
// reader that comes later.
type stream struct {
	tally *tally
	z     io.ReadCloser // decompressed, behind head
	head  []byte
	taken atomic.Bool
}

func streamFile(name string, r io.Reader) *file {
	return &file{name: name, size: -1, once: &stream{}, open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}
}

// reader opens the file, decompressed. What is read is counted, and hashed, in t.
func (f *file) reader(ctx context.Context, l Limits, t *tally) (io.ReadCloser, error) {
	if f.once != nil {
		return f.once.rest(f.name)
	}
	raw, err := f.open()
	if err != nil {
		return nil, err
	}
	return decompress(ctx, raw, f.name, f.size, l, t)
}

// rest gives a stream that was recognised before.
func (s *stream) rest(name string) (io.ReadCloser, error) {
	if s.taken.Swap(true) {
		return nil, fmt.Errorf("%s is a stream and can be read only once", name)
	}
	return &prefixed{head: s.head, ReadCloser: s.z}, nil
}

// prefixed gives bytes that were read before, then the others.
type prefixed struct {
	head []byte
	io.ReadCloser
}

func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	return p.ReadCloser.Read(b)
}

// decompress puts the codecs over raw, which it closes.
func decompress(ctx context.Context, raw io.ReadCloser, name string, size int64, l Limits, t *tally) (io.ReadCloser, error) {
	t.layers = nil
	in := &tallied{r: raw, t: t}
	z, err := codec.Open(in, name, codec.Limits{Decompressed: l.Decompressed, Ratio: l.Ratio, Size: max(size, 0)})
	if err != nil {
		raw.Close()
		return nil, err
	}
	t.layers = z.Layers()
	o := &opened{ctx: ctx, raw: raw, in: in, z: z, t: t}
	if len(t.layers) > 0 && (size < 0 || size > aheadBytes) {
		return readAhead(o), nil
	}
	return o, nil
}

// opened is a file that is being read.
type opened struct {
	ctx context.Context
	raw io.Closer
	in  *tallied
	z   *codec.Reader
	t   *tally

	ended bool // z has
}

func (o *opened) Read(p []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := o.z.Read(p)
	o.t.content += int64(n)
	if o.ended = err != nil; errors.Is(err, ErrCorrupt) {
		o.t.damage = err
	}
	return n, err
}

// restBytes is how much of what a reader did not want is decompressed to see whether the file is sound.
const restBytes = 16 << 20

// Close reads what the reader left, so that the fingerprint is that of the whole file, and so that a wrong checksum is
// found behind an object after which nothing was left to want.
func (o *opened) Close() error {
	if len(o.t.layers) > 0 && o.t.hash != nil && !o.ended {
		io.CopyN(io.Discard, o, restBytes)
	}
	if o.ctx.Err() == nil {
		o.in.drain()
	}
	return errors.Join(o.z.Close(), o.raw.Close())
}

// random opens the file for reading in any order, decompressed.
func (f *file) random(ctx context.Context, l Limits, sp *spool) (File, error) {
	if f.at != nil {
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
	r, err := f.reader(ctx, l, new(tally))
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

// section is a File.
type section struct {
	*io.SectionReader
	io.Closer
}

// removing closes a copy and gives its space back.
type removing struct {
	*os.File
	sp   *spool
	size int64
}

func (r removing) Close() error {
	err := r.File.Close()
	return errors.Join(err, r.sp.remove(r.File.Name(), r.size))
}
