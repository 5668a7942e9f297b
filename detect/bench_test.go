package detect

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"straggler/cputime"
	"straggler/engine"
	"straggler/engine/engines"
	"straggler/schema"
	"straggler/store"
)

// BenchmarkRun computes statistics and outliers of two million attempts, or of STRAGGLER_MILLIONS million: phases of 10 to 10
// 000 tasks with log-normal durations, one attempt in a hundred being a second one.
func BenchmarkRun(b *testing.B) {
	ctx := context.Background()
	st, err := store.Temp(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	for i := range millions(b) {
		writeMany(b, st, schema.Key(i+1), 1_000_000)
	}
	eng, err := engines.Open(ctx, st, engine.Options{Threads: 2})
	if err != nil {
		b.Fatal(err)
	}
	defer eng.Close()
	for b.Loop() {
		s, err := Run(ctx, st, eng, Options{Again: true})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(s.Attempts)/1e6/s.Seconds, "Mattempts/s")
	}
}

// BenchmarkNights measures detect on a store that grows by 100 000 attempts of one program every night: on its initial content,
// two million attempts or STRAGGLER_MILLIONS million, and then night by night.
func BenchmarkNights(b *testing.B) {
	const night = 100_000
	ctx := context.Background()
	for b.Loop() {
		st, err := store.Temp(ctx)
		if err != nil {
			b.Fatal(err)
		}
		defer st.Close()
		before := schema.Key(millions(b) * 10)
		for i := range before {
			writeMany(b, st, i+1, night)
		}
		for n := range schema.Key(11) {
			if n > 0 {
				writeMany(b, st, before+n, night)
			}
			began := cputime.Used().Seconds()
			s := detectOnce(b, st)
			what := fmt.Sprintf("-night-%02d", n)
			if n == 0 {
				what = "-all-at-once"
			}
			b.ReportMetric(cputime.Used().Seconds()-began, "cpu-s"+what)
			b.ReportMetric(s.Seconds, "s"+what)
			if n == 10 {
				b.Logf("%d attempts, %d phases with a history, outliers %v", s.Attempts, s.Repeated, s.Outliers)
			}
		}
	}
}

// detectOnce opens an engine, like each call of the program.
func detectOnce(b *testing.B, st *store.Store) Summary {
	b.Helper()
	eng, err := engines.Open(b.Context(), st, engine.Options{Threads: 2, MemoryBytes: 4 << 30})
	if err != nil {
		b.Fatal(err)
	}
	defer eng.Close()
	s, err := Run(b.Context(), st, eng, Options{})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// millions returns the size of a benchmark in millions of attempts.
func millions(b *testing.B) int {
	s := os.Getenv("STRAGGLER_MILLIONS")
	if s == "" {
		return 2
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// writeMany commits one input with many attempts: a run of a program, a night after the previous input, with the same stages
// every night.
func writeMany(b *testing.B, st *store.Store, input schema.Key, attempts int) {
	b.Helper()
	ctx := context.Background()
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Log})
	if err != nil {
		b.Fatal(err)
	}
	defer tx.Abort()
	r, stages := rand.New(rand.NewPCG(uint64(input), 3)), rand.New(rand.NewPCG(1, 3))
	phases, ids := schema.NewKeys(input, "phases"), schema.NewKeys(input, "attempts")
	application, job := schema.NewKeys(input, "applications").Next(), schema.NewKeys(input, "jobs").Next()
	start := origin.Add(86400 * float64(input))
	for left, n := attempts, 0; left > 0; n++ {
		p := phases.Next()
		tasks := min(left, int(math.Exp(math.Log(10)+stages.Float64()*math.Log(1000))))
		median := math.Exp(stages.NormFloat64() + 0.05*r.NormFloat64())
		rows := make([]schema.Attempt, 0, tasks+tasks/50)
		for task := range tasks {
			a := schema.Attempt{AttemptID: ids.Next(), PhaseID: p, JobID: job, ApplicationID: application, Task: int64(task), Status: schema.Success,
				DurationS: schema.Some(math.Round(1000*median*math.Exp(0.25*r.NormFloat64())) / 1000), StartTime: schema.Some(start.Add(float64(task / 200)))}
			a.FinishTime = schema.Some(a.StartTime.V.Add(a.DurationS.V))
			a.InputBytes, a.InputRecords = schema.Some(64<<20+r.Int64N(1<<20)), schema.Some(r.Int64N(1e6))
			a.RemoteBytes = schema.Some(r.Int64N(32 << 20))
			rows = append(rows, a)
			if r.IntN(100) == 0 {
				a.AttemptID, a.Number, a.Status = ids.Next(), 1, schema.Killed
				rows = append(rows, a)
			}
		}
		left -= tasks
		if err := store.Append(tx, input, rows); err != nil {
			b.Fatal(err)
		}
		if err := store.Append(tx, input, []schema.Phase{{PhaseID: p, JobID: job, Name: schema.Some(fmt.Sprint("stage ", n)),
			Kind: "map", Status: schema.RunSucceeded}}); err != nil {
			b.Fatal(err)
		}
	}
	app := schema.Application{ApplicationID: application, Name: schema.Some("nightly"), StartTime: schema.Some(start), Complete: true}
	err = store.Append(tx, input, []schema.Application{app})
	if err == nil {
		err = store.Append(tx, input, []schema.Job{{JobID: job, ApplicationID: application, Status: schema.RunSucceeded}})
	}
	if err != nil {
		b.Fatal(err)
	}
	if err := tx.Input(store.InputRecord{Name: strconv.Itoa(int(input)), Key: store.KeyText(input), Fingerprint: strconv.Itoa(int(input))}); err != nil {
		b.Fatal(err)
	}
	if _, err := tx.Commit(ctx); err != nil {
		b.Fatal(err)
	}
}
