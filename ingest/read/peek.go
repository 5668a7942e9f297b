package read

import (
	"bufio"
	"context"
	"io"

	"straggler/ingest"
)

// Peeking is the part with an Open that shows look its first bytes, at most 64 KiB decompressed ones, before they are
// read: what kind of file it is must be known before its blocks are decoded, and a stream can be opened only once. Where
// look says false nothing is read of it.
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

// peeked gives the bytes that were looked at, and then the rest.
type peeked struct {
	file io.ReadCloser
	buf  *bufio.Reader
	err  error // how the file ended within the head; io.EOF where it is not wanted
}

func (r *peeked) Read(p []byte) (int, error) {
	if r.err != nil && r.buf.Buffered() == 0 {
		return 0, r.err
	}
	return r.buf.Read(p)
}

func (r *peeked) Close() error { return r.file.Close() }
