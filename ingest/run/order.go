package run

import (
	"context"
	"sync"

	"straggler/schema"
)

// order writes the rows of inputs that are read in parallel in the order of the inputs. Rows of the first unfinished input (the
// head) are written immediately; those of the others are queued, and when the queue is full their readers block. The head never
// waits for another input, so there is no deadlock.
type order struct {
	write func(input int, b schema.Batch) error
	max   int64

	mu      sync.Mutex
	change  sync.Cond
	head    int                   // the input whose rows are written immediately
	waiting map[int]*pendingInput // of inputs after it
	bytes   int64                 // queued
	err     error
}

// pendingInput is the queued rows of one input.
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

// put adds a batch of an input. Several goroutines of the input may call it.
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

// done marks the end of an input. If it was the head, the queued rows of the next inputs are written; an input becomes the head
// only once none of its rows are queued.
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

// flush writes the queued rows of an input, without holding the lock.
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
