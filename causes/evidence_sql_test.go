package causes_test

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"straggler/causes"
	"straggler/engine"
	"straggler/schema"
)

// answer runs a query and returns its rows.
func answer(t *testing.T, eng engine.Engine, sql string) (columns []string, rows [][]any) {
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

// logs are generated logs with different information missing, so that every predictor is used in one of them.
var logs = []struct {
	scenario string
	hide     func(*schema.Attempt)
}{
	{scenario: "mixed"}, {scenario: "transient"}, {scenario: "spill"}, {scenario: "deserialize"}, {scenario: "recompute"}, {scenario: "locality"},
	{scenario: "scheduler"}, {scenario: "network"}, {scenario: "gc"}, {scenario: "bad-machine"},
	{"skew", func(a *schema.Attempt) { a.InputBytes = schema.Null[int64]{} }}, // records
	// what is written
	{"skew", func(a *schema.Attempt) { a.InputBytes, a.InputRecords = schema.Null[int64]{}, schema.Null[int64]{} }},
	{"skew", func(a *schema.Attempt) { noCounts(a); a.CPUS = schema.Some(0.9 * a.DurationS.V) }}, // processor time
	{"locality", func(a *schema.Attempt) { a.RemoteBytes, a.FetchWaitS = schema.Null[int64]{}, schema.Null[float64]{} }},
	{"network", func(a *schema.Attempt) {
		a.FetchWaitS, a.Locality = schema.Null[float64]{}, schema.Null[schema.Locality]{}
	}}, // remote bytes
	// the first
	{"deserialize", func(a *schema.Attempt) { a.DeserializeS, a.ResultS = schema.Null[float64]{}, schema.Null[float64]{} }},
}

func noCounts(a *schema.Attempt) {
	a.InputBytes, a.InputRecords, a.OutputBytes, a.ShuffleWriteBytes = schema.Null[int64]{}, schema.Null[int64]{}, schema.Null[int64]{}, schema.Null[int64]{}
	a.LocalBytes, a.RemoteBytes, a.CrossRackBytes, a.SpillBytes = schema.Null[int64]{}, schema.Null[int64]{}, schema.Null[int64]{}, schema.Null[int64]{}
}

// claim is an attribution with its attempt.
type claim struct {
	Attempt  schema.Key   `col:"attempt_id"`
	Cause    schema.Cause `col:"cause"`
	Task     int64        `col:"task"`
	Number   int32        `col:"number"`
	Machine  string       `col:"machine"`
	Status   string       `col:"status"`
	Phase    schema.Key   `col:"phase_id"`
	Evidence string       `col:"evidence"`
}

// noVerb finds a figure of other tasks that does not say of what it is.
var noVerb = regexp.MustCompile(`(median task|first task|on its machine) [0-9]`)

// The SQL of every kind of evidence runs, and its rows show what the evidence states.
func TestEvidenceSQL(t *testing.T) {
	causesSeen, predictorsSeen := map[schema.Cause]int{}, map[string]int{}
	for _, l := range logs {
		st, eng := detectedWithout(t, l.scenario, l.hide, 1)
		if _, err := causes.Run(t.Context(), st, eng, causes.Options{}); err != nil {
			t.Fatal(err)
		}
		few := map[string]int{}
		claims := rowsOf[claim](t, eng, `SELECT t.attempt_id, t.cause, a.task, a.number, coalesce(a.machine, '') AS machine, a.status, a.phase_id, t.evidence
FROM attributions t JOIN attempts a ON a.attempt_id = t.attempt_id ORDER BY t.attempt_id NULLS LAST, t.rank NULLS LAST`)
		evidences := make([]causes.Evidence, len(claims))
		// these exceed the tasks of their phase by more than the model leaves unexplained: they are early, or their machine
		// is slow
		more := map[schema.Key]bool{}
		for i, c := range claims {
			e := &evidences[i]
			if err := json.Unmarshal([]byte(c.Evidence), e); err != nil {
				t.Fatalf("%s: %v", c.Evidence, err)
			}
			if noVerb.MatchString(e.Text) {
				t.Errorf("a figure of other tasks without a verb reads as their duration: %s", e.Text)
			}
			more[c.Attempt] = more[c.Attempt] || slices.Contains([]string{"start_time", "executor", "machine"}, e.Predictor)
		}
		for i, c := range claims {
			e := evidences[i]
			if more[c.Attempt] && e.Predictor == "residual" {
				continue
			}
			kind := string(c.Cause) + e.Predictor
			// no query shows a spell of time
			if few[kind]++; few[kind] > 3 || c.Status != "success" || strings.Contains(e.Text, " at that time, judging by ") {
				continue
			}
			causesSeen[c.Cause]++
			predictorsSeen[e.Predictor]++
			columns, rows := answer(t, eng, e.SQL)
			value, within, ok := found(&c, &e, table{columns, rows})
			if !ok {
				t.Errorf("%s: %s does not show task %d", l.scenario, e.SQL, c.Task)
			} else if math.Abs(value-e.Value) > within*math.Abs(e.Value)+1e-9 {
				t.Errorf("%s: %s: the evidence says %g of %s, the table %g: %s", l.scenario, e.SQL, e.Value, e.Predictor, value, e.Text)
			}
		}
	}
	for _, c := range schema.Cause("").Values() {
		if causesSeen[schema.Cause(c)] == 0 {
			t.Errorf("no evidence of %s was tried", c)
		}
	}
	for _, p := range []string{"input_bytes", "input_records", "output_bytes + shuffle_write_bytes", "cpu_s", "remote_bytes", "spill_bytes", "locality", "start_time",
		// losses: TestLostOutputOfHadoop
		"fetch_wait_s", "gc_s", "scheduler_delay_s", "deserialize_s + result_s", "machine", "residual", "recompute"} {
		if predictorsSeen[p] == 0 {
			t.Errorf("no evidence read off %s was tried", p)
		}
	}
}

// table is the answer to a query.
type table struct {
	columns []string
	rows    [][]any
}

// of returns a column as numbers, NaN for values that are not; instants are seconds since 1970.
func (t table) of(column string) (out []float64) {
	k := slices.Index(t.columns, column)
	for _, row := range t.rows {
		switch x := row[k].(type) {
		case float64:
			out = append(out, x)
		case int64:
			out = append(out, float64(x))
		case int32:
			out = append(out, float64(x))
		case schema.Time:
			out = append(out, float64(x)/1e6)
		default:
			out = append(out, math.NaN())
		}
	}
	return out
}

// row returns the index of an attempt, -1 if there is none.
func (t table) row(c *claim) int {
	tasks := t.of("task")
	for i := range tasks {
		if tasks[i] == float64(c.Task) && (!slices.Contains(t.columns, "number") || t.of("number")[i] == float64(c.Number)) {
			return i
		}
	}
	return -1
}

func middle(v []float64) float64 {
	v = slices.DeleteFunc(slices.Clone(v), math.IsNaN)
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// found returns the evidence's value according to the rows of its query, and the tolerance: four digits for figures in the
// log, and the scatter of the model for what it computes.
func found(c *claim, e *causes.Evidence, t table) (value, within float64, ok bool) {
	const exact = 1e-4
	if e.Predictor == "machine" {
		return machineRatio(c, t, strings.Contains(e.Text, " in this phase, by")), 0.25, true
	}
	i := t.row(c)
	if i < 0 {
		return 0, 0, false
	}
	switch e.Predictor {
	case "recompute":
		return t.of("finish_time")[i] - t.of("start_time")[i], 1e-3, true
	case "locality":
		away := 0.0
		if where := t.rows[i][slices.Index(t.columns, "locality")]; where == "rack_local" || where == "any" {
			away = 1
		}
		return away, exact, true
	case "start_time":
		return first(t, i), exact, true
	case "remote_bytes":
		remote, input := t.of("remote_bytes"), t.of("input_bytes")
		return remote[i] - middle(remote)/middle(input)*input[i], exact, true
	case "cpu_s": // relative to its machine's usual
		return t.of("cpu_s")[i], 0.5, true
	case "residual": // relative to the tasks of its phase with the same input
		d, input := t.of("body_s"), t.of("input_bytes")
		if math.IsNaN(input[i]) || middle(input) == 0 {
			return d[i] / middle(d), 0.5, true
		}
		return d[i] / middle(d) / math.Max(0.3, 0.1+0.9*input[i]/middle(input)), 0.5, true
	}
	return t.of(t.columns[len(t.columns)-1])[i], exact, true
}

// first returns 1 if row i started before any task on its machine had ended.
func first(t table, i int) float64 {
	machines := slices.Index(t.columns, "machine")
	starts, durations := t.of("start_time"), t.of("duration_s")
	for k := range t.rows {
		if t.rows[k][machines] == t.rows[i][machines] && starts[k]+durations[k] <= starts[i] {
			return 0
		}
	}
	return 1
}

// machineRatio returns the median, over the phases of the job or in the attempt's phase only, of the ratio of the body of the
// machine's tasks to that of the median machine's tasks.
func machineRatio(c *claim, t table, here bool) float64 {
	machines, phases, means := slices.Index(t.columns, "machine"), t.of("phase_id"), t.of("body_s")
	var ratios []float64
	for i := range t.rows {
		if t.rows[i][machines] != c.Machine || here && phases[i] != float64(c.Phase) {
			continue
		}
		var all []float64
		for k := range t.rows {
			if phases[k] == phases[i] {
				all = append(all, means[k])
			}
		}
		ratios = append(ratios, means[i]/middle(all))
	}
	return middle(ratios)
}
