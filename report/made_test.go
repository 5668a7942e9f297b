package report

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/causes"
	"straggler/detect"
	"straggler/ingest"
	"straggler/ingest/spark"
	"straggler/schema"
	"straggler/store"
)

const origin = schema.Time(1_700_000_000_000_000)

// made builds a trace of one application by hand.
type made struct {
	schema.Trace
	next schema.Key
}

func newMade() *made {
	m := &made{}
	m.Applications = []schema.Application{{ApplicationID: 1, NativeID: "app-1", Framework: "spark", StartTime: schema.Some(origin),
		Status: schema.RunSucceeded, SourceFile: "made", Complete: true, TimeOrigin: "epoch"}}
	return m
}

// job adds a job that takes some seconds.
func (m *made) job(start, seconds float64) schema.Key {
	k := schema.Key(len(m.Jobs) + 1)
	m.Jobs = append(m.Jobs, schema.Job{JobID: k, ApplicationID: 1, NativeID: fmt.Sprint(k), SubmitTime: schema.Some(origin.Add(start)),
		StartTime: schema.Some(origin.Add(start)), FinishTime: schema.Some(origin.Add(start + seconds)), Status: schema.RunSucceeded})
	return k
}

// phase adds a phase whose tasks start together and take these seconds, each on a machine of its own in turn of eight.
func (m *made) phase(job schema.Key, start float64, seconds ...float64) schema.Key {
	p := schema.Key(len(m.Phases) + 1)
	longest := 0.0
	for i, s := range seconds {
		longest = max(longest, s)
		m.next++
		m.Attempts = append(m.Attempts, schema.Attempt{AttemptID: m.next, PhaseID: p, JobID: job, ApplicationID: 1, Task: int64(i), NativeID: fmt.Sprint(m.next),
			Machine: schema.Some(fmt.Sprintf("m%d", i%8+1)), StartTime: schema.Some(origin.Add(start)), FinishTime: schema.Some(origin.Add(start + s)),
			DurationS: schema.Some(s), Status: schema.Success, InputBytes: schema.Some(int64(1 << 20))})
	}
	m.Phases = append(m.Phases, schema.Phase{PhaseID: p, JobID: job, NativeID: fmt.Sprint(p), Kind: "map", Status: schema.RunSucceeded,
		StartTime: schema.Some(origin.Add(start)), FinishTime: schema.Some(origin.Add(start + longest))})
	return p
}

// stored commits a trace and gives an engine on it, with detect and causes run.
func stored(t testing.TB, traces ...*schema.Trace) store.Engine {
	t.Helper()
	return filled(t, func(tx *store.Tx) {
		for _, tr := range traces {
			for b := range tr.Batches() {
				check(t, tx.Append(1, b))
			}
		}
	})
}

// filled commits what is put and gives an engine on it, with detect and causes run.
func filled(t testing.TB, put func(*store.Tx)) store.Engine {
	t.Helper()
	ctx := context.Background()
	st, err := store.Temp(ctx)
	check(t, err)
	t.Cleanup(func() { st.Close() })
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Log})
	check(t, err)
	check(t, tx.Input(store.InputRecord{Name: "made", Key: 1, Fingerprint: "made"}))
	put(tx)
	_, err = tx.Commit(ctx)
	check(t, err)
	return analysed(t, st)
}

func put[R any](t testing.TB, tx *store.Tx, rows []R) {
	t.Helper()
	check(t, store.Append(tx, 1, rows))
}

// analysed runs detect and causes.
func analysed(t testing.TB, st *store.Store) store.Engine {
	t.Helper()
	ctx := context.Background()
	eng, err := st.Engine(ctx, store.EngineOptions{})
	check(t, err)
	t.Cleanup(func() { eng.Close() })
	_, err = detect.Run(ctx, st, eng, detect.Options{})
	check(t, err)
	_, err = causes.Run(ctx, st, eng, causes.Options{})
	check(t, err)
	return eng
}

// labelled reads some of the labelled logs into one store.
func labelled(t testing.TB, names ...string) store.Engine {
	t.Helper()
	var paths []string
	for _, n := range names {
		found, err := filepath.Glob(filepath.Join("..", "testdata", "labelled", n, "*app-*"))
		check(t, err)
		if len(found) == 0 {
			t.Fatalf("no labelled log %s", n)
		}
		paths = append(paths, found...)
	}
	ctx := context.Background()
	st, err := store.Temp(ctx)
	check(t, err)
	t.Cleanup(func() { st.Close() })
	_, err = ingest.Run(ctx, st, []ingest.Format{spark.Format()}, paths, ingest.Options{})
	check(t, err)
	return analysed(t, st)
}

func built(t testing.TB, eng store.Engine) *Document {
	t.Helper()
	d, err := Build(context.Background(), eng, Options{})
	check(t, err)
	return d
}

// rendered is the document as HTML.
func rendered(t testing.TB, d *Document) string {
	t.Helper()
	var b strings.Builder
	check(t, HTML(&b, d))
	return b.String()
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// required says that a test must not be skipped for want of something.
func required(word string) bool {
	return strings.Contains(os.Getenv("STRAGGLER_REQUIRE"), word)
}
