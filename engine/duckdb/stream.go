package duckdb

import (
	"context"
	"errors"

	"straggler/engine"
)

// Stream is Query on one thread. Of several that work at a query's stream, that which reads it asks the others again and again
// whether they have rows: with two, a table takes a fifth more of the processor's time to read, on a busy machine half more.
// Other queries have one thread meanwhile, too: DuckDB has no such setting for one of them. Of few rows all are gathered.
func (d *Engine) Stream(ctx context.Context, sql string) (*engine.Rows, error) {
	switch {
	case d.o.Locked:
		return d.Query(ctx, sql)
	case d.Few():
		return d.Gather(ctx, sql)
	}
	if err := d.prepare(ctx, sql); err != nil {
		return nil, err
	}
	if err := d.addStreams(ctx, 1); err != nil {
		return nil, err
	}
	r, columns, err := d.result(ctx, sql, false, false)
	if err != nil {
		return nil, errors.Join(err, d.addStreams(ctx, -1))
	}
	return engine.NewRows(ctx, columns, &stream{r}), nil
}

// stream is a result during which one thread works.
type stream struct{ *result }

func (s *stream) Close() error {
	if s.closed {
		return nil
	}
	err := s.d.addStreams(s.ctx, -1)
	if errors.Is(err, engine.ErrClosed) { // and has no threads any more
		err = nil
	}
	return errors.Join(err, s.result.Close())
}

// addStreams counts those that are open, and sets the threads, also when what was streamed has been cancelled.
func (d *Engine) addStreams(ctx context.Context, n int) error {
	d.refreshing.Lock()
	defer d.refreshing.Unlock()
	d.streams += n
	return d.setThreads(context.WithoutCancel(ctx))
}
