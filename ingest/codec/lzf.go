package codec

import (
	"bufio"
	"encoding/binary"
	"io"
)

// LZF chunks as the Java library compress-lzf writes them: 'Z' 'V', a type, the length of the body in big endian, and for
// type 1 the uncompressed length; then the body. There is no checksum and no end marker: a file truncated between two chunks
// looks complete.
const (
	lzfRaw    = 0
	lzfPacked = 1
)

// isLZF requires a plausible length after the magic, which is short.
func isLZF(head []byte) bool {
	if len(head) < 5 || head[0] != 'Z' || head[1] != 'V' || head[3]|head[4] == 0 {
		return false
	}
	return head[2] == lzfRaw || head[2] == lzfPacked && (len(head) < 7 || head[5]|head[6] != 0)
}

func openLZF(r *bufio.Reader) (io.Reader, error) {
	s := &lzfStream{r: r, in: make([]byte, 1<<16), out: make([]byte, 1<<16)}
	return &blocks{next: s.next}, nil
}

type lzfStream struct {
	r   io.Reader
	in  []byte
	out []byte
}

func (s *lzfStream) next() ([]byte, error) {
	var h [7]byte
	if n, err := io.ReadFull(s.r, h[:5]); err != nil {
		if n == 0 && err == io.EOF {
			return nil, io.EOF
		}
		return nil, cut(err)
	}
	if h[0] != 'Z' || h[1] != 'V' || h[2] > lzfPacked {
		return nil, corrupt("no chunk starts where one should")
	}
	if h[2] == lzfPacked {
		if _, err := io.ReadFull(s.r, h[5:]); err != nil {
			return nil, cut(err)
		}
	}
	body := s.in[:binary.BigEndian.Uint16(h[3:])]
	if _, err := io.ReadFull(s.r, body); err != nil {
		return nil, cut(err)
	}
	if h[2] == lzfRaw {
		return body, nil
	}
	out := s.out[:binary.BigEndian.Uint16(h[5:])]
	if !unpackLZF(out, body) {
		return nil, corrupt("a chunk of %d bytes does not unpack to %d", len(body), len(out))
	}
	return out, nil
}

// unpackLZF fills dst from src. A control byte below 32 is the number of literal bytes that follow, less one. Otherwise its
// high three bits are a length less two (if 7, another byte adds to it), and its low five bits with the next byte are a
// distance less one.
func unpackLZF(dst, src []byte) bool {
	d := 0
	for i := 0; i < len(src); {
		c := int(src[i])
		i++
		if c < 32 {
			n := c + 1
			if i+n > len(src) || d+n > len(dst) {
				return false
			}
			copy(dst[d:], src[i:i+n])
			i, d = i+n, d+n
			continue
		}
		n := c>>5 + 2
		if n == 9 {
			if i >= len(src) {
				return false
			}
			n += int(src[i])
			i++
		}
		if i >= len(src) {
			return false
		}
		from := d - (c&31<<8 | int(src[i])) - 1
		i++
		if from < 0 || d+n > len(dst) {
			return false
		}
		copyWithin(dst, d, from, n)
		d += n
	}
	return d == len(dst)
}

// copyWithin copies n bytes within dst from from to at, byte by byte if the ranges overlap.
func copyWithin(dst []byte, at, from, n int) {
	if from+n <= at {
		copy(dst[at:at+n], dst[from:])
		return
	}
	for k := range n {
		dst[at+k] = dst[from+k]
	}
}
