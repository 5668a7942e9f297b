package codec

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"io"
)

// isBzip2 requires the magic of the first block, or of the end of an empty file, after that of the stream: three letters and
// a digit start many texts.
func isBzip2(head []byte) bool {
	if len(head) < 10 || !bytes.HasPrefix(head, []byte("BZh")) || head[3] < '1' || head[3] > '9' {
		return false
	}
	return string(head[4:10]) == "\x31\x41\x59\x26\x53\x59" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90"
}

// openBzip2 reads concatenated streams, as parallel compressors write them.
func openBzip2(r *bufio.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }
