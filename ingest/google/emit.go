package google

import (
	"straggler/ingest"
	"straggler/schema"
)

// emitter sends traces on in a separate goroutine, in order, while the next one is being filled.
type emitter struct {
	full, free chan *schema.Trace
	ended      chan struct{}
	err        error // once it has ended
}

func newEmitter(out *ingest.Sink) *emitter {
	e := &emitter{full: make(chan *schema.Trace, 1), free: make(chan *schema.Trace, 2), ended: make(chan struct{})}
	e.free <- new(schema.Trace)
	e.free <- new(schema.Trace)
	go func() {
		defer close(e.ended)
		e.err = e.run(out)
	}()
	return e
}

func (e *emitter) run(out *ingest.Sink) (err error) {
	defer ingest.Recover(&err)
	for t := range e.full {
		if err := ingest.EmitTrace(out, t); err != nil {
			return err
		}
		t.Reset()
		e.free <- t // never blocks: there are no more traces than fit
	}
	return nil
}

// emit sends a trace and returns an empty one in exchange. The error is from any earlier trace.
func (e *emitter) emit(t *schema.Trace) (empty *schema.Trace, err error) {
	select {
	case e.full <- t:
	case <-e.ended:
		return t, e.err
	}
	select {
	case empty = <-e.free:
		return empty, nil
	case <-e.ended:
		return t, e.err
	}
}

// end waits until everything is sent. Nothing may be emitted afterwards.
func (e *emitter) end() error {
	close(e.full)
	<-e.ended
	return e.err
}
