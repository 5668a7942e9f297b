package ingest_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"straggler/ingest"
	"straggler/schema"
)

// The error of the store reaches the format, which cannot get past it, and nothing is written any more.
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
