package store

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"straggler/schema"
)

// sparkAttempts are like what a Spark log of some hundred tasks a stage, four of them running side by side, gives: times
// in milliseconds, most metrics there, ids that count up.
func sparkAttempts(n int) []schema.Attempt {
	rng := rand.New(rand.NewPCG(1, 2))
	ids, phases := schema.NewKeys(1, "attempts"), schema.NewKeys(1, "phases")
	rows := make([]schema.Attempt, n)
	at := int64(1700000000000)
	ms := func(most int64) schema.Null[float64] { return schema.Some(float64(rng.Int64N(most)) / 1000) }
	for i := range rows {
		at += rng.Int64N(20)
		duration := 100 + rng.Int64N(5000)
		rows[i] = schema.Attempt{AttemptID: ids.Next(), PhaseID: phases.Nth(int64(i/800)*4 + rng.Int64N(4)), JobID: 5, ApplicationID: 6,
			Task: int64(i / 4 % 200), NativeID: fmt.Sprint(i), Machine: schema.Some(fmt.Sprintf("ip-10-0-%d-%d.ec2.internal", rng.IntN(4), rng.IntN(50))),
			Executor: schema.Some(fmt.Sprint(rng.IntN(400))), QueuedTime: schema.Some(schema.FromMillis(at - 50)), StartTime: schema.Some(schema.FromMillis(at)),
			FinishTime: schema.Some(schema.FromMillis(at + duration)), DurationS: schema.Some(float64(duration) / 1000), Status: schema.Success,
			Speculative: schema.Some(false), Locality: schema.Some(schema.NodeLocal), InputBytes: schema.Some(rng.Int64N(128 << 20)), LocalBytes: schema.Some(rng.Int64N(64 << 20)),
			RemoteBytes: schema.Some(rng.Int64N(64 << 20)), InputRecords: schema.Some(rng.Int64N(1 << 20)), OutputBytes: schema.Some(int64(0)),
			ShuffleWriteBytes: schema.Some(rng.Int64N(16 << 20)), SpillBytes: schema.Some(int64(0)), CPUS: schema.Some(rng.Float64() * 5), GCS: ms(100), FetchWaitS: ms(30),
			SchedulerDelayS: ms(50), DeserializeS: ms(20), ResultS: ms(5), PeakMemoryBytes: schema.Some(rng.Int64N(1 << 30)), Quality: schema.RackUnknown}
	}
	return rows
}

// BenchmarkAppendAttempts is the way of rows into a store, without the commit's syncs.
func BenchmarkAppendAttempts(b *testing.B) {
	s, err := Temp(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	rows := sparkAttempts(1 << 17)
	b.SetBytes(int64(unsafe.Sizeof(rows[0])))
	b.ReportAllocs()
	tx, err := s.Begin(b.Context(), Origin{Kind: Log})
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	spent := cpuTime()
	for n := 0; n < b.N; {
		at := n % len(rows)
		m := min(1024, b.N-n, len(rows)-at)
		if err := Append(tx, 0, rows[at:at+m]); err != nil {
			b.Fatal(err)
		}
		n += m
	}
	c, err := tx.seal()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(b.N)/(cpuTime()-spent).Seconds(), "rows/cpu-s")
	b.ReportMetric(float64(c.Bytes())/float64(b.N), "disk-B/row")
	if err := tx.Abort(); err != nil {
		b.Fatal(err)
	}
}

// cpuTime is what the process has used of all cores: on a busy machine it says more than the clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchStore is a store of a million attempts.
func benchStore(b *testing.B) (*Store, int) {
	s, err := Temp(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	rows := sparkAttempts(1 << 17)
	tx, err := s.Begin(b.Context(), Origin{Kind: Log})
	if err != nil {
		b.Fatal(err)
	}
	for range 8 {
		if err := Append(tx, 0, rows); err != nil {
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
	eng, err := s.Engine(b.Context(), EngineOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer eng.Close()
	b.SetBytes(int64(n) * int64(unsafe.Sizeof(*new(R))))
	b.ReportAllocs()
	for b.Loop() {
		got := 0
		for _, err := range Read[R](b.Context(), eng, sql) {
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

// BenchmarkManyCommits is what a store of a thousand ingests costs a command before it does anything.
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
