package detect

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"straggler/engine/enginetest"
	"straggler/schema"
)

// execution adds a run of the program "nightly" with one phase, whose tasks take the given times, a day after the previous one.
func (m *made) execution(seconds ...float64) schema.Key {
	n := schema.Key(len(m.Applications) + 1)
	start := origin.Add(86400 * float64(n))
	m.Applications = append(m.Applications, schema.Application{ApplicationID: n, NativeID: fmt.Sprint("run-", n), Name: schema.Some("nightly"),
		Framework: "test", StartTime: schema.Some(start), Status: schema.RunSucceeded, SourceFile: "made", Complete: true, TimeOrigin: "epoch"})
	m.Jobs = append(m.Jobs, schema.Job{JobID: n, ApplicationID: n, NativeID: "0", Status: schema.RunSucceeded})
	from := len(m.Attempts)
	p := m.phase(seconds...)
	at := &m.Phases[len(m.Phases)-1]
	at.JobID, at.Name, at.StartTime = n, schema.Some("join"), schema.Some(start)
	for i := from; i < len(m.Attempts); i++ {
		a := &m.Attempts[i]
		a.JobID, a.ApplicationID = n, n
		a.StartTime, a.FinishTime = schema.Some(start), schema.Some(start.Add(a.DurationS.V))
	}
	return p
}

// nights adds n executions with tasks of about the given durations.
func (m *made) nights(n int, seconds ...float64) {
	for i := range n {
		s := slices.Clone(seconds)
		for k := range s {
			s[k] *= 1 + 0.02*float64((i+k)%3-1) + 0.001*float64(i%7)
		}
		m.execution(s...)
	}
}

func (d *detected) historyOf(t *testing.T, phase schema.Key) schema.StageHistory {
	t.Helper()
	for _, h := range d.history {
		if h.PhaseID == phase {
			return h
		}
	}
	t.Fatalf("phase %d has no row in stage_history", phase)
	return schema.StageHistory{}
}

func (d *detected) slowerThanUsual(m *made, phase schema.Key) (tasks []int64) {
	for _, o := range d.outliers {
		if o.Rule == schema.SlowerThanUsual && o.PhaseID == phase {
			tasks = append(tasks, m.Attempts[o.AttemptID-1].Task)
		}
	}
	slices.Sort(tasks)
	return tasks
}

// All tasks of one night take three times as long: none is an outlier of its phase, and all are against history.
func TestSlowAsAWhole(t *testing.T) {
	m := newMade()
	m.nights(6, 10.01, 10.02, 10.03, 10.04)
	p := m.execution(30.1, 30.2, 30.3, 30.4)
	d := run(t, &m.Trace)
	h := d.historyOf(t, p)
	if !h.Slow.V || h.Executions != 6 || h.Compared != 6 || h.Note.OK || math.Abs(h.Ratio.V-3) > 0.1 || math.Abs(h.UsualS.V-10) > 0.2 {
		t.Errorf("history %+v", h)
	}
	wantFloat(t, "excess_s", h.ExcessS, 4*(30.25-h.UsualS.V))
	if got := d.slowerThanUsual(m, p); !slices.Equal(got, []int64{0, 1, 2, 3}) {
		t.Errorf("tasks %v are slower than usual, want all four", got)
	}
	last := m.Attempts[len(m.Attempts)-1]
	o, _ := d.slow(last.AttemptID, schema.SlowerThanUsual)
	if usual := last.DurationS.V - o.ExcessS.V; math.Abs(usual-10) > 0.4 || math.Abs(o.Ratio.V-last.DurationS.V/usual) > 1e-9 {
		t.Errorf("ratio %v and excess %v of %v s", o.Ratio.V, o.ExcessS.V, last.DurationS.V)
	}
	if _, ok := d.slow(last.AttemptID, schema.HighRuntime); ok || d.of(t, p).Outliers.V != 0 {
		t.Error("a task as slow as the others is an outlier of its phase")
	}
	for i := range p - 1 {
		if h := d.historyOf(t, i+1); h.Slow.V || len(d.slowerThanUsual(m, i+1)) > 0 {
			t.Errorf("night %d is called slow: %+v", i+1, h)
		}
	}
	if d.summary.Repeated != 4 || d.summary.Slow != 1 {
		t.Errorf("the summary counts %d phases with a history and %d slow, want 4 and 1", d.summary.Repeated, d.summary.Slow)
	}
}

