package generate

import (
	"bufio"
	"context"
	"io"
)

// Like writes a Spark event log of at least the given number of bytes to w: the decompressed log r repeatedly, as one
// application, each time with new job, stage, task, RDD, shuffle and execution ids and later in time. Whatever belongs to the
// application, such as its executors, occurs once. It returns the bytes written.
func Like(ctx context.Context, w io.Writer, r io.Reader, size int64) (int64, error) {
	t, err := readTemplate(r)
	if err != nil {
		return 0, wrap(err, "reading the log to repeat")
	}
	out := &counter{w: bufio.NewWriterSize(w, 1<<20)}
	var still [numbers]int64
	if err := out.lines(ctx, t.head, &still); err != nil {
		return out.n, err
	}
	var move [numbers]int64
	for {
		if err := out.lines(ctx, t.body, &move); err != nil {
			return out.n, err
		}
		if out.n >= size {
			break
		}
		for i := range move {
			move[i] += t.span[i]
		}
	}
	if err := out.lines(ctx, t.tail, &move); err != nil {
		return out.n, err
	}
	return out.n, wrap(out.w.Flush(), "writing the log")
}

type counter struct {
	w   *bufio.Writer
	n   int64
	buf []byte
}

func (c *counter) lines(ctx context.Context, ls []line, move *[numbers]int64) error {
	for i := range ls {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := c.line(&ls[i], move); err != nil {
			return err
		}
	}
	return nil
}

// Write writes to the underlying writer and counts the bytes.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func (c *counter) line(l *line, move *[numbers]int64) error {
	c.buf = l.appendTo(c.buf[:0], move)
	n, err := c.w.Write(c.buf)
	c.n += int64(n)
	return wrap(err, "writing the log")
}
