package bucket

import (
	"context"
	"time"
)

// Patience says how often and how long to try. The zero value is for real networks.
type Patience struct {
	Tries int           // before something is given up; default 8
	Pause time.Duration // before the second try, and twice as long before each further one; default 250 ms
	Stall time.Duration // without an answer or a byte until a connection counts as broken; default 1 minute
}

// longestPause bounds the pauses between tries.
const longestPause = 15 * time.Second

// WithDefaults fills in what is not said.
func (p Patience) WithDefaults() Patience {
	if p.Tries <= 0 {
		p.Tries = 8
	}
	if p.Pause <= 0 {
		p.Pause = 250 * time.Millisecond
	}
	if p.Stall <= 0 {
		p.Stall = time.Minute
	}
	return p
}

// Wait is the pause after a number of failures: twice as long each time.
func (p Patience) Wait(ctx context.Context, failures int) error {
	d := longestPause
	if failures < 20 {
		d = min(p.Pause<<(failures-1), longestPause)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
