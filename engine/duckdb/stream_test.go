package duckdb

import (
	"context"
	"testing"

	"straggler/engine"
	"straggler/engine/enginetest"
	"straggler/store/storetest"
)

// TestStreamsAlone: there is one thread while a query is streamed, and afterwards as many as before, however it ends.
func TestStreamsAlone(t *testing.T) {
	const n = fewRows + 10_000
	s := enginetest.Store(t)
	enginetest.Ingest(t, s, 7, storetest.Attempts(7, n))
	eng := testEngine(t, s, engine.Options{Threads: 2})
	threads := func(when string, want int64) {
		t.Helper()
		type row struct {
			N int64 `col:"n"`
		}
		if got := enginetest.ReadAll[row](t, eng, "SELECT current_setting('threads') AS n"); got[0].N != want {
			t.Errorf("%s: %d threads, want %d", when, got[0].N, want)
		}
	}
	threads("at first", 2)
	read := 0
	for b, err := range engine.ReadVectors(t.Context(), eng, "SELECT task FROM attempts") {
		if err != nil {
			t.Fatal(err)
		}
		if read == 0 {
			threads("while one is read", 1)
			for range engine.ReadVectors(t.Context(), eng, "SELECT task FROM attempts") {
				break
			}
			threads("when another has been left", 1)
		}
		read += b.Len
	}
	if read != n {
		t.Errorf("%d rows", read)
	}
	threads("after all rows", 2)
	for _, err := range engine.ReadVectors(t.Context(), eng, "SELECT nothing FROM attempts") {
		if err == nil {
			t.Error("a column that is not there was read")
		}
	}
	threads("after an error", 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range engine.ReadVectors(ctx, eng, "SELECT task FROM attempts") {
		cancel()
	}
	threads("after an interruption", 2)

	closed := testEngine(t, s, engine.Options{Threads: 2})
	rows, err := closed.(engine.Streamer).Stream(t.Context(), "SELECT task FROM attempts")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Error(err)
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
}
