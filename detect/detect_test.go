package detect

import (
	"math"
	"strings"
	"testing"

	"straggler/schema"
)

// bytes gives all attempts of a phase an input.
func (m *made) bytes(phase schema.Key, n int64) {
	for i := range m.Attempts {
		if a := &m.Attempts[i]; a.PhaseID == phase {
			a.InputBytes = schema.Some(n)
		}
	}
}

func wantFloat(t *testing.T, what string, got schema.Null[float64], want float64) {
	t.Helper()
	if !got.OK || math.Abs(got.V-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Policies §1 on a phase that can be checked by mental arithmetic: four tasks of 100 MB in 10 s, one in 40 s.
func TestTerms(t *testing.T) {
	m := newMade()
	p := m.phase(10, 10, 10, 10, 40)
	m.bytes(p, 100e6)
	d := run(t, &m.Trace)
	s := d.of(t, p)
	if s.Tasks != 5 || s.Attempts != 5 || s.Succeeded != 5 {
		t.Errorf("%d tasks, %d attempts, %d succeeded; want 5 of each", s.Tasks, s.Attempts, s.Succeeded)
	}
	wantFloat(t, "median_s", s.MedianS, 10)
	wantFloat(t, "p75_s", s.P75S, 10)
	wantFloat(t, "p95_s", s.P95S, 34) // 0.8 of the way from the fourth to the fifth
	wantFloat(t, "max_s", s.MaxS, 40)
	wantFloat(t, "median_rate", s.MedianRate, 10e6)
	wantFloat(t, "slowest_rate", s.SlowestRate, 2.5e6)
	wantFloat(t, "slowdown_ratio", s.SlowdownRatio, 4)
	wantFloat(t, "lost_s", s.LostS, 30)
	if s.SlowdownBasis.V != schema.BasisBytes || s.Stragglers != schema.Some[int64](1) || s.Outliers != schema.Some[int64](1) {
		t.Errorf("basis %v, %v stragglers, %v outliers; want bytes, 1, 1", s.SlowdownBasis, s.Stragglers, s.Outliers)
	}
	for _, rule := range []schema.Rule{schema.HighRuntime, schema.StragglerRule, schema.LateSlowTask} {
		o, ok := d.slow(5, rule)
		if !ok {
			t.Errorf("the attempt of 40 s has no row %s", rule)
		}
		wantFloat(t, "ratio", o.Ratio, 4)
		wantFloat(t, "excess_s", o.ExcessS, 30)
	}
	if len(d.outliers) != 3 {
		t.Errorf("%d rows, want the three of the attempt of 40 s", len(d.outliers))
	}
}

// DOLLY §2.1.1 compares rates 'to remain agnostic to skews in work assignment': four times the data in four times the time is
// not a straggler, but is an outlier by its duration.
func TestSkewIsNoStraggler(t *testing.T) {
	m := newMade()
	p := m.phase(10, 10, 10, 10, 40)
	m.bytes(p, 100e6)
	m.Attempts[4].InputBytes = schema.Some[int64](400e6)
	d := run(t, &m.Trace)
	s := d.of(t, p)
	wantFloat(t, "slowdown_ratio", s.SlowdownRatio, 1)
	if s.Stragglers.V != 0 || s.Outliers.V != 1 {
		t.Errorf("%d stragglers and %d outliers, want 0 and 1", s.Stragglers.V, s.Outliers.V)
	}
}

func TestBasis(t *testing.T) {
	const tasks = 40
	for _, c := range []struct {
		name           string
		bytes, records func(i int) schema.Null[int64]
		want           schema.Basis
		ratio          float64
	}{
		{"bytes known", always(8e6), always(1000), schema.BasisBytes, 2},
		{"bytes of 38 in 40", upTo(38, 8e6), always(1000), schema.BasisBytes, 2},
		{"bytes of 37 in 40", upTo(37, 8e6), always(1000), schema.BasisRecords, 2},
		{"nothing read", always(0), always(0), schema.BasisDuration, 2},
		{"nothing said", never, never, schema.BasisDuration, 2},
	} {
		m := newMade()
		p := m.phase()
		for i := range tasks {
			seconds := 10.
			if i == 0 {
				seconds = 20
			}
			a := m.attempt(p, int64(i), seconds)
			a.InputBytes, a.InputRecords = c.bytes(i), c.records(i)
		}
		s := run(t, &m.Trace).of(t, p)
		if s.SlowdownBasis.V != c.want {
			t.Errorf("%s: the basis is %s, want %s", c.name, s.SlowdownBasis.V, c.want)
		}
		wantFloat(t, c.name+": slowdown_ratio", s.SlowdownRatio, c.ratio)
		if s.MedianRate.OK != (c.want != schema.BasisDuration) {
			t.Errorf("%s: median_rate is %v", c.name, s.MedianRate)
		}
	}
}

func always(n int64) func(int) schema.Null[int64] {
	return func(int) schema.Null[int64] { return schema.Some(n) }
}

func never(int) schema.Null[int64] { return schema.Null[int64]{} }

func upTo(k int, n int64) func(int) schema.Null[int64] {
	return func(i int) schema.Null[int64] { return schema.Null[int64]{V: n, OK: i < k} }
}

// Of the attempts of a task only the first one to succeed is judged, whichever ended sooner.
func TestWinner(t *testing.T) {
	m := newMade()
	p := m.phase(10, 10, 10, 10)
	failed := m.attempt(p, 4, 1)
	failed.Status = schema.Failed
	m.attempt(p, 4, 10).FinishTime = schema.Some(origin.Add(11))
	killed := m.attempt(p, 5, 30)
	killed.Status = schema.Killed
	startAt(m.attempt(p, 5, 10), 20)
	lost := m.attempt(p, 6, 0.5)
	lost.Status = schema.Lost
	m.attempt(p, 6, 10)
	late := m.attempt(p, 7, 10) // its copy succeeds as well, sooner
	startAt(late, 5)
	copied := m.attempt(p, 7, 8)
	copied.Speculative = schema.Some(true)
	d := run(t, &m.Trace)
	s := d.of(t, p)
	if s.Tasks != 8 || s.Attempts != 12 || s.Succeeded != 8 {
		t.Errorf("%d tasks, %d attempts, %d succeeded; want 8, 12, 8", s.Tasks, s.Attempts, s.Succeeded)
	}
	wantFloat(t, "median_s", s.MedianS, 10)
	wantFloat(t, "max_s", s.MaxS, 10)
	if s.Outliers.V != 0 {
		t.Errorf("%d outliers among the winners, want none", s.Outliers.V)
	}
	if o, ok := d.slow(7, schema.HighRuntime); !ok || o.Ratio.V != 3 || o.ExcessS.V != 20 {
		t.Errorf("the original that its copy beat is not an outlier of ratio 3 and 20 s: %v", o)
	}
	if len(d.outliers) != 2 { // high_runtime and late_slow_task of the one attempt; a straggler needs a rate and so success
		t.Errorf("%d rows: %v", len(d.outliers), d.outliers)
	}
}

func TestRunning(t *testing.T) {
	for _, complete := range []bool{true, false} {
		m := newMade()
		m.Applications[0].Complete = complete
		p := m.phase(10, 10, 10, 10)
		startAt(m.attempt(p, 4, 10), 30) // the log ends at 40 s
		a := m.attempt(p, 5, 0)
		a.Status, a.FinishTime, a.DurationS = schema.Running, schema.Null[schema.Time]{}, schema.Null[float64]{}
		startAt := 12.
		a.StartTime = schema.Some(origin.Add(startAt))
		d := run(t, &m.Trace)
		o, ok := d.slow(6, schema.HighRuntime)
		if ok == complete {
			t.Errorf("complete %v: the running attempt is an outlier: %v", complete, ok)
		}
		if ok {
			wantFloat(t, "ratio", o.Ratio, (40-startAt)/10)
			wantFloat(t, "excess_s", o.ExcessS, 40-startAt-10)
		}
	}
}

// A recomputed attempt is excess from start to end, also in phases without a verdict.
func TestRecompute(t *testing.T) {
	m := newMade()
	p := m.phase(7)
	m.Attempts[0].Recompute = true
	d := run(t, &m.Trace)
	o, ok := d.slow(1, schema.RecomputeRule)
	if !ok || len(d.outliers) != 1 {
		t.Fatalf("rows %v, want one of recompute", d.outliers)
	}
	wantFloat(t, "excess_s", o.ExcessS, 7)
	wantFloat(t, "ratio", o.Ratio, 1)
	if s := d.of(t, p); s.Note.V != "single task" {
		t.Errorf("note %q", s.Note.V)
	}

	// Lost at 12 s and recomputed until 22 s within the phase: that is when the phase ends.
	m = newMade()
	p = m.phase(10, 10, 10, 12)
	again := m.attempt(p, 0, 10)
	startAt(again, 12)
	again.Recompute = true
	s := run(t, &m.Trace).of(t, p)
	wantFloat(t, "lost_s", s.LostS, 0)
	wantFloat(t, "max_s", s.MaxS, 12)
}

// LATE copies no task while others wait, nor one that ends before a copy would: attempts are judged when the task launched last
// has run for a median of 10 s.
func TestLate(t *testing.T) {
	m := newMade()
	p := m.phase(10, 10, 10, 34, 10, 10)
	for i, d := range []float64{10, 11, 13, 10, 24} {
		startAt(m.attempt(p, int64(6+i), d), 15)
	}
	d := run(t, &m.Trace)
	for task, want := range map[schema.Key]bool{3: false, 7: false, 8: false, 10: true} { // 3 ends at 34 s, a copy launched at 25 s at 35 s
		if _, ok := d.slow(task+1, schema.LateSlowTask); ok != want {
			t.Errorf("task %d is late_slow_task: %v, want %v", task, ok, want)
		}
	}
}

// In a phase of one wave whose tasks are alike nothing is late, however many are over the 75th percentile.
func TestLateNeedsMoreThanAQuarter(t *testing.T) {
	m := newMade()
	m.phase(10, 10.1, 10.2, 10.3, 10.4, 10.5, 10.6, 10.7, 10.8, 10.9, 11, 12)
	if d := run(t, &m.Trace); len(d.outliers) != 0 {
		t.Errorf("%v", d.outliers)
	}
}

func TestLost(t *testing.T) {
	for _, c := range []struct {
		name     string
		start, s []float64
		want     float64
	}{
		{"one long task at the end", []float64{0, 0, 0, 5}, []float64{10, 10, 10, 30}, 20}, // 35 → 15
		{"a long task that others outlast", []float64{0, 0, 0, 20}, []float64{20, 10, 10, 10}, 0},
		{"the second longest decides", []float64{0, 0, 0, 0, 0}, []float64{10, 10, 10, 30, 40}, 30},
		{"one wave is enough", []float64{0, 10, 20, 0}, []float64{10, 10, 10, 90}, 60}, // 90 → 30
	} {
		m := newMade()
		p := m.phase(c.s...)
		for i := range m.Attempts {
			startAt(&m.Attempts[i], c.start[i])
		}
		wantFloat(t, c.name, run(t, &m.Trace).of(t, p).LostS, c.want)
	}
}

func TestModel(t *testing.T) {
	type point struct{ y, x, z float64 }
	for _, c := range []struct {
		name   string
		at     func(i int) point
		n      int
		r2     float64
		no     string
		absent bool // remote bytes of one attempt
	}{
		{"both predictors", func(i int) point { return point{1 + 2*float64(i) + 5*float64(i*i%7), float64(i), float64(i * i % 7)} }, 20, 1, "", false},
		{"collinear", func(i int) point { return point{1 + 2*float64(i), float64(i), float64(2 * i)} }, 20, 1, "", false},
		{"only remote varies", func(i int) point { return point{1 + 3*float64(i), 4, float64(i)} }, 20, 1, "", false},
		{"remote not always known", func(i int) point { return point{1 + 3*float64(i), float64(i), float64(i * i % 7)} }, 20, 1, "", true},
		{"unrelated", func(i int) point { return point{float64(1 + i/2%2), float64(i % 2), 0} }, 20, 0, "", false},
		{"nothing varies in the input", func(i int) point { return point{float64(i), 3, 3} }, 20, 0, "no model: inputs do not vary", false},
		{"equal durations", func(i int) point { return point{5, float64(i), 0} }, 20, 0, "no model: durations do not vary", false},
		{"nine attempts", func(i int) point { return point{float64(i), float64(i), 0} }, 9, 0, "no model: fewer than 10 tasks with a known input", false},
	} {
		m := newMade()
		p := m.phase()
		for i := range c.n {
			at := c.at(i)
			a := m.attempt(p, int64(i), at.y)
			// Inputs as large as epoch times: sums of squares that are not centred lose all digits.
			a.InputBytes = schema.Some(int64(1e12 + 1024*at.x))
			a.RemoteBytes = schema.Null[int64]{V: int64(1e11 + 1000*at.z), OK: !c.absent || i > 0}
		}
		s := run(t, &m.Trace).of(t, p)
		if c.no != "" {
			if s.ModelR2.OK || s.ModelN.OK || !strings.Contains(s.Note.V, c.no) {
				t.Errorf("%s: r2 %v, n %v, note %q; want NULL, NULL, %q", c.name, s.ModelR2, s.ModelN, s.Note.V, c.no)
			}
			continue
		}
		if !s.ModelR2.OK || math.Abs(s.ModelR2.V-c.r2) > 1e-9 || s.ModelN.V != int64(c.n) {
			t.Errorf("%s: r2 %v of %v, want %v of %d", c.name, s.ModelR2, s.ModelN, c.r2, c.n)
		}
	}
}

func TestNoVerdict(t *testing.T) {
	null := schema.Null[float64]{}
	for _, c := range []struct {
		name, note string
		build      func(m *made) schema.Key
		median     schema.Null[float64]
	}{
		{"skipped", "skipped, never submitted", func(m *made) schema.Key {
			p := m.phase()
			m.Phases[0].Status = schema.RunSkipped
			return p
		}, null},
		{"empty", "no attempt in the log", func(m *made) schema.Key { return m.phase() }, null},
		{"failed", "no successful attempt", func(m *made) schema.Key {
			p := m.phase(1, 2, 3)
			for i := range m.Attempts {
				m.Attempts[i].Status = schema.Failed
			}
			return p
		}, null},
		{"one", "single task", func(m *made) schema.Key { return m.phase(5) }, schema.Some(5.)},
		{"two", "fewer than 3 tasks with a duration", func(m *made) schema.Key { return m.phase(5, 50) }, schema.Some(27.5)},
		{"zero", "all durations zero", func(m *made) schema.Key { return m.phase(0, 0, 0, 0) }, schema.Some(0.)},
		{"mostly zero", "median duration zero", func(m *made) schema.Key { return m.phase(0, 0, 0, 9) }, schema.Some(0.)},
		{"no times", "no successful attempt with a duration", func(m *made) schema.Key {
			p := m.phase(1, 1, 1, 1)
			for i, bad := range []float64{math.NaN(), math.Inf(1), -1, 1e300} {
				m.Attempts[i].DurationS = schema.Some(bad)
			}
			return p
		}, null},
	} {
		m := newMade()
		p := c.build(m)
		d := run(t, &m.Trace)
		s := d.of(t, p)
		if s.Note.V != c.note {
			t.Errorf("%s: note %q, want %q", c.name, s.Note.V, c.note)
		}
		if s.MedianS != c.median {
			t.Errorf("%s: median %v, want %v", c.name, s.MedianS, c.median)
		}
		if s.Outliers.OK || s.Stragglers.OK || s.SlowdownRatio.OK || s.SlowdownBasis.OK || s.LostS.OK || len(d.outliers) > 0 {
			t.Errorf("%s: there is a verdict: %+v, %v", c.name, s, d.outliers)
		}
		if d.summary.Judged != 0 || d.summary.Phases != 1 {
			t.Errorf("%s: summary %+v", c.name, d.summary)
		}
	}
}

// One bad duration does not spoil its phase.
func TestBadDurationIsUnknown(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -3, 1e300} {
		m := newMade()
		p := m.phase(10, 10, 10, 40, 10)
		m.bytes(p, 1000)
		m.Attempts[4].DurationS = schema.Some(bad)
		s := run(t, &m.Trace).of(t, p)
		wantFloat(t, "median_s", s.MedianS, 10)
		wantFloat(t, "slowdown_ratio", s.SlowdownRatio, 4)
		if s.Succeeded != 5 || s.Outliers.V != 1 {
			t.Errorf("duration %v: %d succeeded, %d outliers; want 5, 1", bad, s.Succeeded, s.Outliers.V)
		}
	}
}

// Nothing overflows on the largest values that a log can hold.
func TestHuge(t *testing.T) {
	m := newMade()
	p := m.phase()
	for i := range 12 {
		a := m.attempt(p, int64(i), 1e8+float64(i))
		a.InputBytes, a.RemoteBytes = schema.Some[int64](math.MaxInt64-int64(i)), schema.Some[int64](math.MaxInt64)
		if i%2 == 0 {
			a.InputBytes = schema.Some(int64(1e15) - int64(i))
		}
	}
	s := run(t, &m.Trace).of(t, p)
	wantFloat(t, "median_s", s.MedianS, 1e8+5.5)
	if s.SlowdownBasis.V != schema.BasisBytes || !s.SlowdownRatio.OK {
		t.Errorf("basis %v, ratio %v", s.SlowdownBasis, s.SlowdownRatio)
	}
}

func TestGangSaysSo(t *testing.T) {
	m := newMade()
	p := m.phase(10, 10, 10, 40)
	m.Phases[0].Gang = true
	s := run(t, &m.Trace).of(t, p)
	if !strings.Contains(s.Note.V, "gang: tasks wait for each other") || s.Outliers.V != 1 {
		t.Errorf("note %q, %d outliers", s.Note.V, s.Outliers.V)
	}
}

func TestEmptyStore(t *testing.T) {
	d := run(t, &schema.Trace{})
	if len(d.phases) != 0 || len(d.outliers) != 0 || d.summary.Phases != 0 {
		t.Errorf("an empty store gives %v, %v, %+v", d.phases, d.outliers, d.summary)
	}
}