// Fewer than three earlier executions are not a history, and the row says so.
func TestNoHistory(t *testing.T) {
	m := newMade()
	first := m.execution(10, 10, 10)
	m.nights(1, 10, 10, 10)
	third := m.execution(50, 50, 50)
	alone := m.execution(10, 10, 10)
	m.Phases[alone-1].Name = schema.Some("another stage")
	anonymous := m.execution(10, 10, 10)
	m.Applications[len(m.Applications)-1].Name = schema.Null[string]{}
	again := m.execution(10, 10, 10)
	m.Phases[again-1].Attempt = 1
	d := run(t, &m.Trace)
	for p, want := range map[schema.Key]string{
		first: "no earlier execution in the store", third: "fewer than 3 earlier executions in the store", alone: "no earlier execution in the store",
		anonymous: "its program has no name", again: "submitted again",
	} {
		if h := d.historyOf(t, p); h.Note.V != want || h.Slow.OK || h.UsualS.OK || h.Compared != 0 || len(d.slowerThanUsual(m, p)) > 0 {
			t.Errorf("phase %d: note %q, want %q; %+v", p, h.Note.V, want, h)
		}
	}
}

// Nights that differ from the usual for harmless reasons, and a history with disturbances.
func TestUsual(t *testing.T) {
	t.Run("more work", func(t *testing.T) {
		m := newMade()
		for range 6 {
			m.bytes(m.execution(10.1, 10.2, 10.3), 100e6)
		}
		p := m.execution(20.1, 20.2, 20.3)
		m.bytes(p, 200e6)
		d := run(t, &m.Trace)
		if h := d.historyOf(t, p); h.Slow.V || math.Abs(h.WorkRatio.V-2) > 1e-9 || math.Abs(h.Ratio.V-2) > 0.1 || len(d.slowerThanUsual(m, p)) > 0 {
			t.Errorf("twice the work in twice the time is slow: %+v", h)
		}
	})
	t.Run("a partition that is always long", func(t *testing.T) {
		m := newMade()
		m.nights(6, 10, 10, 10, 10, 10, 40)
		p := m.execution(10, 10, 10, 10, 40, 41)
		d := run(t, &m.Trace)
		if got := d.slowerThanUsual(m, p); !slices.Equal(got, []int64{4}) {
			t.Errorf("tasks %v are slower than usual, want 4, which is not long on other nights as 5 is", got)
		}
	})
	t.Run("bad executions in the history", func(t *testing.T) {
		m := newMade()
		m.nights(6, 10, 10, 10)
		m.nights(5, 60, 65, 70)
		p := m.execution(30, 30, 30)
		if d := run(t, &m.Trace); !slices.Equal(d.slowerThanUsual(m, p), []int64{0, 1, 2}) {
			t.Errorf("after five bad nights of eleven, %v are slower than usual, want all; %+v", d.slowerThanUsual(m, p), d.historyOf(t, p))
		}
	})
	t.Run("one bad execution in a short history", func(t *testing.T) {
		for _, n := range []int{3, 4, 9} {
			for _, bad := range []float64{40, 4000} {
				m := newMade()
				m.nights(n-1, 10, 10, 10)
				m.execution(bad, bad, bad)
				p := m.execution(30, 30, 30)
				if h := run(t, &m.Trace).historyOf(t, p); !h.Slow.V || h.LimitS.V > 2*10.5 {
					t.Errorf("after %d executions of some 10 s and one of %v s, three times as long is not slow: %+v", n-1, bad, h)
				}
			}
		}
	})
	t.Run("a clock of whole seconds", func(t *testing.T) {
		m := newMade()
		for range 6 {
			m.execution(1, 1, 1)
		}
		p := m.execution(3, 3, 3)
		if h := run(t, &m.Trace).historyOf(t, p); h.Slow.V || h.LimitS.V != 3 {
			t.Errorf("two ticks of the clock are slow: %+v", h)
		}
	})
}

