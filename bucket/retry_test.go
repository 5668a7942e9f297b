package bucket

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// The default policy bridges half a minute on average and never waits longer than a minute; a context ends the waiting.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const operations = 200
		p := RetryPolicy{}.WithDefaults()
		begin := time.Now()
		for range operations {
			pauses, start := p.Backoff(), time.Now()
			for bound := range p.Tries - 1 {
				before := time.Now()
				if err := pauses.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				if d := time.Since(before); d > p.Pause<<bound+time.Nanosecond || d <= 0 {
					t.Fatalf("pause %d took %v", bound, d)
				}
			}
			if d := time.Since(start); d > time.Minute+2*time.Second {
				t.Fatalf("an operation waited %v", d)
			}
		}
		// The mean of the sum is 30.75 s and its standard deviation 10.6 s: 200 operations are within 4 of 0.75 s.
		if mean := time.Since(begin) / operations; mean < 27*time.Second || mean > 34*time.Second {
			t.Errorf("operations waited %v on average", mean)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := NewBackoff(time.Hour, time.Hour).Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled wait: %v", err)
		}
	})
}
