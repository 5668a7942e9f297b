package causes_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"straggler/causes"
	"straggler/schema"
	"straggler/store"
)

// answer runs a query and gives its rows.
func answer(t *testing.T, eng store.Engine, sql string) (columns []string, rows [][]any) {
	t.Helper()
	r, err := eng.Query(t.Context(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer r.Close()
	for _, c := range r.Columns() {
		columns = append(columns, c.Name)
	}
	for r.Next() {
		row := make([]any, len(columns))
		for k := range row {
			row[k] = r.Value(k)
		}
		rows = append(rows, row)
	}
	if r.Err() != nil {
		t.Fatalf("%s: %v", sql, r.Err())
	}
	return columns, rows
}

// The SQL of an evidence runs and shows the attempt, with the value that the evidence states where that is a column's.
func TestEvidenceSQL(t *testing.T) {
	type found struct {
		Cause    schema.Cause `col:"cause"`
		Task     int64        `col:"task"`
		Number   int32        `col:"number"`
		Machine  string       `col:"machine"`
		Status   string       `col:"status"`
		Evidence string       `col:"evidence"`
	}
	seen := map[schema.Cause]int{}
	for _, scenario := range []string{"mixed", "spill", "deserialize", "locality", "recompute", "scheduler", "network", "gc", "no-bytes"} {
		st, eng := detected(t, scenario, 1)
		if _, err := causes.Run(t.Context(), st, eng, causes.Options{}); err != nil {
			t.Fatal(err)
		}
		few := map[string]int{}
		for _, f := range rowsOf[found](t, eng, `SELECT t.cause, a.task, a.number, coalesce(a.machine, '') AS machine, a.status, t.evidence
FROM attributions t JOIN attempts a ON a.attempt_id = t.attempt_id ORDER BY t.attempt_id NULLS LAST, t.rank NULLS LAST`) {
			var e causes.Evidence
			if err := json.Unmarshal([]byte(f.Evidence), &e); err != nil {
				t.Fatalf("%s: %v", f.Evidence, err)
			}
			kind := string(f.Cause) + e.Predictor
			if few[kind]++; few[kind] > 2 || f.Status != "success" {
				continue
			}
			seen[f.Cause]++
			columns, rows := answer(t, eng, e.SQL)
			if e.Predictor == "machine" {
				if !strings.Contains(fmt.Sprint(rows), f.Machine) {
					t.Errorf("%s: %s does not show %s", f.Cause, e.SQL, f.Machine)
				}
				continue
			}
			shows(t, columns, rows, f.Task, f.Number, &e)
		}
	}
	for _, c := range schema.Cause("").Words() {
		if seen[schema.Cause(c)] == 0 {
			t.Errorf("no evidence of %s was tried", c)
		}
	}
}

// shows looks for the task among the rows, and for the evidence's value in its last column.
func shows(t *testing.T, columns []string, rows [][]any, task int64, number int32, e *causes.Evidence) {
	t.Helper()
	for _, row := range rows {
		if fmt.Sprint(row[0]) != fmt.Sprint(task) || columns[1] == "number" && fmt.Sprint(row[1]) != fmt.Sprint(number) {
			continue
		}
		switch e.Predictor {
		case "locality", "start_time", "residual", "recompute", "losses", "cpu_s", "remote_bytes": // shown as they are, or beside what is usual
			return
		}
		var value float64
		if _, err := fmt.Sscan(fmt.Sprint(row[len(row)-1]), &value); err != nil || math.Abs(value-e.Value) > 1e-4*math.Abs(e.Value) {
			t.Errorf("%s: the evidence says %g, the table %v", e.SQL, e.Value, row[len(row)-1])
		}
		return
	}
	t.Errorf("%s does not show task %d in %d rows", e.SQL, task, len(rows))
}
