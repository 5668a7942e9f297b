package detect

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/schema"
	"straggler/store"
)

// Of earlier nights, a run reads task_times and no attempts, and finds the same as a single run over all nights. This holds
// also after more nights than it is compared with, of which task_times keeps ever fewer.
func TestNightsReadNoAttemptsAgain(t *testing.T) {
	log := func(night int) map[schema.Key]*schema.Trace {
		input, m := schema.Key(night+1), newMade()
		seconds := make([]float64, 12)
		for task := range seconds {
			seconds[task] = 10 + 0.02*float64((task*7+night*3)%11)
		}
		seconds[night%12] = 40
		m.phase(seconds...)
		m.bytes(1, int64(1000+night))
		start := schema.Some(origin.Add(86400 * float64(night)))
		m.Applications[0].Name, m.Applications[0].NativeID, m.Applications[0].StartTime = schema.Some("program"), appOf(input), start
		m.Phases[0].Name, m.Phases[0].StartTime = schema.Some("stage"), start
		return map[schema.Key]*schema.Trace{input: owned(input, &m.Trace)}
	}
	n := newNight(t)
	const before = 140
	for night := range before {
		n.ingest(t, log(night))
	}
	runStore(t, n.Store, Options{})
	for night := before; night < before+3; night++ {
		n.ingest(t, log(night))
		eng, err := engines.Open(t.Context(), n.Store, engine.Options{Threads: 2, MemoryBytes: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		defer eng.Close()
		w := &watching{Engine: eng}
		if _, err := Run(t.Context(), n.Store, w, Options{}); err != nil {
			t.Fatal(err)
		}
		if want := []int{1}; !slices.Equal(w.chosen, want) || !slices.Contains(w.loaded, "detected_past") || slices.Contains(w.loaded, "detected_judged") {
			t.Errorf("night %d chose %v inputs, want %v, and made %q", night, w.chosen, want, w.loaded)
		}
		got := resultsOf(t, eng)
		differ(t, fmt.Sprint("after night ", night), n.fromScratch(t), got)
		phase := schema.NewKeys(schema.Key(night+1), "phases").Nth(1)
		if !slices.ContainsFunc(got.outliers, func(o schema.Outlier) bool { return o.PhaseID == phase && o.Rule == schema.SlowerThanUsual }) {
			t.Errorf("night %d: its long task is not slower than usual", night)
		}
		phases := make(map[schema.Key]bool)
		for i := range got.times {
			phases[got.times[i].PhaseID] = true
		}
		if want := 64 + 32 + (night+1-128+3)/4; len(phases) != want {
			t.Errorf("after night %d there are the tasks of %d executions, want %d", night, len(phases), want)
		}
	}
}

// watching records the requests to an engine.
type watching struct {
	engine.Engine
	chosen []int // inputs, where there are some
	loaded []string
}

func (w *watching) Load(ctx context.Context, name string, columns []engine.Column, next func() *engine.Batch) error {
	w.loaded = append(w.loaded, name)
	return w.Engine.(engine.Loader).Load(ctx, name, columns, next)
}

func (w *watching) Stored(ctx context.Context, table string, inputs []schema.Key) (*store.Snapshot, []store.Slice, error) {
	return w.Engine.(fileEngine).Stored(ctx, table, inputs)
}

func (w *watching) Choose(ctx context.Context, inputs []schema.Key) error {
	if len(inputs) > 0 {
		w.chosen = append(w.chosen, len(inputs))
	}
	return w.Engine.Choose(ctx, inputs)
}
