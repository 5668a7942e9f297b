package codec

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/gzip"
)

// openGzip reads concatenated members, as `cat a.gz b.gz` makes them.
func openGzip(r *bufio.Reader) (io.Reader, error) { return gzip.NewReader(r) }
