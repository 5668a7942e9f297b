package ingest

import (
	"context"
	"sync"
)

// parallel runs n pieces of work on some goroutines and waits for them. Each goroutine calls work once, which asks for
// one piece after the other, in order. The first error ends the others with the context.
func parallel(ctx context.Context, goroutines, n int, work func(next func() (int, bool)) error) error {
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		at    int
		first error
	)
	next := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		if at == n || first != nil || ctx.Err() != nil {
			return 0, false
		}
		at++
		return at - 1, true
	}
	for range min(goroutines, n) {
		wg.Go(func() {
			if err := work(next); err != nil {
				mu.Lock()
				if first == nil {
					first = err
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if first == nil {
		first = ctx.Err()
	}
	return first
}
