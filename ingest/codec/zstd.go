package codec

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// isZstd matches a frame or a skippable frame, whose magic has 16 values.
func isZstd(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	magic := binary.LittleEndian.Uint32(head)
	return magic == 0xFD2FB528 || magic&^0xF == 0x184D2A50
}

// openZstd reads concatenated frames: Spark ends a frame at each flush.
func openZstd(r *bufio.Reader) (io.Reader, error) {
	d, err := zstdDecoder(r)
	if err != nil {
		return nil, err
	}
	return &zstdStream{d: d}, nil
}

// zstdDecoders holds decoders for reuse. A decoder has a buffer of the size of its largest window, up to 128 MiB for streams
// that were compressed without a known length: clearing it takes longer than decoding a small log.
var zstdDecoders sync.Pool

// zstdDecoder returns a decoder of one goroutine: more are slower on the small frames of event logs, and would read ahead of
// a reader that stops.
func zstdDecoder(r io.Reader) (*zstd.Decoder, error) {
	if d, ok := zstdDecoders.Get().(*zstd.Decoder); ok {
		return d, d.Reset(r)
	}
	return zstd.NewReader(r,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxBlock),
		zstd.WithDecoderMaxMemory(math.MaxInt64))
}

// zstdStream reads a stream, and returns its decoder to the pool when closed.
type zstdStream struct {
	d      *zstd.Decoder // nil after Close
	failed bool
}

func (z *zstdStream) Read(p []byte) (int, error) {
	if z.d == nil {
		return 0, zstd.ErrDecoderClosed
	}
	failed := true
	defer func() { z.failed = z.failed || failed }() // also after a panic
	n, err := z.d.Read(p)
	failed = err != nil && err != io.EOF
	return n, err
}

func (z *zstdStream) Close() error {
	d := z.d
	z.d = nil
	switch {
	case d == nil:
	case z.failed || d.Reset(nil) != nil:
		d.Close()
	default:
		zstdDecoders.Put(d)
	}
	return nil
}
