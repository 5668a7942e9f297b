package read

import (
	"bufio"
	"context"
	"io"

	"straggler/ingest"
)

// Peeking returns the part with an Open that passes its first bytes, at most 64 KiB after decompression, to look before they
// are read: the kind of file must be known before its blocks are decoded, and a stream can be opened only once. If look returns
// false, none of it is read.
func Peeking(p ingest.Part, look func(head []byte, whole bool) bool) ingest.Part {
	open := p.Open
	p.Open = func(ctx context.Context) (io.ReadCloser, error) {
		f, err := open(ctx)
		if err != nil {
			return nil, err
		}
		r := &peeked{file: f, buf: bufio.NewReaderSize(f, ingest.HeadBytes)}
		var head []byte
		head, r.err = r.buf.Peek(ingest.HeadBytes)
		if !look(head, r.err != nil) {
			r.buf.Discard(len(head))
			r.err = io.EOF
		}
		return r, nil
	}
	return p
}

// peeked reads the bytes that were peeked at, and then the rest.
type peeked struct {
	file io.ReadCloser
	buf  *bufio.Reader
	err  error // how the file ended within the head; io.EOF if it is not wanted
}

func (r *peeked) Read(p []byte) (int, error) {
	if r.err != nil && r.buf.Buffered() == 0 {
		return 0, r.err
	}
	return r.buf.Read(p)
}

func (r *peeked) Close() error { return r.file.Close() }
