package hs2

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/beltran/gohive/hiveserver"
)

// request makes one request on the session's connection. op is the operation that it is about, if any: when the context
// ends it is cancelled, so that the cluster stops working on it.
func (s *Session) request(ctx context.Context, op *hiveserver.TOperationHandle, do func(*hiveserver.TCLIServiceClient) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost != nil {
		return s.lost
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("spark: %w", err)
	}
	w := &watch{s: s, op: op, answered: make(chan struct{}), stopped: make(chan struct{})}
	go w.monitor(ctx)
	err := do(s.conn.client)
	close(w.answered)
	<-w.stopped
	switch {
	case w.frozen != nil:
		s.lost = w.frozen
	case w.hungUp || broken(err):
		s.lost = fmt.Errorf("%w: %s: %w", ErrLost, s.o.Address, err)
	}
	if s.lost != nil {
		s.conn.net.Close()
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("spark: %w", ctx.Err())
	case s.lost != nil:
		return s.lost
	}
	return err
}

// watch is the supervision of one request.
type watch struct {
	s        *Session
	op       *hiveserver.TOperationHandle
	answered chan struct{} // closed by the request
	stopped  chan struct{} // closed by the watch
	frozen   error
	hungUp   bool
}

// grace is how long a cancelled request may take to return before its connection is cut.
const grace = 10 * time.Second

// monitor waits for the answer. A server sends one answer at a time on a connection, so other requests use a second one, the
// control connection.
func (w *watch) monitor(ctx context.Context) {
	defer close(w.stopped)
	silence := time.NewTimer(w.s.o.SilentFor)
	defer silence.Stop()
	for {
		select {
		case <-w.answered:
			return
		case <-ctx.Done():
			w.cancel()
			return
		case <-silence.C:
			if err := w.ask(ctx); err != nil && ctx.Err() == nil {
				w.frozen = fmt.Errorf("%w: %s has said nothing for %s: %w", ErrFrozen, w.s.o.Address, w.s.o.SilentFor, err)
				w.hangUp()
				return
			}
			silence.Reset(w.s.o.SilentFor)
		}
	}
}

// cancel stops the operation on the cluster.
func (w *watch) cancel() {
	if w.op != nil {
		// or the cut connection does it
		w.s.onControlConn(context.Background(), func(c *hiveserver.TCLIServiceClient) error { return cancelOperation(c, w.op) })
	}
	wait := time.NewTimer(grace)
	defer wait.Stop()
	select {
	case <-w.answered:
	case <-wait.C:
		w.hangUp()
	}
}

func (w *watch) hangUp() {
	w.hungUp = true
	w.s.conn.net.Close()
}

// ask requests the status of the operation. It returns an error if the server does not answer, or does not have the operation any
// more.
func (w *watch) ask(ctx context.Context) error {
	if w.op == nil {
		return errors.New("it took the request")
	}
	return w.s.onControlConn(ctx, func(c *hiveserver.TCLIServiceClient) error {
		req := hiveserver.NewTGetOperationStatusReq()
		req.OperationHandle = w.op
		answer, err := c.GetOperationStatus(context.Background(), req)
		if err != nil {
			return err
		}
		return statusError(answer.GetStatus())
	})
}

// onControlConn makes a request on a second connection, which is then closed.
func (s *Session) onControlConn(ctx context.Context, do func(*hiveserver.TCLIServiceClient) error) error {
	l, err := s.o.connect(ctx, s.o.Connect)
	if err != nil {
		return err
	}
	defer l.net.Close()
	return do(l.client)
}

func cancelOperation(c *hiveserver.TCLIServiceClient, op *hiveserver.TOperationHandle) error {
	req := hiveserver.NewTCancelOperationReq()
	req.OperationHandle = op
	_, err := c.CancelOperation(context.Background(), req)
	return err
}
