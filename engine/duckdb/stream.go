package duckdb

import (
	"context"
	"errors"

	"straggler/engine"
)

// Stream is Query on one thread. With several threads, the one that reads a stream busy-waits for the others: with two, reading
// a table takes a fifth more processor time, and half more on a busy machine. Other queries are limited to one thread
// meanwhile, because DuckDB has no such setting per query. Few rows are gathered instead.
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
	r, columns, err := d.result(ctx, sql, how{})
	if err != nil {
		return nil, errors.Join(err, d.addStreams(ctx, -1))
	}
	return engine.NewRows(ctx, columns, &stream{r}), nil
}

// stream is a result during which the database has one thread.
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

// addStreams counts open streams and sets the number of threads, even after a cancellation.
func (d *Engine) addStreams(ctx context.Context, n int) error {
	d.refreshing.Lock()
	defer d.refreshing.Unlock()
	d.streams += n
	return d.setThreads(context.WithoutCancel(ctx))
}
