package duckdb

import (
	"errors"
	"testing"
	"unsafe"

	"straggler/engine"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/store"
	"straggler/store/parquet/benchrows"
	"straggler/store/storetest"
)

// benchStore returns a store of a million attempts.
func benchStore(b *testing.B) (*store.Store, int) {
	s, err := store.Temp(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	rows := benchrows.Spark(1 << 17)
	tx, err := s.Begin(b.Context(), store.Origin{Kind: store.Log})
	if err != nil {
		b.Fatal(err)
	}
	for range 8 {
		if err := store.Append(tx, 0, rows); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := tx.Commit(b.Context()); err != nil {
		b.Fatal(err)
	}
	return s, 8 * len(rows)
}

// BenchmarkReadNumbers scans the columns that the detectors need, BenchmarkReadAttempts whole rows.
func BenchmarkReadNumbers(b *testing.B) {
	type row struct {
		PhaseID schema.Key           `col:"phase_id"`
		Task    int64                `col:"task"`
		S       schema.Null[float64] `col:"duration_s"`
		Bytes   schema.Null[int64]   `col:"input_bytes"`
	}
	benchmarkRead[row](b, "SELECT phase_id, task, duration_s, input_bytes FROM attempts")
}

func BenchmarkReadAttempts(b *testing.B) { benchmarkRead[schema.Attempt](b, "SELECT * FROM attempts") }

func benchmarkRead[R any](b *testing.B, sql string) {
	s, n := benchStore(b)
	eng := testEngine(b, s, engine.Options{})
	b.SetBytes(int64(n) * int64(unsafe.Sizeof(*new(R))))
	b.ReportAllocs()
	for b.Loop() {
		got := 0
		for _, err := range engine.Read[R](b.Context(), eng, sql) {
			if err != nil {
				b.Fatal(err)
			}
			got++
		}
		if got != n {
			b.Fatal(got)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkOpen measures what every command does before its first query.
func BenchmarkOpen(b *testing.B) {
	s := enginetest.Store(b)
	enginetest.Ingest(b, s, 7, storetest.Attempts(7, 1000))
	for b.Loop() {
		eng, err := Open(b.Context(), s, engine.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := eng.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSmallQuery measures a streamed query of few rows, as serve has them, after another had a UNION.
func BenchmarkSmallQuery(b *testing.B) {
	s := enginetest.Store(b)
	enginetest.Ingest(b, s, 7, storetest.Attempts(7, 1000))
	eng := testEngine(b, s, engine.Options{Locked: true})
	read := func(sql string) {
		rows, err := eng.Query(b.Context(), sql)
		if err != nil {
			b.Fatal(err)
		}
		for rows.Next() {
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			b.Fatal(err)
		}
	}
	read("SELECT 1 UNION ALL SELECT 2")
	for b.Loop() {
		read("SELECT p.phase_id, p.name, count(*), median(a.duration_s) FROM attempts a LEFT JOIN phases p ON p.phase_id = a.phase_id GROUP BY ALL ORDER BY ALL LIMIT 20")
	}
}
