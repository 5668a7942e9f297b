package discover

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
)

// stream is a file that can be read once. The first bytes are read when it is recognised, and are kept for the later reader.
type stream struct {
	stats *fileStats
	z     io.ReadCloser // decompressed, after head
	head  []byte
	taken atomic.Bool
}

func streamFile(name string, r io.Reader) *file {
	return &file{name: name, size: -1, once: &stream{}, open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}
}

// begin opens a stream, once.
func (f *file) begin(ctx context.Context) (io.ReadCloser, *fileStats, error) {
	raw, err := openStream(ctx, f.open)
	if err != nil {
		return nil, nil, err
	}
	f.once.stats = newFileStats(nil)
	z, err := f.decompress(ctx, interruptible(ctx, raw), f.once.stats)
	f.once.z = z
	return z, f.once.stats, err
}

// rest returns a stream that was recognised before.
func (s *stream) rest(name string) (io.ReadCloser, error) {
	if s.taken.Swap(true) {
		return nil, fmt.Errorf("%s is a stream and can be read only once", name)
	}
	return &prefixed{head: s.head, ReadCloser: s.z}, nil
}

// prefixed reads bytes that were read before, then the rest of a stream.
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

// openStream opens a stream, which for a named pipe waits until it is opened for writing. If the context ends before that, the
// waiting goroutine remains until then, or until the process ends.
func openStream(ctx context.Context, open func() (io.ReadCloser, error)) (io.ReadCloser, error) {
	type result struct {
		r   io.ReadCloser
		err error
	}
	done := make(chan result, 1)
	go func() {
		r, err := open()
		done <- result{r, err}
	}()
	select {
	case o := <-done:
		return o.r, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// interruptible makes the reads of a stream end with the context. A read that waits for a writer cannot be interrupted, so a
// goroutine does the reading. It ends with Close or with the context; only if the context ends in the middle of a read does it
// end with that read, which may be as late as the process.
func interruptible(ctx context.Context, r io.ReadCloser) io.ReadCloser {
	s := &interruptibleReader{ctx: ctx, r: r, want: make(chan []byte), got: make(chan piece, 1)}
	go func() {
		defer r.Close()
		for {
			select {
			case buf, ok := <-s.want:
				if !ok {
					return
				}
				n, err := r.Read(buf)
				s.got <- piece{buf[:n], err}
			case <-ctx.Done():
				return
			}
		}
	}()
	return s
}

type interruptibleReader struct {
	ctx  context.Context
	r    io.ReadCloser
	want chan []byte
	got  chan piece
	buf  []byte
	now  piece
	dead bool
}

func (s *interruptibleReader) Read(p []byte) (int, error) {
	if len(s.now.buf) == 0 && s.now.err == nil {
		if s.dead {
			return 0, s.ctx.Err()
		}
		if s.buf == nil {
			s.buf = make([]byte, 256<<10)
		}
		select {
		case s.want <- s.buf:
		case <-s.ctx.Done():
			s.dead = true
			return 0, s.ctx.Err()
		}
		select {
		case s.now = <-s.got:
		case <-s.ctx.Done():
			s.dead = true // the goroutine still owns the buffer
			return 0, s.ctx.Err()
		}
	}
	n := copy(p, s.now.buf)
	s.now.buf = s.now.buf[n:]
	if len(s.now.buf) == 0 && s.now.err != nil {
		return n, s.now.err
	}
	return n, nil
}

// Close releases the goroutine, which closes the stream.
func (s *interruptibleReader) Close() error {
	close(s.want)
	return nil
}
