package store

import (
	"fmt"
	"testing"
	"unsafe"

	"straggler/cputime"
	"straggler/schema"
	"straggler/store/parquet/benchrows"
)

// BenchmarkAppendAttempts writes rows into a store, without the commit's syncs.
func BenchmarkAppendAttempts(b *testing.B) {
	s, err := Temp(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	rows := benchrows.Spark(1 << 17)
	b.SetBytes(int64(unsafe.Sizeof(rows[0])))
	b.ReportAllocs()
	tx, err := s.Begin(b.Context(), Origin{Kind: Log})
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	spent := cputime.Used()
	for n := 0; n < b.N; {
		at := n % len(rows)
		m := min(1024, b.N-n, len(rows)-at)
		if err := Append(tx, 0, rows[at:at+m]); err != nil {
			b.Fatal(err)
		}
		n += m
	}
	c, err := tx.finish()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(b.N)/(cputime.Used()-spent).Seconds(), "rows/cpu-s")
	b.ReportMetric(float64(c.Bytes())/float64(b.N), "disk-B/row")
	if err := tx.Abort(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCompact writes ten commits of a hundred thousand attempts into one.
func BenchmarkCompact(b *testing.B) {
	const commits, n = 10, 100_000
	rows := benchrows.Spark(n)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		s, err := Temp(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for k := range schema.Key(commits) {
			ingest(b, s, k+1, rows)
		}
		b.StartTimer()
		if c, err := s.Compact(b.Context(), "test"); err != nil || c.Rows != commits*n {
			b.Fatal(c, err)
		}
		b.StopTimer()
		s.Close()
		b.StartTimer()
	}
	b.ReportMetric(commits*n*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkManyCommits measures what a store of a thousand ingests costs a command before it does anything.
func BenchmarkManyCommits(b *testing.B) {
	s, err := Temp(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for i := range 1000 {
		if err := write(b.Context(), s, schema.Key(i+1), fmt.Sprint(i), 1); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		again, err := Open(b.Context(), s.Where(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := again.Inputs(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
