package discover

import (
	"context"
	"errors"
	"io"
	"testing"
)

// Opening a named pipe waits for a writer, who may never come.
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
