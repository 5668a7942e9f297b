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

// BenchmarkCompact writes ten commits of a hundred thousand attempts into one.
func BenchmarkCompact(b *testing.B) {
	const commits, n = 10, 100_000
	rows := sparkAttempts(n)
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
