package codec

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zlib"
	"github.com/pierrec/lz4/v4"
)

// Hadoop's codecs write no magic: only the name of a file says how it is compressed; its first bytes merely say whether that
// is possible. DefaultCodec writes zlib streams (.deflate). SnappyCodec and Lz4Codec write blocks
// (org.apache.hadoop.io.compress.BlockCompressorStream): the length of the block's content, then chunks, each with its
// length, until the block is full; all lengths have four bytes, big endian. A .snappy file that is neither this nor in a
// format of snappy-java or the framing format may be a single bare block, as small tools write it.
var namedCodecs = []struct {
	suffix string
	codec  codec
}{
	{".deflate", codec{"deflate", isZlib, openZlib}},
	{".zlib", codec{"deflate", isZlib, openZlib}},
	{".snappy", codec{"snappy in Hadoop's blocks", isHadoopSnappy, openHadoopSnappy}},
	{".snappy", codec{"snappy", isRawSnappy, openRawSnappy}},
	{".lz4", codec{"lz4 in Hadoop's blocks", isHadoopBlock, openHadoopLZ4}},
}

func isZlib(head []byte) bool {
	return len(head) >= 2 && head[0]&0x0f == 8 && binary.BigEndian.Uint16(head)%31 == 0
}

// openZlib reads concatenated zlib streams.
func openZlib(r *bufio.Reader) (io.Reader, error) {
	z, err := zlib.NewReader(r)
	if err != nil {
		return nil, zlibError(err)
	}
	return &zlibStream{r: r, z: z}, nil
}

type zlibStream struct {
	r *bufio.Reader
	z io.ReadCloser
}

func (s *zlibStream) Read(p []byte) (int, error) {
	for {
		n, err := s.z.Read(p)
		if err != io.EOF {
			return n, zlibError(err)
		}
		if n > 0 {
			return n, nil
		}
		if _, err := s.r.Peek(1); err != nil {
			return 0, err
		}
		if err := s.z.(zlib.Resetter).Reset(s.r, nil); err != nil {
			return 0, zlibError(err)
		}
	}
}

func zlibError(err error) error {
	switch err {
	case nil, io.EOF, io.ErrUnexpectedEOF:
		return err
	case zlib.ErrChecksum, zlib.ErrDictionary, zlib.ErrHeader:
		return corrupt("%v", err)
	}
	return corrupt("the stream does not unpack: %v", err)
}

// isHadoopBlock reports whether the lengths of a first block and chunk are plausible: a chunk has at least one byte, and no
// more than its content may grow to.
func isHadoopBlock(head []byte) bool {
	if len(head) < 9 {
		return false
	}
	content, packed := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:])
	return content > 0 && content <= maxBlock && packed > 0 && uint64(packed) <= packedBound(int(content))
}

// packedBound returns the size to which incompressible content may grow: snappy adds 1/6 and some bytes, lz4 1/255.
func packedBound(content int) uint64 { return uint64(content) + uint64(content)/6 + 64 }

func isHadoopSnappy(head []byte) bool {
	if !isHadoopBlock(head) {
		return false
	}
	n, err := snappy.DecodedLen(head[8:])
	return err == nil && n > 0 && n <= int(binary.BigEndian.Uint32(head))
}

func openHadoopSnappy(r *bufio.Reader) (io.Reader, error) {
	return hadoopBlocks(r, func(dst, src []byte) (int, error) {
		n, err := snappy.DecodedLen(src)
		if err != nil || n > len(dst) {
			return 0, corrupt("a chunk has no sensible length")
		}
		if _, err := snappy.Decode(dst, src); err != nil {
			return 0, corrupt("a chunk does not unpack: %v", err)
		}
		return n, nil
	}), nil
}

func openHadoopLZ4(r *bufio.Reader) (io.Reader, error) {
	return hadoopBlocks(r, func(dst, src []byte) (int, error) {
		n, err := lz4.UncompressBlock(src, dst)
		if err != nil || n == 0 {
			return 0, corrupt("a chunk does not unpack: %v", err)
		}
		return n, nil
	}), nil
}

func hadoopBlocks(r io.Reader, unpack func(dst, src []byte) (int, error)) io.Reader {
	s := &hadoopStream{r: r, unpack: unpack}
	return &blocks{next: s.next}
}

type hadoopStream struct {
	r       io.Reader
	unpack  func(dst, src []byte) (int, error)
	left    int // bytes of the block's content not read yet
	in, out []byte
}

func (s *hadoopStream) next() ([]byte, error) {
	var h [4]byte
	if s.left == 0 {
		if n, err := io.ReadFull(s.r, h[:]); err != nil {
			if n == 0 && err == io.EOF {
				return nil, io.EOF
			}
			return nil, cut(err)
		}
		content := binary.BigEndian.Uint32(h[:])
		if content > maxBlock {
			return nil, corrupt("a block of %d bytes", content)
		}
		if s.left = int(content); s.left == 0 {
			return nil, nil
		}
	}
	if _, err := io.ReadFull(s.r, h[:]); err != nil {
		return nil, cut(err)
	}
	packed := binary.BigEndian.Uint32(h[:])
	if packed == 0 || uint64(packed) > packedBound(s.left) {
		return nil, corrupt("a chunk of %d bytes for %d", packed, s.left)
	}
	var err error
	if s.in, err = readN(s.r, s.in, int(packed)); err != nil {
		return nil, err
	}
	if cap(s.out) < s.left {
		s.out = make([]byte, s.left)
	}
	n, err := s.unpack(s.out[:s.left], s.in)
	if err != nil {
		return nil, err
	}
	s.left -= n
	return s.out[:n], nil
}

// isRawSnappy: a block starts with its length, which is not ASCII if over 127, followed by a literal.
func isRawSnappy(head []byte) bool {
	n, size := binary.Uvarint(head)
	return size > 1 && n <= maxBlock && size < len(head) && head[size]&3 == 0
}

// openRawSnappy reads a bare block, which must be held in memory.
func openRawSnappy(r *bufio.Reader) (io.Reader, error) {
	packed, err := io.ReadAll(io.LimitReader(r, maxBlock+maxBlock/6+64))
	if err != nil {
		return nil, err
	}
	content, err := snappy.Decode(nil, packed)
	if err != nil {
		return nil, corrupt("the block does not unpack, or is cut: %v", err)
	}
	return bytes.NewReader(content), nil
}