// History looks back: the result for an execution depends neither on later ones nor on the order of keys. Beyond 64 earlier
// executions it is compared with some of them, spread evenly over all.
func TestHistoryLooksBack(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 5))
	m := newMade()
	for range 150 {
		s := make([]float64, 3+r.IntN(3))
		f := math.Exp(0.3 * r.NormFloat64())
		for k := range s {
			s[k] = math.Round(1e6*10*f*math.Exp(0.2*r.NormFloat64())) / 1e6
		}
		m.execution(s...)
	}
	all := run(t, &m.Trace)
	seen := 0
	for _, n := range []int{3, 40, 66, 130} {
		part := m.Trace
		part.Applications, part.Jobs, part.Phases = m.Applications[:n+1], m.Jobs[:n+1], m.Phases[:n] // one application is newMade's
		part.Attempts = slices.DeleteFunc(slices.Clone(m.Attempts), func(a schema.Attempt) bool { return a.PhaseID > schema.Key(n) })
		early := run(t, &part)
		for i := range n {
			p := schema.Key(i + 1)
			want := early.historyOf(t, p)
			got := all.historyOf(t, p)
			if i == 0 { // a single execution has no ordinal, so nothing is numbered
				got.Ordinal = want.Ordinal
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("execution %d of %d (- then, + with later ones):\n%s", i+1, n, diff)
			}
			if !slices.Equal(early.slowerThanUsual(m, p), all.slowerThanUsual(m, p)) {
				t.Fatalf("execution %d of %d has other slow tasks with later ones in the store", i+1, n)
			}
			seen += len(all.slowerThanUsual(m, p))
		}
	}
	if seen == 0 {
		t.Error("no task is slower than usual: the law was not tried")
	}
	if h := all.historyOf(t, 150); h.Executions != 149 || h.Compared != 38 {
		t.Errorf("the last of 150 is compared with %d of %d, want every fourth of them from the first on", h.Compared, h.Executions)
	}
	if h := all.historyOf(t, 65); h.Compared != 64 {
		t.Errorf("the 65th is compared with %d, want all 64", h.Compared)
	}
}

// Compared with a reference in Go: the usual duration and the spread between executions, by sorting.
func TestHistoryAgainstReference(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 5))
	m := newMade()
	for range 30 {
		m.execution(5+r.Float64(), 6+r.Float64(), 7+r.Float64(), 7+r.Float64())
	}
	d := run(t, &m.Trace)
	var medians []float64
	for p := range schema.Key(30) {
		h, s := d.historyOf(t, p+1), d.of(t, p+1)
		if p >= 3 {
			usual := quantile(medians, 0.5).V
			var deviations []float64
			for _, x := range medians {
				deviations = append(deviations, math.Abs(math.Log(x/usual)))
			}
			n := float64(len(medians))
			between := max(1.4826*quantile(deviations, 0.5).V, math.Log(slices.Max(medians)/slices.Min(medians))/(4*math.Sqrt(n)), 0.01)
			wantFloat(t, "usual_s", h.UsualS, usual)
			wantFloat(t, "between_runs", h.BetweenRuns, between)
			wantFloat(t, "ratio", h.Ratio, s.MedianS.V/usual)
		}
		medians = append(medians, s.MedianS.V)
	}
}

// Computing the history of a stage in spans of phases gives the same results.
func TestHistoryInChunks(t *testing.T) {
	m := newMade()
	m.nights(20, 10, 11, 12)
	m.execution(40, 40, 40)
	want := run(t, &m.Trace)
	st := enginetest.Store(t)
	enginetest.IngestTrace(t, st, &m.Trace)
	got := runStore(t, st, Options{ChunkAttempts: 10})
	if diff := gocmp.Diff(want.history, got.history); diff != "" {
		t.Error(diff)
	}
	differ(t, "in chunks", want, got)
}

