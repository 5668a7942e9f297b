package duckdb

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/enginetest"
	"straggler/schema"
)

// TestRowGroupsAreLeftOutRightly: filters let the engine skip row groups by the statistics in the files. Its counts are
// compared with counting row by row, for files that overlap or not, and contain NULL, NaN, zeros of both signs, or strings
// longer than a bound.
func TestRowGroupsAreLeftOutRightly(t *testing.T) {
	st := enginetest.Store(t)
	long, top := strings.Repeat("rack/", 40), strings.Repeat("\U0010FFFF", 40)
	values := [][]schema.Attempt{ // by file
		{attempt(1, "a"), attempt(2, "b")},
		{attempt(math.Copysign(0, -1), ""), attempt(0, long)},
		{attempt(math.Copysign(0, -1), long+"a")},
		{attempt(0, long+"b"), {}},
		{attempt(math.NaN(), top), attempt(5, top+"a")},
		{attempt(math.NaN(), "m")},
		{{}, {}},
		{attempt(math.Inf(1), "z"), attempt(-3, long[:64])},
		{attempt(math.Inf(-1), "é"), attempt(100, long[:63]+"é")},
		{attempt(7, "7"), {}, attempt(9, "9")},
	}
	var all []schema.Attempt
	for i, rows := range values {
		key := schema.Key(i + 1)
		ids := schema.NewKeys(key, "attempts")
		for k := range rows {
			rows[k].AttemptID, rows[k].Status = ids.Next(), schema.Success
		}
		enginetest.Ingest(t, st, key, rows)
		all = append(all, rows...)
	}
	eng := testEngine(t, st, engine.Options{})
	type row struct {
		N int64 `col:"n"`
	}
	holds := func(op string, order int) bool {
		return strings.Contains(op, "=") && order == 0 && op != "<>" || op == "<>" && order != 0 ||
			strings.HasPrefix(op, "<") && op != "<>" && order < 0 || strings.HasPrefix(op, ">") && order > 0
	}
	check := func(sql, op string, compare func(*schema.Attempt) (order int, null bool)) {
		t.Helper()
		want := int64(0)
		for i := range all {
			if order, null := compare(&all[i]); !null && holds(op, order) {
				want++
			}
		}
		if got := enginetest.ReadAll[row](t, eng, sql)[0].N; got != want {
			t.Errorf("%s gives %d, want %d", sql, got, want)
		}
	}
	for _, op := range []string{"=", "<", "<=", ">", ">=", "<>"} {
		for i := range all {
			if d := all[i].DurationS; d.OK {
				sql := fmt.Sprintf("SELECT count(*) AS n FROM attempts WHERE duration_s %s CAST('%v' AS DOUBLE)", op, d.V)
				check(sql, op, func(a *schema.Attempt) (int, bool) { return compareDoubles(a.DurationS.V, d.V), !a.DurationS.OK })
			}
			if m := all[i].Machine; m.OK {
				for _, v := range []string{m.V, m.V + "a"} {
					sql := fmt.Sprintf("SELECT count(*) AS n FROM attempts WHERE machine %s '%s'", op, v)
					check(sql, op, func(a *schema.Attempt) (int, bool) { return cmp.Compare(a.Machine.V, v), !a.Machine.OK })
				}
			}
		}
	}
	for _, column := range []string{"duration_s", "machine"} {
		check("SELECT count(*) AS n FROM attempts WHERE "+column+" IS NULL", "=", func(a *schema.Attempt) (int, bool) {
			return 0, a.DurationS.OK // both are NULL in the same rows
		})
	}
}

func attempt(seconds float64, machine string) schema.Attempt {
	return schema.Attempt{DurationS: schema.Some(seconds), Machine: schema.Some(machine)}
}

// compareDoubles compares in the order of SQL engines: NaN equals itself and is greater than all others.
func compareDoubles(a, b float64) int {
	switch {
	case math.IsNaN(a) && !math.IsNaN(b):
		return 1
	case math.IsNaN(b) && !math.IsNaN(a):
		return -1
	}
	return cmp.Compare(a, b)
}
