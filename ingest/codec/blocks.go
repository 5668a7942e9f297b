package codec

import "io"

// maxBlock bounds the blocks, windows and dictionaries that a header may request: `zstd --ultra -22` and `--long=27` need 128
// MiB, the most that the tools write by default.
const maxBlock = 128 << 20

// readN reads n bytes into buf, which grows only as bytes arrive: a header with a false n costs nothing.
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

// blocks is a reader of a format made of blocks: next returns the next block, which is valid until the next call.
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
