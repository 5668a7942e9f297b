package codec

import "io"

// limiter charges the output of the last codec.
type limiter struct {
	r     io.Reader
	meter *Meter // nil if nothing is compressed
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

// counter counts the input.
type counter struct {
	r      io.Reader
	n      int64
	err    error   // of r, except io.EOF
	budget *Budget // nil if its creator knew the size of the input
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
