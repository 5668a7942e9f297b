package jobcost

import (
	"math"
	"slices"
	"straggler/causes/fit"
	"strings"
	"testing"

	"straggler/schema"
)

// tasksAt makes tasks from starts and durations.
func tasksAt(v ...[2]float64) *fit.Phase {
	p := &fit.Phase{ID: 9}
	for i, x := range v {
		p.Tasks = append(p.Tasks, fit.Task{Attempt: schema.Key(i + 1), Start: schema.Some(schema.Time(1e15).Add(x[0])), Duration: x[1]})
	}
	return p
}

// Two slots: 0–10 s and 0–4, 4–8 s, then a task of 4 s from 8 s. Without 6 s of the first task's ten, packed anew, the
// phase takes 8 s where it took 12; with every start as it was, the last task still ends at 12.
func TestWeigh(t *testing.T) {
	p := tasksAt([2]float64{0, 10}, [2]float64{0, 4}, [2]float64{4, 4}, [2]float64{8, 4})
	var v Savings
	v.Begin()
	v.Add(0, 4, schema.Transient, 6, &Errors{})
	v.Add(1, 4, schema.GC, -1, &Errors{})
	out := v.Weigh(p.ID, p.Tasks, nil)
	if len(out) != 2 || out[0].Cause != all || out[0].Sum != 5 || out[1].Cause != schema.Transient || out[1].Sum != 6 {
		t.Fatalf("%+v", out)
	}
	if out[1].Packed != 4 || out[1].Fixed != 0 {
		t.Errorf("packed %g, fixed %g; want 4 and 0", out[1].Packed, out[1].Fixed)
	}
	if out[0].Packed != 3 { // the collection had made the second task faster, and the third ends at 9
		t.Errorf("all causes together %g, want 3", out[0].Packed)
	}
	p.Tasks[2].Start.OK = false
	v.Begin()
	v.Add(0, 4, schema.Transient, 6, &Errors{})
	if out := v.Weigh(p.ID, p.Tasks, nil); !math.IsNaN(out[0].Packed) {
		t.Error("a phase without starts was packed")
	}
}

// A job cannot have lost more than it took, whatever the times of its tasks say.
func TestCostsAreAtMostWhatTheJobTook(t *testing.T) {
	spans := []Span{{id: 1, end: 1e6}}
	rows := Costs(7, 5, spans, []Saving{{Phase: 1, Cause: schema.GC, Sum: 1e6, SD: 1, Packed: 999_999, Fixed: 999_998},
		{Phase: 1, Cause: all, Packed: 999_999, Fixed: 999_998}})
	if len(rows) != 1 || rows[0].CostS.V != 5 || rows[0].CostHigh.V != 5 || rows[0].CostLow.V > 5 || rows[0].Together.V != 5 {
		t.Errorf("%+v", rows)
	}
}

// A chain a → b, and c beside them that ends before: what b saves counts whole, what c saves counts nothing, what a
// saves counts whole because b waited for it.
func TestCosts(t *testing.T) {
	graph := []Span{{id: 1, start: 0, end: 10}, {id: 3, start: 0, end: 15}, {id: 2, start: 11, end: 21, parents: []int{0}}}
	rows := Costs(7, math.Inf(1), graph, []Saving{
		{Phase: 1, Cause: schema.DataSkew, Sum: 3, Packed: 3, Fixed: 2},
		{Phase: 3, Cause: schema.GC, Sum: 9, Packed: 9, Fixed: 9},
		{Phase: 2, Cause: schema.Network, Sum: 5, Packed: 4, Fixed: 4},
		{Phase: 2, Cause: schema.Transient, Sum: 8, Packed: 8, Fixed: 8},
		{Phase: 1, Cause: all, Packed: 3, Fixed: 3}, {Phase: 3, Cause: all, Packed: 9, Fixed: 9}, {Phase: 2, Cause: all, Packed: 10, Fixed: 10},
	})
	// then c ends last, at 15
	want := map[schema.Cause]float64{schema.DataSkew: 3, schema.GC: 0, schema.Network: 4, schema.Transient: 6}
	for _, r := range rows {
		if r.CostS.V != want[r.Cause] || r.JobID != 7 {
			t.Errorf("%s costs %g s, want %g", r.Cause, r.CostS.V, want[r.Cause])
		}
		if r.Together.V != 13 { // 21 less 3 and 10, and c ends at 6 then; one by one the last two hide behind c
			t.Errorf("together %g, want 13", r.Together.V)
		}
		if r.CostLow.V > r.CostS.V || r.CostHigh.V < r.CostS.V {
			t.Errorf("%s: %g is not in %g to %g", r.Cause, r.CostS.V, r.CostLow.V, r.CostHigh.V)
		}
	}
	if len(rows) != 4 {
		t.Errorf("%d rows", len(rows))
	}
	if rows := Costs(7, math.Inf(1), nil, []Saving{{Phase: 1, Cause: schema.GC, Sum: 2, Packed: math.NaN()}}); rows[0].CostS.OK ||
		!rows[0].Note.OK || rows[0].SumS != 2 {
		t.Errorf("without times: %+v", rows[0])
	}
}

