package detect

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/schema"
	"straggler/store"
)

// BenchmarkRun computes statistics and outliers of two million attempts, or of as many millions as STRAGGLER_MILLIONS
// says: phases of 10 to 10 000 tasks with log-normal durations, one attempt in a hundred a second one.
func BenchmarkRun(b *testing.B) {
	millions := 2
	if s := os.Getenv("STRAGGLER_MILLIONS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			b.Fatal(err)
		}
		millions = n
	}
	ctx := context.Background()
	st, err := store.Temp(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	for i := range millions {
		writeMany(b, st, schema.Key(i+1), 1_000_000)
	}
	eng, err := engines.Open(ctx, st, engine.Options{Threads: 2})
	if err != nil {
		b.Fatal(err)
	}
	defer eng.Close()
	for b.Loop() {
		s, err := Run(ctx, st, eng, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(s.Attempts)/1e6/s.Seconds, "Mattempts/s")
	}
}

// writeMany commits one input of many attempts.
func writeMany(b *testing.B, st *store.Store, input schema.Key, attempts int) {
	b.Helper()
	ctx := context.Background()
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Log})
	if err != nil {
		b.Fatal(err)
	}
	defer tx.Abort()
	r := rand.New(rand.NewPCG(uint64(input), 3))
	phases, ids := schema.NewKeys(input, "phases"), schema.NewKeys(input, "attempts")
	for left := attempts; left > 0; {
		p := phases.Next()
		tasks := min(left, int(math.Exp(math.Log(10)+r.Float64()*math.Log(1000))))
		median := math.Exp(r.NormFloat64())
		rows := make([]schema.Attempt, 0, tasks+tasks/50)
		for task := range tasks {
			a := schema.Attempt{AttemptID: ids.Next(), PhaseID: p, JobID: input, ApplicationID: input, Task: int64(task), Status: schema.Success,
				DurationS: schema.Some(math.Round(1000*median*math.Exp(0.25*r.NormFloat64())) / 1000), StartTime: schema.Some(origin.Add(float64(task / 200)))}
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
		if err := store.Append(tx, input, []schema.Phase{{PhaseID: p, JobID: input, Kind: "map", Status: schema.RunSucceeded}}); err != nil {
			b.Fatal(err)
		}
	}
	app := schema.Application{ApplicationID: input, Complete: true}
	if err := store.Append(tx, input, []schema.Application{app}); err != nil {
		b.Fatal(err)
	}
	if err := tx.Input(store.InputRecord{Name: strconv.Itoa(int(input)), Key: store.KeyText(input), Fingerprint: strconv.Itoa(int(input))}); err != nil {
		b.Fatal(err)
	}
	if _, err := tx.Commit(ctx); err != nil {
		b.Fatal(err)
	}
}
