package generate

import (
	"io"
	"path"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Compress returns a writer to a file with the given name: its extension determines the compression (.zst, .zstd, .gz), if any.
// Close it before the file.
func Compress(name string, w io.Writer) (io.WriteCloser, error) {
	switch path.Ext(name) {
	case ".zst", ".zstd":
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	case ".gz":
		return gzip.NewWriterLevel(w, gzip.BestSpeed)
	}
	return uncompressed{w}, nil
}

type uncompressed struct{ io.Writer }

func (uncompressed) Close() error { return nil }
