package synth

import (
	"cmp"
	"reflect"
	"slices"
	"testing"

	"straggler/schema"
	"straggler/schema/laws"
)

func mixedTrace(t *testing.T) *schema.Trace {
	t.Helper()
	s, _ := ByName("speculation")
	trace, _, err := Generate(s.Make(9))
	if err != nil {
		t.Fatal(err)
	}
	if len(trace.Losses) == 0 {
		t.Fatal("the trace has no losses; take another seed")
	}
	return trace
}

// TestTransformationsKeepTheLaws: every transformed trace is a sound trace, of as many rows, and another one; the one
// that was given is as it was.
func TestTransformationsKeepTheLaws(t *testing.T) {
	trace, before := mixedTrace(t), mixedTrace(t)
	for name, transform := range map[string]func(*schema.Trace) *schema.Trace{
		"scale":            func(t *schema.Trace) *schema.Trace { return Scale(t, 7) },
		"permute machines": func(t *schema.Trace) *schema.Trace { out, _ := PermuteMachines(t, 1); return out },
		"permute tasks":    func(t *schema.Trace) *schema.Trace { return PermuteTasks(t, 1) },
		"rekey":            func(t *schema.Trace) *schema.Trace { out, _ := Rekey(t, 1); return out },
		"shuffle":          func(t *schema.Trace) *schema.Trace { return Shuffle(t, 1) },
	} {
		out := transform(trace)
		for i, v := range laws.Trace(out) {
			if i < 3 {
				t.Errorf("%s: %v", name, v)
			}
		}
		if len(out.Attempts) != len(trace.Attempts) || len(out.Losses) != len(trace.Losses) || reflect.DeepEqual(out.Attempts, trace.Attempts) {
			t.Errorf("%s: %d attempts of %d, or the same", name, len(out.Attempts), len(trace.Attempts))
		}
		if !reflect.DeepEqual(trace, before) {
			t.Fatalf("%s: changed the trace that it was given", name)
		}
	}
}

func TestScale(t *testing.T) {
	trace := mixedTrace(t)
	out := Scale(trace, 3)
	for i := range trace.Attempts {
		a, b := &trace.Attempts[i], &out.Attempts[i]
		if b.DurationS.V != 3*a.DurationS.V || b.FinishTime.V-b.StartTime.V != 3*(a.FinishTime.V-a.StartTime.V) || b.InputBytes != a.InputBytes || b.GCS.V != 3*a.GCS.V {
			t.Fatalf("attempt %s: %+v of %+v", a.NativeID, b, a)
		}
	}
	if out.Applications[0].StartTime != trace.Applications[0].StartTime {
		t.Error("the origin moved")
	}
	if !reflect.DeepEqual(Scale(trace, 1), trace) {
		t.Error("scaling by 1 changes the trace")
	}
}

func TestPermuteMachines(t *testing.T) {
	trace := mixedTrace(t)
	out, renamed := PermuteMachines(trace, 5)
	moved, taken := 0, map[string]bool{}
	for from, to := range renamed {
		if from != to {
			moved++
		}
		taken[to] = true
	}
	if moved == 0 || len(taken) != len(renamed) {
		t.Errorf("%d of %d machines moved to %d names", moved, len(renamed), len(taken))
	}
	for i := range trace.Attempts {
		if got := out.Attempts[i].Machine.V; got != renamed[trace.Attempts[i].Machine.V] {
			t.Fatalf("attempt %d on %s", i, got)
		}
	}
}

// TestPermuteTasks: in each phase the same work, under other indexes; all attempts of a task move together.
func TestPermuteTasks(t *testing.T) {
	trace := mixedTrace(t)
	out := PermuteTasks(trace, 5)
	type task struct {
		phase schema.Key
		task  int64
	}
	to, from := map[task]int64{}, map[task]int64{}
	for i := range trace.Attempts {
		a, b := &trace.Attempts[i], &out.Attempts[i]
		if seen, ok := to[task{a.PhaseID, a.Task}]; ok && seen != b.Task {
			t.Fatalf("task %d of phase %d went to %d and %d", a.Task, a.PhaseID, seen, b.Task)
		}
		to[task{a.PhaseID, a.Task}] = b.Task
		if seen, ok := from[task{b.PhaseID, b.Task}]; ok && seen != a.Task {
			t.Fatalf("tasks %d and %d of phase %d became %d", a.Task, seen, a.PhaseID, b.Task)
		}
		from[task{b.PhaseID, b.Task}] = a.Task
	}
}

func TestRekey(t *testing.T) {
	trace := mixedTrace(t)
	out, keys := Rekey(trace, 5)
	for i := range trace.Attempts {
		a, b := &trace.Attempts[i], &out.Attempts[i]
		if b.AttemptID != keys["attempts"][a.AttemptID] || b.PhaseID != keys["phases"][a.PhaseID] || b.AttemptID == a.AttemptID || b.NativeID != a.NativeID {
			t.Fatalf("attempt %d: %+v", i, b)
		}
	}
}

func TestShuffle(t *testing.T) {
	trace := mixedTrace(t)
	out := Shuffle(trace, 5)
	byKey := func(a, b schema.Attempt) int { return cmp.Compare(a.AttemptID, b.AttemptID) }
	slices.SortFunc(out.Attempts, byKey)
	slices.SortFunc(trace.Attempts, byKey)
	if !reflect.DeepEqual(out.Attempts, trace.Attempts) {
		t.Error("shuffling changes rows")
	}
}
