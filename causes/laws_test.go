package causes

import (
	"fmt"
	"math"
	"slices"
	"straggler/causes/machines"
	"straggler/causes/model"
	"testing"

	"straggler/schema"
	"straggler/schema/synth"
)

// mixedTrace returns a generated trace with all faults.
func mixedTrace(t *testing.T, scenario string, seed uint64) *schema.Trace {
	t.Helper()
	s, ok := synth.ByName(scenario)
	if !ok {
		t.Fatal("no scenario", scenario)
	}
	trace, _, err := synth.Generate(s.Make(seed))
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// byAttempt indexes rows by attempt and cause.
func byAttempt(rows []schema.Attribution) map[string]schema.Attribution {
	out := map[string]schema.Attribution{}
	for _, r := range rows {
		out[fmt.Sprint(r.AttemptID, r.Cause)] = r
	}
	return out
}

// same compares two attributions of the same attempts; the seconds of the second must be k times those of the first.
func same(t *testing.T, a, b []schema.Attribution, k float64) {
	t.Helper()
	x, y := byAttempt(a), byAttempt(b)
	if len(x) != len(y) || len(x) == 0 {
		t.Fatalf("%d rows became %d", len(x), len(y))
	}
	for key, r := range x {
		q, ok := y[key]
		if !ok || q.Rank != r.Rank || math.Abs(q.Seconds-k*r.Seconds) > 1e-6*k*max(1, math.Abs(r.Seconds)) ||
			math.Abs(q.Confidence.V-r.Confidence.V) > 1e-6 {
			t.Fatalf("%+v became %+v", r, q)
		}
	}
}

// Scaling all times by k scales seconds by k and leaves causes, ranks and confidence unchanged, for a trace whose delays are
// all longer than the effect of one late message.
func TestLawScaling(t *testing.T) {
	for _, k := range []float64{7, 1000} {
		trace := mixedTrace(t, "mixed", 3)
		scale(trace, 1000)
		before := Attribute(trace, outliersOf(trace), 0)
		scale(trace, k)
		same(t, before, Attribute(trace, outliersOf(trace), 0), k)
	}
}

// scale multiplies all times of a trace by k.
func scale(trace *schema.Trace, k float64) {
	origin := trace.Attempts[0].StartTime.V
	for i := range trace.Attempts {
		a := &trace.Attempts[i]
		for _, s := range []*schema.Null[float64]{&a.DurationS, &a.CPUS, &a.GCS, &a.FetchWaitS, &a.SchedulerDelayS, &a.DeserializeS, &a.ResultS} {
			s.V *= k
		}
		for _, at := range []*schema.Null[schema.Time]{&a.QueuedTime, &a.StartTime, &a.FinishTime} {
			at.V = schema.Time(math.Round(float64(at.V-origin) * k))
		}
	}
}

// Other names for machines, other numbers for tasks and another order of rows change nothing.
func TestLawPermutation(t *testing.T) {
	trace := mixedTrace(t, "speculation", 4)
	before := Attribute(trace, outliersOf(trace), 3600)
	names := machineNames(trace)
	renamed := map[string]string{}
	for i, n := range names {
		renamed[n] = fmt.Sprintf("z%03d", (i*7+3)%len(names)+len(names)*(i/len(names)))
	}
	for i := range trace.Attempts {
		a := &trace.Attempts[i]
		if a.Machine.OK {
			a.Machine.V = renamed[a.Machine.V]
		}
		a.Task = a.Task*31 + 5
	}
	slices.Reverse(trace.Attempts)
	same(t, before, Attribute(trace, outliersOf(trace), 3600), 1)
}

// A uniform trace has nothing to attribute, and its machines are all healthy.
func TestLawUniform(t *testing.T) {
	for seed := range uint64(10) {
		trace := mixedTrace(t, "identical", seed+1)
		if o := outliersOf(trace); len(o) > 0 {
			t.Fatalf("%d outliers among identical tasks", len(o))
		}
		trace = mixedTrace(t, "uniform", seed+1)
		phases, names := phasesOf(trace, nil)
		l := model.NewLearner(3600, names, nil)
		for i := range phases {
			l.Observe(&phases[i])
		}
		m := l.Model()
		j := machines.Health{Factors: &m.Machines, FalseDiscoveryRate: 0.05, OutlierProbability: m.Outliers.Probability}
		for _, r := range j.Rows() {
			if r.Verdict != schema.Healthy && r.Verdict != schema.UnknownVerdict {
				t.Errorf("seed %d: %s is called %s: %v (%v to %v)", seed, r.Machine, r.Verdict, r.Factor.V, r.FactorLow.V, r.FactorHigh.V)
			}
		}
	}
}

// The same trace gives the same rows to the last bit.
func TestLawDeterminism(t *testing.T) {
	trace := mixedTrace(t, "busy", 5)
	a, b := Attribute(trace, outliersOf(trace), 3600), Attribute(trace, outliersOf(trace), 3600)
	if !slices.Equal(a, b) {
		t.Error("two runs differ")
	}
}
