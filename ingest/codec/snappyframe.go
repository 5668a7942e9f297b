package codec

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/klauspost/compress/snappy"
)

// The framing format of snappy (framing_format.txt in its repository), `.sz`: chunks of a type, a length of three bytes in
// little endian, and a body. The library's own reader reports a truncated stream as corrupt.
const (
	snappyFrameMagic = "\xff\x06\x00\x00sNaPpY"
	snappyFrameBlock = 64 << 10 // largest uncompressed chunk (§4.2)

	snappyPacked = 0x00
	snappyRaw    = 0x01
	snappyID     = 0xff
)

func openSnappyFrame(r *bufio.Reader) (io.Reader, error) {
	s := &snappyFrameStream{r: r, out: make([]byte, snappyFrameBlock)}
	return &blocks{next: s.next}, nil
}

type snappyFrameStream struct {
	r   io.Reader
	in  []byte
	out []byte
}

func (s *snappyFrameStream) next() ([]byte, error) {
	var h [4]byte
	if n, err := io.ReadFull(s.r, h[:]); err != nil {
		if n == 0 && err == io.EOF {
			return nil, io.EOF
		}
		return nil, cut(err)
	}
	var err error
	s.in, err = readN(s.r, s.in, int(binary.LittleEndian.Uint32(h[:])>>8))
	if err != nil {
		return nil, err
	}
	switch kind := h[0]; {
	case kind == snappyPacked || kind == snappyRaw:
		return s.data(kind)
	case kind == snappyID && string(h[:])+string(s.in) == snappyFrameMagic:
		return nil, nil
	case kind >= 0x80 && kind != snappyID: // padding and skippable chunks (§4.4 to 4.6)
		return nil, nil
	}
	return nil, corrupt("no chunk starts where one should")
}

// data decompresses a chunk and checks its CRC-32C, masked as in §3.
func (s *snappyFrameStream) data(kind byte) ([]byte, error) {
	if len(s.in) < 4 {
		return nil, corrupt("a chunk has no checksum")
	}
	data := s.in[4:]
	if kind == snappyPacked {
		n, err := snappy.DecodedLen(data)
		if err != nil || n > snappyFrameBlock {
			return nil, corrupt("a chunk has no sensible length")
		}
		if data, err = snappy.Decode(s.out, data); err != nil {
			return nil, corrupt("a chunk does not unpack: %v", err)
		}
	}
	crc := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	if bits.RotateLeft32(crc, -15)+0xa282ead8 != binary.LittleEndian.Uint32(s.in) {
		return nil, corrupt("the checksum of a chunk is wrong")
	}
	return data, nil
}
