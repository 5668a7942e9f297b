package sparklog_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"straggler/generate/sparklog"
	"straggler/ingest/ingesttest"
	"straggler/ingest/spark"
	"straggler/schema"
	"straggler/schema/laws"
	"straggler/schema/synth"
)

// write returns a generated application as a log.
func write(t testing.TB, o synth.Options, lo sparklog.Options) []byte {
	t.Helper()
	var out bytes.Buffer
	w := sparklog.NewWriter(&out, lo)
	if err := synth.Events(context.Background(), o, w.Event); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestRoundTrip: what is generated, written as a log and read again is what was generated, but for what a log of Spark
// does not say; said below, column by column.
func TestRoundTrip(t *testing.T) {
	for _, s := range synth.Scenarios() {
		if s.Name == "no-bytes" { // a Spark log always says bytes
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			for seed := range uint64(2) {
				o := s.Make(seed)
				o.Applications = 1
				want, _, err := synth.Generate(o)
				if err != nil {
					t.Fatal(err)
				}
				log := write(t, o, sparklog.Options{Terse: seed == 1})
				r := ingesttest.Bytes(t, spark.Format(), "app", log)
				got := &r.Trace
				for _, v := range laws.Trace(got) {
					t.Errorf("seed %d: read back: %v", seed, v)
				}
				if len(got.Rejects) > 0 {
					t.Fatalf("seed %d: rejects: %+v", seed, got.Rejects)
				}
				for _, c := range got.Caveats {
					t.Logf("seed %d: caveat %s: %s", seed, c.Code, c.Detail)
				}
				diff(t, seed, "jobs", jobs(want), jobs(got))
				diff(t, seed, "phases", phases(want), phases(got))
				diff(t, seed, "attempts", attempts(want), attempts(got))
				diff(t, seed, "machines", machines(want), machines(got))
				diff(t, seed, "losses", losses(want), losses(got))
				diff(t, seed, "edges", edges(want), edges(got))
			}
		})
	}
}

func diff[R any](t *testing.T, seed uint64, what string, want, got []R) {
	t.Helper()
	if d := gocmp.Diff(want, got); d != "" {
		if len(d) > 3000 {
			d = d[:3000]
		}
		t.Errorf("seed %d: %s (- generated, + read back): %s", seed, what, d)
	}
}

func jobs(t *schema.Trace) []schema.Job {
	rows := slices.Clone(t.Jobs)
	for i := range rows {
		r := &rows[i]
		r.JobID, r.ApplicationID, r.Name = 0, 0, schema.Null[string]{} // keys differ; the name is the call site
	}
	slices.SortFunc(rows, func(a, b schema.Job) int { return cmp.Compare(a.NativeID, b.NativeID) })
	return rows
}

// phaseNames returns the native name of each phase.
func phaseNames(t *schema.Trace) map[schema.Key]string {
	names := map[schema.Key]string{}
	for _, p := range t.Phases {
		names[p.PhaseID] = fmt.Sprintf("%s.%d", p.NativeID, p.Attempt)
	}
	return names
}

func phases(t *schema.Trace) []schema.Phase {
	rows := slices.Clone(t.Phases)
	for i := range rows {
		r := &rows[i]
		r.PhaseID, r.JobID = 0, 0
		if r.Status == schema.RunSkipped {
			r.Kind = "" // no task has told it
		}
	}
	slices.SortFunc(rows, func(a, b schema.Phase) int {
		return cmp.Or(cmp.Compare(a.NativeID, b.NativeID), cmp.Compare(a.Attempt, b.Attempt))
	})
	return rows
}

func attempts(t *schema.Trace) []schema.Attempt {
	names := phaseNames(t)
	source := map[string]bool{}
	for _, p := range t.Phases {
		source[p.NativeID] = true
	}
	for _, e := range t.Edges {
		stage, _, _ := strings.Cut(names[e.ToPhase], ".")
		source[stage] = false
	}
	rows := slices.Clone(t.Attempts)
	for i := range rows {
		r := &rows[i]
		stage, _, _ := strings.Cut(names[r.PhaseID], ".")
		r.AttemptID, r.PhaseID, r.JobID, r.ApplicationID = 0, 0, 0, 0
		r.Rack, r.CrossRackBytes = schema.Null[string]{}, schema.Null[int64]{}
		r.Reason = schema.Null[string]{}
		r.Quality &= schema.MetricsMissing
		if r.Speculative.V || r.Number > 0 || r.Recompute {
			r.QueuedTime = schema.Null[schema.Time]{} // when a copy or a repetition was asked for
		}
		if source[stage] {
			r.FetchWaitS = schema.Null[float64]{} // of shuffles only
		}
		if r.Status == schema.Failed || r.Status == schema.Killed {
			partial(r)
		}
	}
	slices.SortFunc(rows, func(a, b schema.Attempt) int {
		return cmp.Or(cmp.Compare(len(a.NativeID), len(b.NativeID)), cmp.Compare(a.NativeID, b.NativeID))
	})
	return rows
}

