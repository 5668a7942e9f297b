package codec

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"

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

// openZstd reads frames one after the other: Spark ends a frame at each flush. One goroutine: with more the decoder is
// slower on the small frames of event logs, and would run ahead of a reader that stops.
func openZstd(r *bufio.Reader) (io.Reader, error) {
	d, err := zstd.NewReader(r,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxBlock),
		zstd.WithDecoderMaxMemory(math.MaxInt64))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}
