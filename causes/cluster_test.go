package causes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/copies"
	"straggler/engine/copies/copiestest"
	"straggler/schema"
	"straggler/schema/synth"
	"straggler/store"
)

// A run whose phases are processed by copies gives the same rows as a run in one process, to the last bit.
func TestCopiesFindTheSame(t *testing.T) {
	for _, scenario := range []string{"mixed", "recompute"} {
		t.Run(scenario, func(t *testing.T) {
			st, eng := made(t, scenario)
			want := committed(t, st, eng, eng)
			m := &copiestest.Cluster{Engine: eng, T: t, Store: st, Work: Copy}
			if got := committed(t, st, eng, m); !slices.Equal(got, want) {
				t.Errorf("%d rows by copies and %d here, and not the same", len(got), len(want))
			}
			if !slices.Equal(m.Steps, []string{stepObserve + "=3600", stepAttribute}) {
				t.Errorf("the copies did %v", m.Steps)
			}
			if got := committed(t, st, eng, &copiestest.Cluster{Engine: eng, T: t, ReadOnly: true}); !slices.Equal(got, want) {
				t.Errorf("%d rows where the cluster cannot be told the model and %d here, and not the same", len(got), len(want))
			}
			if len(want) < 50 {
				t.Errorf("only %d rows to compare", len(want))
			}
		})
	}
}

// Copies get the times at which an output that a phase reads was missing, as one process reads them.
func TestCopiesAreGivenGaps(t *testing.T) {
	st, eng := made(t, "recompute")
	here := newRun(eng, Options{})
	here.part.whole = true
	if err := here.readLosses(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen, got := map[schema.Key]bool{}, map[schema.Key][]gap{}
	m := &copiestest.Cluster{Engine: eng, T: t, Store: st}
	m.Work = func(ctx context.Context, a copies.Assignment) error {
		var rows strings.Builder
		a.In = io.TeeReader(a.In, &rows)
		if err := Copy(ctx, a); err != nil || a.Step != stepAttribute {
			return err
		}
		var g given
		err := engine.ReadRemoteRows(strings.NewReader(rows.String()), len(copyColumns), func(fields []engine.RemoteField) error {
			var row copyRow
			err := errors.Join(row.read(fields), g.add(&row))
			seen[row.Phase] = true
			return err
		})
		g.settle()
		maps.Copy(got, g.losses.gaps)
		return err
	}
	if _, err := Run(t.Context(), st, m, Options{}); err != nil {
		t.Fatal(err)
	}
	if len(got) == 0 {
		t.Error("no phase read what was lost")
	}
	for phase := range seen {
		if want := here.losses.gaps[phase]; !slices.Equal(got[phase], want) {
			t.Errorf("phase %d: %v, here %v", phase, got[phase], want)
		}
	}
}

// In copies too, an attempt that was still running when its log ended lasts until then.
func TestCopiesOfStoppedLog(t *testing.T) {
	tr := nights(2, func(a *schema.Attempt, m int) {
		switch a.Task {
		case 5:
			a.Status, a.FinishTime, a.DurationS = schema.Running, schema.Null[schema.Time]{}, schema.Null[float64]{}
		case 6:
			longer(a, 50)
		}
	})
	tr.Applications[1].Complete = false
	st, eng := detectedTrace(t, tr)
	want := committed(t, st, eng, eng)
	stopped := fmt.Sprintf("attributions|%d|", 100*2+5)
	if !slices.ContainsFunc(want, func(row string) bool { return strings.HasPrefix(row, stopped) }) {
		t.Fatalf("nothing is said of the attempt that still ran: %q", want)
	}
	if got := committed(t, st, eng, &copiestest.Cluster{Engine: eng, T: t, Store: st, Work: Copy}); !slices.Equal(got, want) {
		t.Errorf("by copies %q\nhere %q", got, want)
	}
}

func made(t *testing.T, scenario string) (*store.Store, engine.Engine) {
	t.Helper()
	s, ok := synth.ByName(scenario)
	if !ok {
		t.Fatalf("no scenario %s", scenario)
	}
	return Stored(t, func(st *store.Store) error {
		return Commit(t.Context(), st, func(tx *store.Tx) error {
			return synth.Stream(t.Context(), s.Make(3), func(b *synth.Batch) error { return PutTrace(tx, b.Trace) })
		})
	})
}

// committed runs on one engine and reads the committed rows with another.
func committed(t *testing.T, st *store.Store, read, work engine.Engine) (out []string) {
	t.Helper()
	if _, err := Run(t.Context(), st, work, Options{Again: true}); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"attributions", "application_causes", "machine_health", "skew_repeats", "job_costs", "history_attributions"} {
		rows, err := read.Query(t.Context(), "SELECT * FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			line := table
			for i := range rows.Columns() {
				line += fmt.Sprintf("|%v", rows.Value(i))
			}
			out = append(out, line)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(out)
	return out
}

// A copy with invalid input names the line.
func TestCopyRefuses(t *testing.T) {
	copied := func(step, file, rows string) error {
		return Copy(t.Context(), copies.Assignment{Step: step, Pieces: t.TempDir(), File: file, In: strings.NewReader(rows), Out: io.Discard})
	}
	good := "1\t1\t0\t2" + strings.Repeat("\t\\N", 3) + "\t3\t-1\t\\N\t1.5\tfalse\ttrue\tfalse\tfalse\tfalse" + "\tNaN\tfalse" + strings.Repeat("\tNaN", 12) + "\n"
	if err := copied(stepObserve+"=3600", "", good); err != nil {
		t.Error(err)
	}
	for _, in := range []string{"1\t2\n", strings.Replace(good, "1.5", "x", 1), strings.Replace(good, "true", "maybe", 1),
		strings.Replace(good, "2", `\N`, 1), strings.Replace(good, "1\t0", "1\t9", 1)} {
		if err := copied(stepObserve+"=3600", "", good+in); err == nil || !strings.Contains(err.Error(), "line 2 of the rows") {
			t.Errorf("%q: %v", in, err)
		}
	}
	if err := copied("dance", "", good); err == nil {
		t.Error("an unknown step is done")
	}
	if err := copied(stepAttribute, "nothere", good); err == nil || !strings.Contains(err.Error(), "can the machine read the store") {
		t.Errorf("without the model: %v", err)
	}
}
