package causes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/schema/synth"
	"straggler/store"
)

// many is an engine that hands rows to copies as a cluster does: as text, in shares, here one after the other. Every copy runs
// twice, as one does that seems slow, and once more it dies on the way; the line of the second is what comes back.
type many struct {
	engine.Engine
	t     *testing.T
	st    *store.Store
	steps []string
	none  bool // it cannot share files
}

func (m *many) StoreDir() (string, error) {
	if m.none {
		return "", fmt.Errorf("no place for a file: %w", errors.ErrUnsupported)
	}
	return m.st.Where(), nil
}

func (m *many) RunRemote(ctx context.Context, w engine.RemoteJob) (*engine.Rows, error) {
	m.steps = append(m.steps, w.Verb[1])
	file := m.t.TempDir() + "/told"
	if err := os.WriteFile(file, w.File, 0o666); err != nil {
		return nil, err
	}
	pieces := w.Verb[slices.Index(w.Verb, "--pieces")+1]
	rows, err := m.Query(ctx, w.SQL+" ORDER BY "+w.Order)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	const parts = 3
	var in [parts]strings.Builder
	for rows.Next() {
		key := rows.Value(0).(int64)
		part := &in[uint64(key)%parts]
		for i := range rows.Columns() {
			if i > 0 {
				part.WriteByte('\t')
			}
			part.WriteString(hiveText(rows.Value(i)))
		}
		part.WriteByte('\n')
	}
	var values []string
	for i := range in {
		var out strings.Builder
		for _, text := range []string{in[i].String(), in[i].String() + "broken\n", in[i].String()} {
			out.Reset()
			if err := Copy(ctx, w.Verb[1], pieces, file, strings.NewReader(text), &out); (err != nil) != (strings.HasSuffix(text, "broken\n")) {
				return nil, fmt.Errorf("a copy: %w", err)
			}
		}
		for line := range strings.Lines(out.String()) {
			key, found, _ := strings.Cut(strings.TrimSpace(line), "\t")
			values = append(values, "(CAST("+key+" AS BIGINT), '"+found+"')")
		}
	}
	if len(values) == 0 {
		return m.Query(ctx, "SELECT CAST(0 AS BIGINT) AS key, '' AS output WHERE false")
	}
	return m.Query(ctx, "SELECT * FROM (VALUES "+strings.Join(values, ", ")+") AS t(key, output) ORDER BY key NULLS LAST")
}

// hiveText is a value as Spark writes it for a program.
func hiveText(v any) string {
	switch v := v.(type) {
	case nil:
		return `\N`
	case float64:
		switch {
		case math.IsNaN(v):
			return "NaN"
		case v == 0 || math.Abs(v) >= 1e-3 && math.Abs(v) < 1e7:
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return strings.ToUpper(strconv.FormatFloat(v, 'e', -1, 64))
	}
	return fmt.Sprint(v)
}

// The rows of a run whose phases are worked on by copies are those of a run in one process, to the last bit.
func TestCopiesFindTheSame(t *testing.T) {
	for _, scenario := range []string{"mixed", "recompute"} {
		t.Run(scenario, func(t *testing.T) {
			st, eng := made(t, scenario)
			want := committed(t, st, eng, eng)
			m := &many{Engine: eng, t: t, st: st}
			if got := committed(t, st, eng, m); !slices.Equal(got, want) {
				t.Errorf("%d rows by copies and %d here, and not the same", len(got), len(want))
			}
			if !slices.Equal(m.steps, []string{stepObserve + "=3600", stepAttribute}) {
				t.Errorf("the copies did %v", m.steps)
			}
			if got := committed(t, st, eng, &many{Engine: eng, t: t, none: true}); !slices.Equal(got, want) {
				t.Errorf("%d rows where the cluster cannot be told the model and %d here, and not the same", len(got), len(want))
			}
			if len(want) < 50 {
				t.Errorf("only %d rows to compare", len(want))
			}
		})
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

// committed runs on one engine and reads with another what was committed.
func committed(t *testing.T, st *store.Store, read, work engine.Engine) (out []string) {
	t.Helper()
	if _, err := Run(t.Context(), st, work, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"attributions", "machine_health", "skew_repeats", "job_costs"} {
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

// A copy that is given something else than rows says which line.
func TestCopyRefuses(t *testing.T) {
	good := "1\t2\t3\t-1\t\\N\t1.5\tfalse\ttrue\tfalse\tfalse\tfalse" + strings.Repeat("\tNaN", 12) + "\n"
	if err := Copy(t.Context(), stepObserve+"=3600", t.TempDir(), "", strings.NewReader(good), io.Discard); err != nil {
		t.Error(err)
	}
	for _, in := range []string{"1\t2\n", strings.Replace(good, "1.5", "x", 1), strings.Replace(good, "true", "maybe", 1), strings.Replace(good, "2", `\N`, 1)} {
		if err := Copy(t.Context(), stepObserve+"=3600", t.TempDir(), "", strings.NewReader(good+in), io.Discard); err == nil || !strings.Contains(err.Error(), "line 2 of the rows") {
			t.Errorf("%q: %v", in, err)
		}
	}
	if err := Copy(t.Context(), "dance", t.TempDir(), "", strings.NewReader(good), io.Discard); err == nil {
		t.Error("an unknown step is done")
	}
	if err := Copy(t.Context(), stepAttribute, t.TempDir(), "nothere", strings.NewReader(good), io.Discard); err == nil || !strings.Contains(err.Error(), "does the machine see the store") {
		t.Errorf("without the model: %v", err)
	}
}