// partial forgets zeros: of an attempt that did not succeed Spark writes 0 for what it does not know.
func partial(r *schema.Attempt) {
	for _, v := range []*schema.Null[int64]{&r.InputBytes, &r.LocalBytes, &r.RemoteBytes, &r.InputRecords, &r.SpillBytes, &r.PeakMemoryBytes} {
		v.OK = v.OK && v.V != 0
	}
	for _, v := range []*schema.Null[float64]{&r.CPUS, &r.GCS, &r.FetchWaitS} {
		v.OK = v.OK && v.V != 0
	}
}

func machines(t *schema.Trace) []schema.Machine {
	var rows []schema.Machine
	for _, r := range t.Machines {
		if r.Executor.V == "driver" || !r.Executor.OK {
			continue
		}
		rows = append(rows, schema.Machine{Machine: r.Machine, Executor: r.Executor, Slots: r.Slots, AddedTime: r.AddedTime, RemovedTime: r.RemovedTime})
	}
	slices.SortFunc(rows, func(a, b schema.Machine) int { return cmp.Compare(a.Executor.V, b.Executor.V) })
	return rows
}

// losses: those made again; a log does not tell of outputs that are lost and that nobody asks for any more.
func losses(t *schema.Trace) []string {
	names, native := phaseNames(t), map[schema.Key]string{}
	for i := range t.Attempts {
		native[t.Attempts[i].AttemptID] = t.Attempts[i].NativeID
	}
	var rows []string
	for _, l := range t.Losses {
		if l.RecomputedBy.OK {
			rows = append(rows, fmt.Sprintf("%s task %d of attempt %s on %s, by %s", names[l.PhaseID], l.Task,
				native[l.AttemptID.V], l.Machine.V, native[l.RecomputedBy.V]))
		}
	}
	slices.Sort(rows)
	return rows
}

// edges between stages; which of their submissions they join is told differently.
func edges(t *schema.Trace) []string {
	names := phaseNames(t)
	var rows []string
	for _, e := range t.Edges {
		from, _, _ := strings.Cut(names[e.FromPhase], ".")
		to, _, _ := strings.Cut(names[e.ToPhase], ".")
		rows = append(rows, fmt.Sprintf("%s → %s %s", from, to, e.Pattern))
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}

func TestOneApplication(t *testing.T) {
	o := synth.Defaults()
	o.Applications = 2
	w := sparklog.NewWriter(io.Discard, sparklog.Options{})
	if err := synth.Events(context.Background(), o, w.Event); !errors.Is(err, sparklog.ErrOneApplication) {
		t.Errorf("two applications: %v", err)
	}
}

// TestWriterStops: an error of the writer below ends the writing.
func TestWriterStops(t *testing.T) {
	o := synth.HugePhase(1, 5000)
	r, w := io.Pipe()
	r.CloseWithError(errFull)
	l := sparklog.NewWriter(w, sparklog.Options{})
	err := synth.Events(context.Background(), o, l.Event)
	if !errors.Is(err, errFull) || !errors.Is(l.Close(), errFull) {
		t.Errorf("full disk: %v, %v", err, l.Close())
	}
}

var errFull = errors.New("disk full")

func BenchmarkWrite(b *testing.B) {
	for _, lo := range []sparklog.Options{{}, {Terse: true}} {
		b.Run(fmt.Sprintf("terse=%v", lo.Terse), func(b *testing.B) {
			b.ReportAllocs()
			var n counter
			for b.Loop() {
				n = 0
				w := sparklog.NewWriter(&n, lo)
				if err := synth.Events(context.Background(), synth.HugePhase(1, 100_000), w.Event); err != nil {
					b.Fatal(err)
				}
				w.Close()
			}
			b.SetBytes(int64(n))
		})
	}
}

// counter counts what is written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
