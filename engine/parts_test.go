package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"straggler/engine"
	"straggler/engine/duckdb"
	"straggler/engine/enginetest"
	"straggler/engine/sqltext"
	"straggler/store/storetest"
)

// counting is an engine that records the session tables that it was asked to create and not to drop.
type counting struct {
	engine.Engine
	made int
	held []string
}

func (c *counting) Materialize(ctx context.Context, name, sql string) error {
	if err := c.Engine.Materialize(ctx, name, sql); err != nil {
		return err
	}
	c.made++
	c.held = append(c.held, name)
	return nil
}

func (c *counting) Drop(ctx context.Context, name string) error {
	c.held = slices.DeleteFunc(c.held, func(h string) bool { return h == name })
	return c.Engine.Drop(ctx, name)
}

// slow is an engine that takes nearly all of the closing time to drop a table.
type slow struct {
	engine.Engine
	dropped int
}

func (s *slow) Dialect() sqltext.Dialect                              { return sqltext.Spark }
func (s *slow) Materialize(_ context.Context, name, sql string) error { return nil }
func (s *slow) Drop(ctx context.Context, name string) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(engine.ClosingTime - time.Second):
		s.dropped++
		return nil
	}
}

// A busy cluster may take long to drop kept tables: only cancelled work must end soon.
func TestPartsAreDroppedSlowly(t *testing.T) {
	const sql = "WITH a AS (SELECT n FROM attempts), b AS (SELECT n FROM phases) SELECT a.n FROM a JOIN a c ON a.n = c.n JOIN b ON b.n = a.n JOIN b d ON d.n = a.n"
	synctest.Test(t, func(t *testing.T) {
		eng := &slow{}
		if err := engine.UseParts(t.Context(), eng, "kept", sql, func(string) error { return nil }); err != nil || eng.dropped != 2 {
			t.Errorf("%d tables dropped: %v", eng.dropped, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		eng, began := &slow{}, time.Now()
		err := engine.UseParts(ctx, eng, "kept", sql, func(string) error { cancel(); return ctx.Err() })
		if took := time.Since(began); !errors.Is(err, context.Canceled) || eng.dropped != 1 || took != engine.ClosingTime {
			t.Errorf("cancelled: %d tables dropped in %v: %v", eng.dropped, took, err)
		}
	})
}

type numbered struct {
	N int64 `col:"n"`
}

// partsSQL uses a part twice, which is kept, another part once, and a list of values; it contains something that looks like
// the end of a part and is not.
const partsSQL = `-- takes (nothing
WITH
few AS (SELECT * FROM (VALUES (1), (2)) AS v(n)), -- a list)
doubled AS (
  SELECT CAST(a.n + b.n AS BIGINT) AS n, ')--(' AS text FROM few a CROSS JOIN few b
),
once AS (
  SELECT n FROM doubled WHERE text = ')--('
)
SELECT CAST(a.n * 10 + b.n AS BIGINT) AS n FROM once a JOIN doubled b
  ON b.n >= a.n ORDER BY n NULLS LAST`

func TestParts(t *testing.T) {
	st := enginetest.Store(t)
	duck, err := duckdb.Open(t.Context(), st, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer duck.Close()
	eng := &counting{Engine: duck}
	var whole, inParts []int64
	for r, err := range engine.Read[numbered](t.Context(), eng, partsSQL) {
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, r.N)
	}
	for r, err := range engine.ReadParts[numbered](t.Context(), eng, "q", partsSQL) {
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(eng.held, []string{"q_doubled"}) {
			t.Fatalf("kept while it is read: %v", eng.held)
		}
		inParts = append(inParts, r.N)
	}
	// 2, 3, 3, 4 with those not under them: 4 + 3 + 3 + 1
	if len(whole) != 11 || !slices.Equal(whole, inParts) {
		t.Errorf("whole %v, in parts %v", whole, inParts)
	}
	if eng.made != 1 || len(eng.held) != 0 {
		t.Errorf("%d tables were made, and %v are still there", eng.made, eng.held)
	}
	if rows, err := eng.Query(t.Context(), "SELECT * FROM q_doubled"); err == nil {
		rows.Close()
		t.Error("the engine still has what was dropped")
	}
}

// Kept tables are dropped in every case: if a part or the end of the query fails, if the reader stops, and if it is
// cancelled.
func TestPartsAreDropped(t *testing.T) {
	st := enginetest.Store(t)
	enginetest.Ingest(t, st, 7, storetest.Attempts(7, 5000))
	duck, err := duckdb.Open(t.Context(), st, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer duck.Close()
	const twice = "WITH a AS (SELECT task AS n FROM attempts),\n b AS (SELECT x.n FROM a x JOIN a y ON x.n = y.n)"
	wrong := strings.Replace(twice, "x.n = y.n", "x.nosuch = y.n", 1) + " SELECT x.n FROM b x JOIN b y ON x.n = y.n"
	eng := &counting{Engine: duck}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var failed error
	for _, err := range engine.ReadParts[numbered](ctx, eng, "q", wrong) {
		failed = errors.Join(failed, err)
	}
	if failed == nil || !strings.Contains(failed.Error(), "b: ") || !strings.Contains(failed.Error(), "nosuch") || eng.made != 1 || len(eng.held) != 0 {
		t.Errorf("a wrong part: %v; %d made, %v left", failed, eng.made, eng.held)
	}
	if err := engine.MaterializeParts(ctx, eng, "m", twice+" SELECT nosuch FROM b"); err == nil || eng.made != 2 || len(eng.held) != 0 {
		t.Errorf("a wrong end: %v; %d made, %v left", err, eng.made, eng.held)
	}
	for range engine.ReadParts[numbered](ctx, eng, "q", twice+" SELECT n FROM b") {
		break
	}
	if eng.made != 3 || len(eng.held) != 0 {
		t.Errorf("a reader that stops: %d made, %v left", eng.made, eng.held)
	}
	failed = nil
	for _, err := range engine.ReadParts[numbered](ctx, eng, "q", twice+" SELECT n FROM b") {
		failed = err
		cancel()
	}
	if !errors.Is(failed, context.Canceled) || eng.made != 4 || len(eng.held) != 0 {
		t.Errorf("cancelled: %v; %d made, %v left", failed, eng.made, eng.held)
	}
	if err := engine.MaterializeParts(t.Context(), eng, "m", twice+" SELECT n FROM b WHERE n < 7"); err != nil || !slices.Equal(eng.held, []string{"m"}) {
		t.Errorf("a table by parts: %v; left %v", err, eng.held)
	}
	if n, err := enginetest.Count(t.Context(), eng, "SELECT * FROM m"); n != 7 || err != nil {
		t.Errorf("it has %d rows, %v", n, err)
	}
}
