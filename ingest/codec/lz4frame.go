package codec

import (
	"bufio"
	"io"

	"github.com/pierrec/lz4/v4"
)

// openLZ4Frame reads concatenated frames, as the lz4 command writes them.
func openLZ4Frame(r *bufio.Reader) (io.Reader, error) { return lz4.NewReader(r), nil }
