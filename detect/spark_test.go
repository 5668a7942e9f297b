package detect

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"straggler/engine"
	"straggler/engine/copies"
	"straggler/engine/copies/copiestest"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/engine/spark/sparktest"
	"straggler/schema"
	"straggler/store"
)

// TestMain also serves as this program's copies on a cluster, which run the executable that started them: this test.
func TestMain(m *testing.M) {
	if args := os.Args; len(args) > 2 && args[1] == "copy" {
		a := copies.Assignment{Step: args[2], Pieces: args[slices.Index(args, "--pieces")+1], File: args[len(args)-1], In: os.Stdin, Out: os.Stdout}
		if err := copyWork(context.Background(), a); err != nil {
			fmt.Fprintln(os.Stderr, "straggler:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// copyWork does the work of a copy.
func copyWork(ctx context.Context, a copies.Assignment) error {
	if a.Step == FiguresStep || a.Step == SlowerStep {
		return Copy(ctx, a)
	}
	return copies.WriteRows(ctx, a)
}

// runCopies is runStore on a cluster of copies, and returns their steps.
func runCopies(t *testing.T, st *store.Store, o Options) (*detected, []string) {
	t.Helper()
	eng, err := engines.Open(t.Context(), st, engine.Options{Threads: 2, MemoryBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	cluster := &copiestest.Cluster{Engine: eng, T: t, Store: st, Work: copyWork}
	s, err := Run(t.Context(), st, cluster, o)
	if err != nil {
		t.Fatal(err)
	}
	d := resultsOf(t, eng)
	d.summary = s
	return d, cluster.Steps
}

// The copies of a cluster write what one process finds, in the same order, over the life of a store whose inputs are added,
// changed and removed.
func TestCopiesWriteTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 31))
	n := newNight(t)
	rows, kept := 0, false
	for range 6 {
		what := n.change(t, r)
		got, steps := runCopies(t, n.Store, Options{Tool: "test"})
		kept = kept || got.summary.Kept
		want := n.fromScratch(t)
		differ(t, "after "+what, want, got)
		if diff := gocmp.Diff(want.history, got.history, lastBits); diff != "" {
			t.Errorf("after %s, the history:\n%.3000s", what, diff)
		}
		if rows += len(got.outliers); got.summary.Inputs > 0 && !slices.Contains(steps, FiguresStep) {
			t.Errorf("after %s the copies did %v", what, steps)
		}
	}
	if rows < 100 || !kept {
		t.Errorf("%d outliers to compare, kept %v", rows, kept)
	}
	eng, err := engines.Open(t.Context(), n.Store, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	want := resultsOf(t, eng)
	if _, err := Run(t.Context(), n.Store, &copiestest.Cluster{Engine: eng, T: t, ReadOnly: true}, Options{Again: true}); err != nil {
		t.Fatal(err)
	}
	differ(t, "where the cluster cannot write", want, resultsOf(t, eng))
}

// The results of a real Spark, with ANSI SQL or without.
func TestSpark(t *testing.T) {
	server := sparktest.Engine(t, sparktest.Options{})
	open := func(st *store.Store) engine.Engine {
		connect := func(address string) (engine.Engine, error) {
			return engines.Open(t.Context(), st, engine.Options{Server: address})
		}
		eng, err := connect(enginetest.Server(t, server, connect))
		if err != nil {
			t.Fatal(err)
		}
		return eng
	}
	t.Run("agrees", func(t *testing.T) { sparkAgrees(t, open) })
	t.Run("only what is new", func(t *testing.T) { sparkOnlyWhatIsNew(t, open) })
}

// A run on Spark finds what a run in this process finds, on traces with everything that is difficult for SQL, a chunk at a
// time.
func sparkAgrees(t *testing.T, open func(*store.Store) engine.Engine) {
	st, err := store.Temp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	tr := random(rand.New(rand.NewPCG(21, 5)), 150)
	m := newMade()
	m.nights(70, 10, 11, 12, 40)
	m.execution(40, 41, 42, 43)
	for i := range m.Applications[1:] {
		m.Applications[i+1].Name = schema.Some(fmt.Sprintf("it's \\ nightly_%06d", i))
	}
	enginetest.Shift(&m.Trace, 1_000_000)
	tr.Applications, tr.Jobs = append(tr.Applications, m.Applications...), append(tr.Jobs, m.Jobs...)
	tr.Phases, tr.Attempts = append(tr.Phases, m.Phases...), append(tr.Attempts, m.Attempts...)
	tr.Applications[0].Name = schema.Some("a\tname\r\nof \\\\N lines, 'quoted'") // which is passed to copies in lines
	enginetest.IngestTrace(t, st, tr)
	want := runStore(t, st, Options{})
	all := int64(0)
	for _, p := range want.phases {
		all += p.Attempts
	}
	eng := open(st)
	defer eng.Close()
	if _, err := Run(t.Context(), st, eng, Options{ChunkAttempts: all / 2, Again: true}); err != nil { // instead of the results of the previous run
		t.Fatal(err)
	}
	got := resultsOf(t, eng)
	if diff := gocmp.Diff(want.history, got.history, closely); diff != "" {
		t.Errorf("history on Spark:\n%.3000s", diff)
	}
	differ(t, "on Spark", want, got, closely)
}

// A run on Spark keeps the results of a run in this process, and finds the same for new inputs.
func sparkOnlyWhatIsNew(t *testing.T, open func(*store.Store) engine.Engine) {
	r := rand.New(rand.NewPCG(2, 33))
	n := newNight(t)
	n.ingest(t, map[schema.Key]*schema.Trace{1: owned(1, random(r, 6)), 2: owned(2, random(r, 6))})
	runStore(t, n.Store, Options{})
	n.ingest(t, map[schema.Key]*schema.Trace{2: owned(2, random(r, 4)), 3: owned(3, random(r, 8))})
	eng := open(n.Store)
	defer eng.Close()
	s, err := Run(t.Context(), n.Store, eng, Options{})
	if err != nil || !s.Kept || s.Inputs != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	got := resultsOf(t, eng)
	if len(got.phases) != 18 || !slices.ContainsFunc(got.phases, func(p schema.PhaseStats) bool { return p.Outliers.V > 0 }) {
		t.Errorf("%d phases", len(got.phases))
	}
	differ(t, "on Spark", n.fromScratch(t), got, closely)
}