// Phases that ran at the same time share slots, which their packing does not know: the note says how many there are.
func TestOverlapping(t *testing.T) {
	chain := []Span{{start: 0, end: 10}, {start: 10, end: 12}, {start: 12, end: 12}, {start: 12, end: 20}}
	if n := overlapping(chain); n != 0 {
		t.Errorf("%d phases of a chain ran beside others", n)
	}
	mixed := []Span{{start: 0, end: 10}, {start: 3, end: 4}, {start: 8, end: 12}, {start: 12, end: 14}, {start: 15, end: 17}, {start: 15, end: 16}}
	if n := overlapping(mixed); n != 5 {
		t.Errorf("%d phases ran beside others, want 5", n)
	}
	rows := Costs(7, math.Inf(1), mixed, []Saving{{Cause: schema.GC, Sum: 1, Packed: 1, Fixed: 1}})
	if !strings.Contains(rows[0].Note.V, "5 of its 6 phases ran beside others") {
		t.Errorf("the note is %q", rows[0].Note.V)
	}
	if rows := Costs(7, math.Inf(1), chain, []Saving{{Cause: schema.GC, Sum: 1, Packed: 1, Fixed: 1}}); strings.Contains(rows[0].Note.V, "beside") {
		t.Errorf("the note of a chain is %q", rows[0].Note.V)
	}
}

// Phases wait for their edges; without one, for the last phase that had ended.
func TestSpans(t *testing.T) {
	at := func(s float64) schema.Null[schema.Time] { return schema.Some(schema.Time(1e15).Add(s)) }
	phases := []Phase{{ID: 3, Start: at(11), Finish: at(20)}, {ID: 1, Start: at(0), Finish: at(10)}, {ID: 2, Start: at(1), Finish: at(8)}}
	got := Spans(phases, nil)
	if len(got) != 3 || got[2].id != 3 || len(got[2].parents) != 1 || got[got[2].parents[0]].id != 1 || got[1].parents != nil {
		t.Errorf("%+v", got)
	}
	got = Spans(phases, []Edge{{From: 2, To: 3}})
	if len(got[2].parents) != 1 || got[got[2].parents[0]].id != 2 {
		t.Errorf("with an edge: %+v", got)
	}
	skipped := append([]Phase{{ID: 4}}, phases...)
	got = Spans(skipped, []Edge{{From: 4, To: 3}, {From: 2, To: 3}})
	if len(got) != 3 || got[2].id != 3 || !slices.Equal(got[2].parents, []int{1}) {
		t.Errorf("with a phase that never ran, which has no times: %+v", got)
	}
	phases[1].Finish.OK = false
	phases[1].Attempts = 5
	if Spans(phases, nil) != nil {
		t.Error("a phase that ran and has no end has a place in the graph")
	}
}

// What tasks share adds up, what is their own adds in squares: two tasks of one phase with ±1 s by the same coefficient are
// ±2 s together, by their own scatter ±√2 s; two phases on one machine add up too.
func TestErrorsThatTasksShare(t *testing.T) {
	var v Savings
	saving := func(e ...Errors) Saving {
		v.Begin()
		p := tasksAt()
		for i := range e {
			p.Tasks = append(p.Tasks, tasksAt([2]float64{0, 10}).Tasks...)
			v.Add(i, len(e), schema.GC, 3, &e[i])
		}
		return v.Weigh(1, p.Tasks, nil)[1]
	}
	coefficient := Errors{Coefficients: [fit.Predictors]float64{1}}
	for _, c := range []struct {
		e          []Errors
		sd, factor float64
	}{
		{[]Errors{coefficient, coefficient}, 2, 0},
		{[]Errors{{Own: 1}, {Own: 1}}, math.Sqrt2, 0},
		{[]Errors{{Discrepancy: 1}, {Discrepancy: 1}}, 2, 0},
		{[]Errors{{Machine: 1, Factor: 1}, {Machine: 1, Factor: 1}}, 0, 2},
		{[]Errors{{Machine: 1, Factor: 1}, {Machine: 2, Factor: 1}}, 0, math.Sqrt2},
	} {
		if s := saving(c.e...); math.Abs(s.SD-c.sd) > 1e-12 || math.Abs(s.Factor-c.factor) > 1e-12 {
			t.Errorf("%+v: ±%g and ±%g by factors, want ±%g and ±%g", c.e, s.SD, s.Factor, c.sd, c.factor)
		}
	}
	graph := []Span{{id: 1, start: 0, end: 10}, {id: 2, start: 10, end: 20, parents: []int{0}}}
	rows := Costs(7, math.Inf(1), graph, []Saving{{Phase: 1, Cause: schema.GC, Sum: 5, Packed: 5, Fixed: 5, Factor: 0.5},
		{Phase: 2, Cause: schema.GC, Sum: 5, Packed: 5, Fixed: 5, Factor: 0.5}})
	if want := 10 * (1 - 0.196); math.Abs(rows[0].CostLow.V-want) > 1e-9 {
		t.Errorf("the low end is %g, want %g", rows[0].CostLow.V, want)
	}
}
