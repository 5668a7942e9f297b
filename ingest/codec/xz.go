package codec

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"

	"straggler/ingest"
)

// The xz container, according to The .xz File Format 1.0.4 (§ in brackets). The library's own reader allocates whatever
// dictionary a header requests, up to 4 GiB. Only the LZMA2 filter is supported; no tool uses others for text.
const (
	xzMagic  = "\xfd7zXZ\x00"
	xzFooter = "YZ"
	xzLZMA2  = 0x21
)

func openXZ(r *bufio.Reader) (io.Reader, error) {
	return &xzStream{r: &xzSource{r: r}}, nil
}

// xzSource counts bytes, to compute the padding of blocks and indexes.
type xzSource struct {
	r *bufio.Reader
	n int64
}

func (s *xzSource) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n += int64(n)
	return n, err
}

func (s *xzSource) ReadByte() (byte, error) {
	b, err := s.r.ReadByte()
	if err == nil {
		s.n++
	}
	return b, err
}

type xzStream struct {
	r      *xzSource
	flags  byte      // the kind of check of this stream's blocks
	body   io.Reader // of the current block, nil between blocks
	start  int64     // start of that body
	check  hash.Hash // of its content; nil for none and for unknown kinds
	opened bool      // inside a stream

	cleared int64 // total size of the dictionaries of all blocks
	err     error
}

func (x *xzStream) Read(p []byte) (int, error) {
	for x.err == nil {
		if x.body == nil {
			x.err = x.advance()
			continue
		}
		n, err := x.body.Read(p)
		if x.check != nil {
			x.check.Write(p[:n])
		}
		if err == io.EOF {
			x.body = nil
			err = x.endBlock()
		}
		x.err = err
		if n > 0 {
			return n, nil
		}
	}
	return 0, x.err
}

// advance moves to the next block, across the boundary between streams if necessary.
func (x *xzStream) advance() error {
	if !x.opened {
		return x.openStream()
	}
	size, err := x.r.ReadByte()
	if err != nil {
		return cut(err)
	}
	if size == 0 {
		x.opened = false
		return x.endStream()
	}
	return x.openBlock(size)
}

// openStream reads the padding before a stream [2.2] and its header [2.1.1]; io.EOF at the end of the file.
func (x *xzStream) openStream() error {
	var h [12]byte
	for {
		if n, err := io.ReadFull(x.r, h[:4]); err != nil {
			if n == 0 && err == io.EOF {
				return io.EOF
			}
			return cut(err)
		}
		if [4]byte(h[:4]) != [4]byte{} {
			break
		}
	}
	if _, err := io.ReadFull(x.r, h[4:]); err != nil {
		return cut(err)
	}
	if string(h[:6]) != xzMagic || crc32.ChecksumIEEE(h[6:8]) != binary.LittleEndian.Uint32(h[8:]) || h[6] != 0 || h[7]&0xF0 != 0 {
		return corrupt("no stream starts where one should")
	}
	x.flags, x.opened = h[7], true
	return nil
}

// openBlock reads a block header [3.1] whose first byte is size.
func (x *xzStream) openBlock(size byte) error {
	h, err := readN(x.r, []byte{}, (int(size)+1)*4-1)
	if err != nil {
		return err
	}
	end := len(h) - 4
	if crc32.Update(crc32.ChecksumIEEE([]byte{size}), crc32.IEEETable, h[:end]) != binary.LittleEndian.Uint32(h[end:]) {
		return corrupt("the checksum of a block header is wrong")
	}
	dict, err := xzDictionary(h[:end])
	if err != nil {
		return err
	}
	if dict > maxBlock {
		return fmt.Errorf("%w: it needs a dictionary of %d bytes, at most %d are given", ingest.ErrLimit, dict, maxBlock)
	}
	// Each block clears its dictionary, so a file of many tiny blocks with large dictionaries takes much time.
	x.cleared += dict
	if x.cleared > 64<<30 && x.cleared/4096 > x.r.n {
		return fmt.Errorf("%w: it has very many small blocks with large dictionaries", ingest.ErrLimit)
	}
	x.start = x.r.n
	x.check = newXZCheck(x.flags)
	x.body, err = lzma.Reader2Config{DictCap: int(max(dict, lzma.MinDictCap))}.NewReader2(x.r)
	return cut(err)
}

// xzDictionary reads the filters of a block header, which must be LZMA2 only.
func xzDictionary(h []byte) (int64, error) {
	flags, h := h[0], h[1:]
	if flags&0x03 != 0 || flags&0x3C != 0 {
		return 0, corrupt("it uses filters other than LZMA2, which are not supported")
	}
	for _, present := range []bool{flags&0x40 != 0, flags&0x80 != 0} { // compressed and uncompressed size
		if present {
			_, n := binary.Uvarint(h)
			if n <= 0 {
				return 0, corrupt("a block header has no sensible size")
			}
			h = h[n:]
		}
	}
	if len(h) < 3 || h[0] != xzLZMA2 || h[1] != 1 {
		return 0, corrupt("it uses filters other than LZMA2, which are not supported")
	}
	dict, err := lzma.DecodeDictCap(h[2])
	if err != nil {
		return 0, corrupt("%v", err)
	}
	return dict, nil
}

// endBlock reads the padding [3.3] and the check [3.4] after a block's body.
func (x *xzStream) endBlock() error {
	pad := int(-(x.r.n - x.start) & 3)
	sizes := [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64} // by kind [2.1.1.2]
	want, err := readN(x.r, nil, pad+sizes[x.flags])
	if err != nil {
		return err
	}
	for _, b := range want[:pad] {
		if b != 0 {
			return corrupt("the padding of a block is wrong")
		}
	}
	if x.check != nil && string(x.check.Sum(nil)) != string(want[pad:]) {
		return corrupt("the checksum of a block is wrong")
	}
	return nil
}

// endStream reads the index [4] after its first byte, and the stream footer [2.1.2]. The sizes repeated in the index are
// skipped, since each block was checked already.
func (x *xzStream) endStream() error {
	start := x.r.n - 1
	records, err := binary.ReadUvarint(x.r)
	if err != nil {
		return cut(err)
	}
	for i := uint64(0); i < records; i++ {
		for range 2 {
			if _, err := binary.ReadUvarint(x.r); err != nil {
				return cut(err)
			}
		}
	}
	pad := int(-(x.r.n - start) & 3)
	rest, err := readN(x.r, nil, pad+4+12) // its checksum, then the footer
	if err != nil {
		return err
	}
	footer := rest[pad+4:]
	if string(footer[10:]) != xzFooter || crc32.ChecksumIEEE(footer[4:10]) != binary.LittleEndian.Uint32(footer) {
		return corrupt("the end of a stream is wrong")
	}
	return nil
}

// newXZCheck returns the hash named by a stream's flags [2.1.1.2].
func newXZCheck(flags byte) hash.Hash {
	switch flags {
	case 0x1:
		return littleEndian{crc32.NewIEEE()}
	case 0x4:
		return littleEndian{crc64.New(crc64.MakeTable(crc64.ECMA))}
	case 0xA:
		return sha256.New()
	}
	return nil
}

// littleEndian reverses the sum of a CRC, which package hash returns in big endian.
type littleEndian struct{ hash.Hash }

func (l littleEndian) Sum(b []byte) []byte {
	sum := l.Hash.Sum(nil)
	for i := len(sum) - 1; i >= 0; i-- {
		b = append(b, sum[i])
	}
	return b
}
