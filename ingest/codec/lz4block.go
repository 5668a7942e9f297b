package codec

import (
	"bufio"
	"encoding/binary"
	"io"
	"math/bits"

	"github.com/pierrec/lz4/v4"
)

// The block stream of lz4-java (LZ4BlockOutputStream), which is not an lz4 frame. Every block has a header of 21 bytes: the
// magic, a token (high half: 1 raw, 2 lz4; low half: log2 of the largest block − 10), then in little endian the compressed
// length, the original length and a checksum. Lengths of 0 end a stream; another stream may follow. A log that is still being
// written has no end.
const (
	lz4BlockMagic  = "LZ4Block"
	lz4BlockHeader = len(lz4BlockMagic) + 1 + 3*4
	lz4BlockSeed   = 0x9747b28c
	lz4BlockRaw    = 0x10
	lz4BlockLZ4    = 0x20
)

func openLZ4Block(r *bufio.Reader) (io.Reader, error) {
	s := &lz4BlockStream{r: r}
	return &blocks{next: s.next}, nil
}

type lz4BlockStream struct {
	r      io.Reader
	header [lz4BlockHeader]byte
	in     []byte
	out    []byte
	ended  bool // at the end of a stream, where a file may end
}

func (s *lz4BlockStream) next() ([]byte, error) {
	for {
		packed, original, sum, err := s.readHeader()
		if err != nil {
			return nil, err
		}
		s.ended = original == 0
		if s.ended {
			continue
		}
		if s.in, err = readN(s.r, s.in, packed); err != nil {
			return nil, err
		}
		data := s.in
		if s.header[8]&0xF0 == lz4BlockLZ4 {
			if data, err = s.unpack(original); err != nil {
				return nil, err
			}
		}
		if xxh32(data, lz4BlockSeed)&0x0FFFFFFF != sum {
			return nil, corrupt("the checksum of a block is wrong")
		}
		return data, nil
	}
}

func (s *lz4BlockStream) readHeader() (packed, original int, sum uint32, err error) {
	n, err := io.ReadFull(s.r, s.header[:])
	if n == 0 && err == io.EOF && s.ended {
		return 0, 0, 0, io.EOF
	}
	if err != nil {
		return 0, 0, 0, cut(err)
	}
	h := s.header[:]
	if string(h[:8]) != lz4BlockMagic {
		return 0, 0, 0, corrupt("no block starts where one should")
	}
	p := binary.LittleEndian.Uint32(h[9:])
	o := binary.LittleEndian.Uint32(h[13:])
	sum = binary.LittleEndian.Uint32(h[17:])
	largest := uint32(1) << (10 + h[8]&0xF)
	switch method := h[8] & 0xF0; {
	case method != lz4BlockRaw && method != lz4BlockLZ4:
		err = corrupt("unknown compression method %#x of a block", method)
	case o > largest || p > o || (o == 0) != (p == 0) || o == 0 && sum != 0:
		err = corrupt("impossible lengths of a block: %d bytes packed to %d, at most %d", o, p, largest)
	case method == lz4BlockRaw && p != o:
		err = corrupt("impossible lengths of a raw block: %d and %d bytes", o, p)
	}
	return int(p), int(o), sum, err
}

func (s *lz4BlockStream) unpack(original int) ([]byte, error) {
	if cap(s.out) < original {
		s.out = make([]byte, original)
	}
	n, err := lz4.UncompressBlock(s.in, s.out[:original])
	if err != nil || n != original {
		return nil, corrupt("a block of %d bytes does not unpack to %d", len(s.in), original)
	}
	return s.out[:original], nil
}

// xxh32 returns the 32-bit xxHash.
func xxh32(b []byte, seed uint32) uint32 {
	const p1, p2, p3, p4, p5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
	n := uint32(len(b))
	h := seed + p5
	if len(b) >= 16 {
		a := [4]uint32{seed, seed, seed, seed}
		a[0] += p1 // the sum overflows, which is not allowed in a constant
		a[0] += p2
		a[1] += p2
		a[3] -= p1
		for ; len(b) >= 16; b = b[16:] {
			a[0] = bits.RotateLeft32(a[0]+binary.LittleEndian.Uint32(b)*p2, 13) * p1
			a[1] = bits.RotateLeft32(a[1]+binary.LittleEndian.Uint32(b[4:])*p2, 13) * p1
			a[2] = bits.RotateLeft32(a[2]+binary.LittleEndian.Uint32(b[8:])*p2, 13) * p1
			a[3] = bits.RotateLeft32(a[3]+binary.LittleEndian.Uint32(b[12:])*p2, 13) * p1
		}
		h = bits.RotateLeft32(a[0], 1) + bits.RotateLeft32(a[1], 7) + bits.RotateLeft32(a[2], 12) + bits.RotateLeft32(a[3], 18)
	}
	h += n
	for ; len(b) >= 4; b = b[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(b)*p3, 17) * p4
	}
	for _, c := range b {
		h = bits.RotateLeft32(h+uint32(c)*p5, 11) * p1
	}
	h = (h ^ h>>15) * p2
	h = (h ^ h>>13) * p3
	return h ^ h>>16
}
