package whatif_test

import (
	"context"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/schema"
	"straggler/store"
	"straggler/whatif"
	"straggler/whatif/policy"
	"straggler/whatif/workload"
)

// BenchmarkRun is twenty policies under twenty seeds over a store of a million attempts: what `straggler whatif` does,
// reading and writing included.
func BenchmarkRun(b *testing.B) {
	ctx := context.Background()
	st, err := store.Temp(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	fillStore(b, st, rows(1_000_000))
	eng, err := engines.Open(ctx, st, engine.Options{Threads: 2, MemoryBytes: 256 << 20})
	if err != nil {
		b.Fatal(err)
	}
	defer eng.Close()
	var all []policy.Policy
	for _, spec := range policy.Specs() {
		if spec.Name != "none" && spec.Cause == "" {
			all = append(all, option(b, spec.Name))
		}
	}
	all = append(all, option(b, "late", "cap", "0.2"), option(b, "mantri", "restart", "false"), option(b, "spark3", "multiplier", "2"))
	b.ResetTimer()
	for b.Loop() {
		s, err := whatif.Run(ctx, st, eng, whatif.Options{Policies: all, Errors: []float64{0.1}, Workers: 2})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(s.Results)), "policies")
		b.ReportMetric(float64(s.Attempts), "attempts")
	}
}

// option returns a policy with one option changed.
func option(b *testing.B, name string, option ...string) policy.Policy {
	b.Helper()
	p, err := policy.ByName(name)
	if err == nil && len(option) == 2 {
		p, err = p.With(option[0], option[1])
	}
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// fillStore puts the rows of a scenario into a store.
func fillStore(b *testing.B, st *store.Store, r *workload.Rows) {
	b.Helper()
	tx, err := st.Begin(context.Background(), store.Origin{Kind: store.Log, Tool: "test"})
	if err != nil {
		b.Fatal(err)
	}
	const input = 1
	add(b, tx, r.Applications)
	add(b, tx, r.Jobs)
	add(b, tx, r.Phases)
	add(b, tx, r.Edges)
	add(b, tx, r.Machines)
	batch := make([]schema.Attempt, 0, 4096)
	for i := range r.Attempts {
		a := &r.Attempts[i]
		batch = append(batch, schema.Attempt{
			AttemptID: schema.Key(i + 1), PhaseID: a.Phase, JobID: a.Phase >> 20, ApplicationID: a.Phase >> 20, Task: a.Task,
			NativeID: "a", Machine: schema.Some(r.Names[a.Machine]), StartTime: schema.Some(schema.Time(a.Start)),
			FinishTime: schema.Some(schema.Time(a.Finish)), Status: schema.Success, InputBytes: schema.Some(a.Bytes),
		})
		if len(batch) == cap(batch) || i+1 == len(r.Attempts) {
			add(b, tx, batch)
			batch = batch[:0]
		}
	}
	if err := tx.Input(store.InputRecord{Key: input, Name: "scenario"}); err != nil {
		b.Fatal(err)
	}
	if _, err := tx.Commit(context.Background()); err != nil {
		b.Fatal(err)
	}
}

func add[R any](b *testing.B, tx *store.Tx, rows []R) {
	b.Helper()
	if err := store.Append(tx, 1, rows); err != nil {
		b.Fatal(err)
	}
}
