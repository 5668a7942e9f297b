package bucket

import (
	"context"
	"math/rand/v2"
	"time"
)

// RetryPolicy is how often and how long to try. The zero value means the defaults, which are for real networks.
type RetryPolicy struct {
	Tries int           // before an operation fails; default 8
	Pause time.Duration // at most, before the second try; twice as long before each further one; default 500 ms
	Stall time.Duration // without an answer or a byte until a connection counts as broken; default 1 minute
}

// maxPause bounds the pauses between tries. With it the default policy survives outages of half a minute on average, and of a
// minute at most.
const maxPause = 30 * time.Second

// WithDefaults fills in what is not set.
func (p RetryPolicy) WithDefaults() RetryPolicy {
	if p.Tries <= 0 {
		p.Tries = 8
	}
	if p.Pause <= 0 {
		p.Pause = 500 * time.Millisecond
	}
	if p.Stall <= 0 {
		p.Stall = time.Minute
	}
	return p
}

// Backoff returns the pauses between the tries of one operation.
func (p RetryPolicy) Backoff() *Backoff { return NewBackoff(p.Pause, maxPause) }

// Backoff waits for random times up to a bound that doubles, so that clients that failed together do not retry together.
type Backoff struct{ bound, max time.Duration }

// NewBackoff waits at most first the first time, and never longer than max.
func NewBackoff(first, max time.Duration) *Backoff { return &Backoff{first, max} }

// Wait waits, or returns the error of the context when that ends.
func (b *Backoff) Wait(ctx context.Context) error {
	pause := time.NewTimer(1 + rand.N(b.bound))
	defer pause.Stop()
	b.bound = min(2*b.bound, b.max)
	select {
	case <-pause.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// firstPause bounds the pause before the second try of a request, as the vendors' libraries do.
const firstPause = 800 * time.Millisecond

// retried calls ask until it succeeds or its error is final, at most tries times.
func retried[T any](ctx context.Context, tries int, final func(error) bool, ask func() (T, error)) (T, error) {
	pauses := NewBackoff(firstPause, maxPause)
	for try := 1; ; try++ {
		answer, err := ask()
		if err == nil || final(err) || try >= tries || ctx.Err() != nil {
			return answer, err
		}
		if err := pauses.Wait(ctx); err != nil {
			return answer, err
		}
	}
}