// A program that has the date or the number of the run in its name is one program. Programs that differ in another number are
// two.
func TestDatedNames(t *testing.T) {
	for _, c := range []struct {
		program string // with the number of the night
		want    string
		slow    bool
	}{
		{"it's \\ nightly_2026-11-%02d", "it's \\ nightly_*", true},
		{"run-%d", "run-*", true},
		{"q%d", "q7", false},
	} {
		m := newMade()
		m.nights(6, 10, 10, 10)
		p := m.execution(30, 30, 30)
		for i := range m.Applications[1:] {
			m.Applications[i+1].Name = schema.Some(fmt.Sprintf(c.program, i+1))
		}
		if h := run(t, &m.Trace).historyOf(t, p); h.Program.V != c.want || h.Slow.V != c.slow || h.Slow.OK != c.slow {
			t.Errorf("%s: the seventh night is of the program %q, slow %v; want %q, %v", c.program, h.Program.V, h.Slow, c.want, c.slow)
		}
	}
}

// plan records that the phases of the last application ran the operators of a query, each the root of a plan with this
// fingerprint.
func (m *made) plan(phase schema.Key, fingerprint string) {
	n := schema.Key(len(m.Queries) + 1)
	app := schema.Key(len(m.Applications))
	m.Queries = append(m.Queries, schema.Query{QueryID: n, ApplicationID: app, NativeID: fmt.Sprint(n),
		StartTime: schema.Some(origin), Status: schema.RunSucceeded})
	node := func(key schema.Key, kind schema.NodeKind, position int32, role schema.NodeRole, fingerprint string) {
		m.PlanNodes = append(m.PlanNodes, schema.PlanNode{NodeID: key, QueryID: n, Plan: schema.FinalPlan, Position: position,
			Kind: kind, Operator: "Op", Fingerprint: fingerprint})
		m.NodePhases = append(m.NodePhases, schema.NodePhase{QueryID: n, NodeID: key, PhaseID: phase, Role: role, Basis: schema.ByAccumulators})
	}
	node(10*n+1, schema.OtherNode, 0, schema.NodeRuns, "write of "+fingerprint)
	node(10*n+2, schema.JoinNode, 1, schema.NodeRuns, fingerprint)
	node(10*n+3, schema.ExchangeNode, 2, schema.NodeReads, "read by "+fmt.Sprint(n))
}

// The part of its query's plan that a stage ran identifies it: neither a new stage before it nor another line of the program
// breaks its history, and a plan that changed has none.
func TestStagesByPlan(t *testing.T) {
	m := newMade()
	var joins []schema.Key
	for range 4 {
		p := m.execution(10.1, 10.2, 10.3)
		m.plan(p, "join of sales")
		joins = append(joins, p)
	}
	first := m.execution(3, 3, 3) // a stage of the same name, new on the fifth night
	slow := m.phase(30.1, 30.2, 30.3)
	m.Phases[slow-1].JobID = m.Phases[first-1].JobID
	m.Phases[slow-1].Name = schema.Some("join at line 2")
	m.plan(first, "count of stores")
	m.plan(slow, "join of sales")
	changed := m.execution(30.1, 30.2, 30.3)
	m.plan(changed, "another join of sales")
	unplanned := m.execution(30.1, 30.2, 30.3)
	d := run(t, &m.Trace)
	if h := d.historyOf(t, slow); h.Executions != 4 || !h.Slow.V || h.Ordinal.V != 1 || h.Stage != "join at line 2" || h.Identity != "operator join of sales" {
		t.Errorf("the same operators under another name, after a stage that is new: %+v", h)
	}
	for p, want := range map[schema.Key]string{first: "operator count of stores", changed: "operator another join of sales", unplanned: "join"} {
		if h := d.historyOf(t, p); h.Executions != 0 || h.Slow.OK || h.Identity != want {
			t.Errorf("%s: %+v", want, h)
		}
	}
	if h := d.historyOf(t, joins[3]); h.Executions != 3 || h.Slow.V {
		t.Errorf("the fourth night %+v", h)
	}
}
