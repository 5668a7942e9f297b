package hadoop

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"straggler/ingest"
	"straggler/schema"
)

// readObjects passes each object of a stream of JSON objects, from an offset on, to take, which must read it completely. An
// object that cannot be read is rejected, and reading continues with the next one that starts a line.
func readObjects(ctx context.Context, p ingest.Part, out *ingest.Sink, offset int64, take func(*jsontext.Decoder) error) error {
	r, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := io.CopyN(io.Discard, r, offset); err != nil {
		return err
	}
	src := &cutReader{r: bufio.NewReaderSize(r, 256<<10)}
	base := offset
	for {
		dec := jsontext.NewDecoder(src, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
		start, err := takeAll(ctx, dec, out, take)
		if err == io.EOF {
			return src.err
		}
		if e := out.Err(); e != nil {
			return e
		}
		if e := ctx.Err(); e != nil {
			return e
		}
		reason := "the object cannot be decoded: " + err.Error()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			reason = "the file ends within the object"
		}
		out.Reject(schema.Reject{SourceFile: p.Name, ByteOffset: base + start, Reason: reason, Sample: string(head(dec.UnreadBuffer()))})
		if src.err != nil {
			return src.err
		}
		at := dec.InputOffset()
		src.unread(dec.UnreadBuffer())
		skipped, err := src.skipToObject()
		if err != nil {
			return src.err
		}
		base += at + skipped
	}
}

// takeAll returns the offset of the object that err is about.
func takeAll(ctx context.Context, dec *jsontext.Decoder, out *ingest.Sink, take func(*jsontext.Decoder) error) (start int64, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return start, err
		}
		start = dec.InputOffset()
		if err := take(dec); err != nil {
			return start, err
		}
		out.Decoded(1)
	}
}

// cutReader reads what was put back, then r; it keeps the error of r.
type cutReader struct {
	back []byte
	r    *bufio.Reader
	err  error // of r, except io.EOF
}

func (c *cutReader) Read(p []byte) (int, error) {
	if len(c.back) > 0 {
		n := copy(p, c.back)
		c.back = c.back[n:]
		return n, nil
	}
	n, err := c.r.Read(p)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

func (c *cutReader) unread(b []byte) { c.back = append(bytes.Clone(b), c.back...) }

// skipToObject moves to the next line that starts with a brace in its first two columns.
func (c *cutReader) skipToObject() (skipped int64, err error) {
	var b [1]byte
	column, space := 1<<20, true // the line that failed is not one
	for {
		if _, err := io.ReadFull(c, b[:]); err != nil {
			return skipped, err
		}
		switch {
		case b[0] == '\n':
			column, space = 0, true
		case b[0] == '{' && space && column <= 1:
			c.unread(b[:])
			return skipped, nil
		default:
			space = space && b[0] == ' '
			column++
		}
		skipped++
	}
}
