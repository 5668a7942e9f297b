package run

import (
	"context"
	"sync"

	"straggler/schema"
)

// order lets the rows of inputs that are read in parallel through in the order of the inputs: those of the first input
// that is not done go through at once, those of the others wait, and past a bound their readers wait too. The first
// one never waits for another, so there is no deadlock.
type order struct {
	write func(input int, b schema.Batch) error
	max   int64

	mu      sync.Mutex
	change  sync.Cond
	head    int                   // the input whose rows go through
	waiting map[int]*pendingInput // of inputs behind it
	bytes   int64                 // that wait
	err     error
}

// pendingInput is what waits for one input.
type pendingInput struct {
	batches []schema.Batch
	done    bool
}

func newOrder(ctx context.Context, max int64, write func(input int, b schema.Batch) error) (*order, func() bool) {
	o := &order{write: write, max: max, waiting: make(map[int]*pendingInput)}
	o.change.L = &o.mu
	stop := context.AfterFunc(ctx, func() { o.fail(ctx.Err()) })
	return o, stop
}

func (o *order) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
	o.change.Broadcast()
}

// put takes a batch of an input. It may be called from several goroutines of the input.
func (o *order) put(input int, b schema.Batch) error {
	o.mu.Lock()
	for o.err == nil && input != o.head && o.bytes > 0 && o.bytes+b.Size() > o.max {
		o.change.Wait()
	}
	if o.err != nil {
		defer o.mu.Unlock()
		return o.err
	}
	if input != o.head {
		p := o.pending(input)
		p.batches = append(p.batches, b.Clone())
		o.bytes += b.Size()
		o.mu.Unlock()
		return nil
	}
	o.mu.Unlock()
	if err := o.write(input, b); err != nil {
		o.fail(err)
		return err
	}
	return nil
}

func (o *order) pending(input int) *pendingInput {
	p := o.waiting[input]
	if p == nil {
		p = new(pendingInput)
		o.waiting[input] = p
	}
	return p
}

// done says that an input has no more rows. When it was the first, the next ones move up, and what waited for them is
// written here; an input is the first only when nothing of it waits any more.
func (o *order) done(input int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if input != o.head {
		o.pending(input).done = true
		return o.err
	}
	for next := o.head + 1; o.err == nil; {
		p := o.waiting[next]
		if p == nil || len(p.batches) == 0 {
			o.head = next
			delete(o.waiting, next)
			o.change.Broadcast()
			if p == nil || !p.done {
				break
			}
			next++
			continue
		}
		o.flush(next, p)
	}
	return o.err
}

// flush writes what waits for an input, without holding the lock.
func (o *order) flush(input int, p *pendingInput) {
	batches := p.batches
	p.batches = nil
	o.mu.Unlock()
	var err error
	for i := 0; i < len(batches) && err == nil; i++ {
		err = o.write(input, batches[i])
	}
	o.mu.Lock()
	for _, b := range batches {
		o.bytes -= b.Size()
	}
	if err != nil && o.err == nil {
		o.err = err
	}
	o.change.Broadcast()
}
