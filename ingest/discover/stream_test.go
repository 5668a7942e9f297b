package discover

import (
	"context"
	"errors"
	"io"
	"testing"
)

// endless is a stream without an end, whose reader gives up.
type endless struct {
	reads  int
	cancel context.CancelFunc
}

func (e *endless) Read(p []byte) (int, error) {
	if e.reads++; e.reads == 10 {
		e.cancel()
	}
	return len(p), nil
}

// A file whose reader gave up is read to its end for its fingerprint, but no longer than the context lasts.
func TestDrainEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	raw := &endless{cancel: cancel}
	(&countingReader{r: raw, stats: newFileStats(nil)}).drain(ctx)
	if raw.reads != 10 {
		t.Errorf("%d reads, want 10", raw.reads)
	}
}

// Opening a named pipe waits for a writer that may never come.
func TestOpenStreamEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	never := make(chan struct{})
	defer close(never)
	_, err := openStream(ctx, func() (io.ReadCloser, error) {
		cancel()
		<-never
		return nil, io.EOF
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := openStream(t.Context(), func() (io.ReadCloser, error) { return nil, io.EOF }); err != io.EOF {
		t.Errorf("an error of opening became %v", err)
	}
}
