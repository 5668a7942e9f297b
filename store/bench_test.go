package store

import (
	"testing"
	"unsafe"

	"straggler/schema"
)

// BenchmarkAppendAttempts is the way of rows into a store, without the commit's syncs.
func BenchmarkAppendAttempts(b *testing.B) {
	s, err := Temp(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	rows := attempts(7, 1<<17)
	b.SetBytes(int64(unsafe.Sizeof(rows[0])))
	b.ReportAllocs()
	tx, err := s.Begin(b.Context(), Origin{Kind: Log})
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for n := 0; n < b.N; {
		at := n % len(rows)
		m := min(1024, b.N-n, len(rows)-at)
		if err := Append(tx, schema.Key(7), rows[at:at+m]); err != nil {
			b.Fatal(err)
		}
		n += m
	}
	if _, err := tx.seal(); err == nil {
		b.Log("rows of an input that was not declared")
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	if err := tx.Abort(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkOpenEngine is what every command pays before its first query.
func BenchmarkOpenEngine(b *testing.B) {
	s := testStore(b)
	ingest(b, s, 7, attempts(7, 1000))
	for b.Loop() {
		eng, err := s.Engine(b.Context(), EngineOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if err := eng.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
