package codec

import "io"

// limiter charges what comes out of the last codec.
type limiter struct {
	r     io.Reader
	meter *Meter // nil where nothing is compressed
	out   int64
}

func (l *limiter) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.out += int64(n)
	if l.meter != nil {
		if over := l.meter.At(l.out); over != nil {
			return 0, over
		}
	}
	return n, err
}

// counter counts what goes in.
type counter struct {
	r      io.Reader
	n      int64
	err    error   // of r, but io.EOF
	budget *Budget // nil where whoever made it knows the size of the input
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if c.budget != nil {
		c.budget.In(int64(n))
	}
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}
