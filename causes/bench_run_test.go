package causes_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"straggler/causes"
	"straggler/cputime"
	"straggler/detect"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/schema"
	"straggler/store"
)

// BenchmarkRun attributes a store, including reading and committing. STRAGGLER_BENCH_ATTEMPTS is its size (default one
// million).
func BenchmarkRun(b *testing.B) {
	n := 1_000_000
	if s := os.Getenv("STRAGGLER_BENCH_ATTEMPTS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	st, err := store.Temp(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	fillStore(b, st, n)
	eng, err := engines.Open(b.Context(), st, engine.Options{MemoryBytes: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	defer eng.Close()
	if _, err := detect.Run(b.Context(), st, eng, detect.Options{}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	from := cputime.Used()
	for range b.N {
		s, err := causes.Run(b.Context(), st, eng, causes.Options{Again: true})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(s.Outliers), "outliers")
	}
	b.ReportMetric(float64(n*b.N)/(cputime.Used()-from).Seconds(), "attempts/cpu-s")
}

// fillStore writes n attempts on 500 machines: jobs of two phases of 200 tasks, one in twenty slow.
func fillStore(b *testing.B, st *store.Store, n int) {
	tx, err := st.Begin(b.Context(), store.Origin{Kind: store.Log})
	if err != nil {
		b.Fatal(err)
	}
	const tasks = 200
	rng := rand.New(rand.NewPCG(1, 2))
	app := schema.Application{ApplicationID: 1, NativeID: "bench", Framework: "bench", Status: schema.RunSucceeded,
		SourceFile: "bench", Complete: true, TimeOrigin: "epoch"}
	err = store.Append(tx, 0, []schema.Application{app})
	rows := make([]schema.Attempt, tasks)
	for p := 0; p*tasks < n && err == nil; p++ {
		start := schema.FromMillis(1_700_000_000_000 + int64(p)*500)
		job := schema.Job{JobID: schema.Key(p/2 + 1), ApplicationID: 1, NativeID: "j", SubmitTime: schema.Some(start),
			StartTime: schema.Some(start), FinishTime: schema.Some(start.Add(60)), Status: schema.RunSucceeded}
		phase := schema.Phase{PhaseID: schema.Key(p + 1), JobID: job.JobID, NativeID: "p", Kind: "map", TaskCount: schema.Some[int64](tasks),
			SubmitTime: schema.Some(start), StartTime: schema.Some(start), FinishTime: schema.Some(start.Add(60)), Status: schema.RunSucceeded}
		for i := range rows {
			bytes := 64e6 * (1 + 0.2*rng.Float64())
			d := bytes / 64e6 * math.Exp(0.1*rng.NormFloat64())
			if rng.IntN(20) == 0 {
				d *= 3
			}
			rows[i] = schema.Attempt{AttemptID: schema.Key(p*tasks + i + 1), PhaseID: phase.PhaseID, JobID: job.JobID, ApplicationID: 1, Task: int64(i),
				NativeID: "t", Machine: schema.Some(machineNames[rng.IntN(len(machineNames))]), StartTime: schema.Some(start.Add(float64(i / 50))),
				FinishTime: schema.Some(start.Add(float64(i/50) + d)), DurationS: schema.Some(d), Status: schema.Success,
				InputBytes: schema.Some(int64(bytes)), InputRecords: schema.Some(int64(bytes / 100)), GCS: schema.Some(0.01), FetchWaitS: schema.Some(0.001)}
		}
		if p%2 == 0 {
			err = store.Append(tx, 0, []schema.Job{job})
		}
		if err == nil {
			err = store.Append(tx, 0, []schema.Phase{phase})
		}
		if err == nil {
			err = store.Append(tx, 0, rows)
		}
	}
	if err == nil {
		_, err = tx.Commit(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
}

var machineNames = func() (names []string) {
	for i := range 500 {
		names = append(names, fmt.Sprintf("machine-%03d", i))
	}
	return names
}()
