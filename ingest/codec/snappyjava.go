package codec

import (
	"bufio"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/snappy"
)

// The stream of snappy-java (SnappyOutputStream): a magic, two versions, then blocks, each the length of its body in big
// endian and a raw snappy block. Concatenated streams repeat the header. There is no checksum and no end marker: a file
// truncated between two blocks looks complete.
const snappyJavaMagic = "\x82SNAPPY\x00"

func openSnappyJava(r *bufio.Reader) (io.Reader, error) {
	s := &snappyJavaStream{r: r}
	return &blocks{next: s.next}, nil
}

type snappyJavaStream struct {
	r   *bufio.Reader
	in  []byte
	out []byte
}

func (s *snappyJavaStream) next() ([]byte, error) {
	if err := s.skipHeaders(); err != nil {
		return nil, err
	}
	var h [4]byte
	if n, err := io.ReadFull(s.r, h[:]); err != nil {
		if n == 0 && err == io.EOF {
			return nil, io.EOF
		}
		return nil, cut(err)
	}
	size := binary.BigEndian.Uint32(h[:])
	if size > maxBlock {
		return nil, corrupt("a block claims to have %d bytes", size)
	}
	var err error
	if s.in, err = readN(s.r, s.in, int(size)); err != nil {
		return nil, err
	}
	return s.unpack()
}

// skipHeaders skips headers. The first byte of a header cannot start a valid length.
func (s *snappyJavaStream) skipHeaders() error {
	const header = len(snappyJavaMagic) + 2*4
	for {
		head, _ := s.r.Peek(header)
		if len(head) == 0 || head[0] != snappyJavaMagic[0] {
			return nil
		}
		if len(head) < header {
			return io.ErrUnexpectedEOF
		}
		if string(head[:len(snappyJavaMagic)]) != snappyJavaMagic {
			return corrupt("no block starts where one should")
		}
		s.r.Discard(header)
	}
}

func (s *snappyJavaStream) unpack() ([]byte, error) {
	n, err := snappy.DecodedLen(s.in)
	// A block shrinks to at most 1/21: three bytes copy up to 64.
	if err != nil || n > maxBlock || n > 22*len(s.in)+64 {
		return nil, corrupt("a block of %d bytes has no sensible length", len(s.in))
	}
	out, err := snappy.Decode(s.out[:cap(s.out)], s.in)
	if err != nil {
		return nil, corrupt("a block of %d bytes does not unpack: %v", len(s.in), err)
	}
	s.out = out
	return out, nil
}
