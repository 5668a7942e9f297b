package parquetfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codec is the compression of pages.
type Codec int32

const (
	Uncompressed Codec = 0
	Snappy       Codec = 1
	Gzip         Codec = 2
	Brotli       Codec = 4
	HadoopLZ4    Codec = 5 // blocks preceded by their sizes, or, by other old writers, a single one without
	Zstd         Codec = 6
	LZ4          Codec = 7 // blocks without a frame
)

// A page may claim this many bytes, whatever it was compressed to; a larger one only if its size is at most maxRatio times that
// of its compressed bytes: a block of zstd repeats one byte 128 KiB long in four (RFC 8878 §3.1.1.2.2).
const (
	believed = 16 << 20
	maxRatio = 128 << 10 / 4
)

// claim checks the decompressed size that a page claims.
func claim(data []byte, size int) error {
	if size < 0 || size > believed && size/maxRatio > len(data) {
		return fmt.Errorf("a page of %d bytes claims to be %d", len(data), size)
	}
	return nil
}

// decompress returns the bytes of a page, which must have the given size. They are stored in the memory of to if it has room.
func decompress(c Codec, to, data []byte, size int) ([]byte, error) {
	if size == 0 { // some writers compress empty pages to nothing
		return nil, nil
	}
	if cap(to) < size {
		to = make([]byte, size)
	}
	to = to[:size]
	var err error
	switch n := 0; c {
	case Uncompressed:
		if len(data) != size {
			err = errValuesEnd
		}
		to = data
	case Snappy:
		if n, err = snappy.DecodedLen(data); err == nil && n != size {
			err = errValuesEnd
		} else if err == nil {
			to, err = snappy.Decode(to, data)
		}
	case Gzip:
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			_, err = io.ReadFull(r, to)
		}
	case Brotli:
		_, err = io.ReadFull(brotli.NewReader(bytes.NewReader(data)), to)
	case Zstd:
		var r *zstd.Decoder
		if r, err = decoder(); err == nil {
			to, err = r.DecodeAll(data, to[:0:size]) // into no more than size bytes
		}
		if err == nil && len(to) != size {
			err = errValuesEnd
		}
	case LZ4:
		if n, err = lz4.UncompressBlock(data, to); err == nil && n != size {
			err = errValuesEnd
		}
	case HadoopLZ4:
		if !hadoopLZ4(to, data) {
			if n, err = lz4.UncompressBlock(data, to); err == nil && n != size {
				err = errValuesEnd
			}
		}
	default:
		err = fmt.Errorf("its compression %d is not known", c)
	}
	if err != nil {
		return nil, fmt.Errorf("decompressing a page: %w", err)
	}
	return to, nil
}

// hadoopLZ4 decompresses frames of Hadoop's Lz4Codec: each has its decompressed and compressed sizes, big-endian, and a block.
// It reports whether data consists of such frames, which fill to.
func hadoopLZ4(to, data []byte) bool {
	for len(to) > 0 {
		if len(data) < 8 {
			return false
		}
		size, compressed := binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:])
		data = data[8:]
		if uint64(size) > uint64(len(to)) || uint64(compressed) > uint64(len(data)) || size == 0 {
			return false
		}
		if n, err := lz4.UncompressBlock(data[:compressed], to[:size]); err != nil || n != int(size) {
			return false
		}
		to, data = to[size:], data[compressed:]
	}
	return len(data) == 0
}

// One decoder and one encoder serve any number of concurrent callers, so their tables are created once.
var (
	decoder = sync.OnceValues(func() (*zstd.Decoder, error) { return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true)) })
	// Logs compress well at any level, and higher levels would take most of an ingest's time.
	encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithZeroFrames(true), zstd.WithAllLitEntropyCompression(true))
	})
)
