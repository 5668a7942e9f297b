package codec

import "io"

// maxBlock bounds the blocks, windows and dictionaries that a header may ask for: 128 MiB is what `zstd --ultra -22`
// and `--long=27` need, the most of what the tools write by default.
const maxBlock = 128 << 20

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
