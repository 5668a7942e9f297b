package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"straggler/ingest"
	"straggler/schema"
)

// The error of the store reaches the format, which can not get past it, and nothing is written any more.
func TestSinkEnds(t *testing.T) {
	full := errors.New("disk full")
	writes := 0
	out := ingest.NewSink(ingest.Limits{}, func(schema.Batch) error { writes++; return full })
	for range 3 {
		if err := ingest.Emit(out, []schema.Machine{{Machine: "a"}}); !errors.Is(err, full) {
			t.Errorf("error %v", err)
		}
	}
	out.Reject(schema.Reject{})
	if writes != 1 || !errors.Is(out.Err(), full) {
		t.Errorf("%d writes, error %v", writes, out.Err())
	}
}

// Law 1 by counting: whatever is decoded or rejected, from any number of goroutines, is counted once.
func TestSinkCounts(t *testing.T) {
	var written atomic.Int64
	out := ingest.NewSink(ingest.Limits{Rejects: 100}, func(b schema.Batch) error { written.Add(int64(b.Len())); return nil })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				out.Decoded(3)
				out.Reject(schema.Reject{Reason: "no"})
				ingest.Emit(out, make([]schema.Attempt, 7))
			}
		})
	}
	wg.Wait()
	c := out.Counts()
	if c.Decoded != 1200 || c.Rejects != 400 || c.Rows["attempts"] != 2800 || c.Rows["rejects"] != 100 || written.Load() != 2900 {
		t.Errorf("%+v, %d written", c, written.Load())
	}
}

// A reader of an input that is behind others may block, and must not hold more than its share; the rows still come in
// the order of the inputs, and a store that fails ends all of them.
func TestOrderAcrossInputs(t *testing.T) {
	files := map[string][]byte{}
	for i := range 12 {
		files[fmt.Sprintf("%02d.log", i)] = toyLog(fmt.Sprint(i), 2000)
	}
	dir := tree(t, files)
	for _, buffered := range []int64{1, 1 << 12, 1 << 30} {
		st := newStore(t)
		s := run(t, st, ingest.Options{Parallel: 6, Limits: ingest.Limits{Buffered: buffered}}, dir)
		if s.Rows["attempts"] != 24_000 {
			t.Errorf("buffer %d: %v", buffered, s.Rows)
		}
	}
	// The first input waits until another has been read: only possible when the others are not held up by it for ever.
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
	if _, err := ingest.Run(t.Context(), newStore(t), []ingest.Format{slow}, []string{dir}, ingest.Options{Parallel: 2}); err != nil {
		t.Error(err)
	}
}
