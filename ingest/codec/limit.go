package codec

import (
	"fmt"
	"io"

	"straggler/ingest"
)

// Limits bound what a file may decompress to. A zero field means its default.
type Limits struct {
	Decompressed int64 // bytes; default 1 TiB
	Ratio        int64 // decompressed per compressed byte, once ratioFloor bytes have come out; default 1000
	Size         int64 // of the file, which its buffers need not exceed; 0 unknown
}

// ratioFloor is what may come out whatever the ratio: a small file of blanks is no bomb.
const ratioFloor = 100 << 20

// maxBlock bounds the blocks, windows and dictionaries that a header may ask for: 128 MiB is what `zstd --ultra -22`
// and `--long=27` need, the most of what the tools write by default.
const maxBlock = 128 << 20

func (l Limits) withDefaults() Limits {
	if l.Decompressed <= 0 {
		l.Decompressed = 1 << 40
	}
	if l.Ratio <= 0 {
		l.Ratio = 1000
	}
	return l
}

// limiter counts what comes out.
type limiter struct {
	r          io.Reader
	in         *counter
	l          Limits
	compressed bool
	out        int64
}

func (l *limiter) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.out += int64(n)
	if !l.compressed {
		return n, err
	}
	if l.out > l.l.Decompressed {
		return 0, fmt.Errorf("%w: more than %d bytes came out", ingest.ErrLimit, l.l.Decompressed)
	}
	if l.out > ratioFloor && l.out/l.l.Ratio > l.in.n {
		return 0, fmt.Errorf("%w: more than %d bytes came out of each byte, as of a decompression bomb", ingest.ErrLimit, l.l.Ratio)
	}
	return n, err
}

// counter counts what goes in.
type counter struct {
	r   io.Reader
	n   int64
	err error // of r, but io.EOF
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// readN reads n bytes into buf, growing it only as bytes really come: a header that lies about n costs nothing.
func readN(r io.Reader, buf []byte, n int) ([]byte, error) {
	const step = 1 << 20
	buf = buf[:0]
	for len(buf) < n {
		m := min(n-len(buf), step)
		if cap(buf)-len(buf) < m {
			buf = append(make([]byte, 0, min(n, 2*(len(buf)+m))), buf...)
		}
		got, err := io.ReadFull(r, buf[len(buf):len(buf)+m])
		buf = buf[:len(buf)+got]
		if err != nil {
			return buf, cut(err)
		}
	}
	return buf, nil
}

// blocks is a reader over a format of blocks: next gives the next one, valid until it is called again.
type blocks struct {
	next func() ([]byte, error)
	rest []byte
	err  error
}

func (b *blocks) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		b.rest, b.err = b.next()
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}
