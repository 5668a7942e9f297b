package run_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"straggler/ingest"
	"straggler/ingest/run"
)

// A reader of an input that is after others may block, and must not hold more than its share; the rows still arrive in the
// order of the inputs, and a store that fails ends all of them.
func TestOrderAcrossInputs(t *testing.T) {
	files := map[string][]byte{}
	for i := range 12 {
		files[fmt.Sprintf("%02d.log", i)] = toyLog(fmt.Sprint(i), 2000)
	}
	dir := tree(t, files)
	for _, buffered := range []int64{1, 1 << 12, 1 << 30} {
		st := newStore(t)
		s := mustRun(t, st, run.Options{Parallel: 6, Limits: ingest.Limits{Buffered: buffered}}, dir)
		if s.Rows["attempts"] != 24_000 {
			t.Errorf("buffer %d: %v", buffered, s.Rows)
		}
	}
	// The first input waits until another has been read, which is possible only if it does not block the others forever.
	slow := toy()
	second := make(chan struct{})
	var once sync.Once
	slow.Read = func(ctx context.Context, in *ingest.Input, out *ingest.Sink) error {
		if in.Base == "00.log" {
			<-second
		} else {
			defer once.Do(func() { close(second) })
		}
		return readToy(ctx, in, out)
	}
	if _, err := run.Run(t.Context(), newStore(t), []ingest.Format{slow}, []string{dir}, run.Options{Parallel: 2}); err != nil {
		t.Error(err)
	}
}
