package detect

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"straggler/schema"
)

// The same figures by other methods: sorting and least squares in Go, task by task, as policies and papers word them.

// refer returns the expected figures of a phase, without the notes.
func refer(tr *schema.Trace, p *schema.Phase) (schema.PhaseStats, []schema.Attempt) {
	s := schema.PhaseStats{PhaseID: p.PhaseID}
	tasks := make(map[int64][]schema.Attempt)
	for _, a := range tr.Attempts {
		if a.PhaseID == p.PhaseID {
			tasks[a.Task] = append(tasks[a.Task], a)
			s.Attempts++
		}
	}
	s.Tasks = int64(len(tasks))
	var winners, ends []schema.Attempt
	for _, as := range tasks {
		won := -1
		for i, a := range as {
			if a.Status != schema.Success {
				continue
			}
			if won < 0 || sooner(a, as[won]) {
				won = i
			}
		}
		if won < 0 {
			continue
		}
		s.Succeeded++
		for i, a := range as {
			timed := a.Status == schema.Success && a.DurationS.OK && a.DurationS.V >= 0 && a.DurationS.V <= 1e15
			if i == won && timed {
				winners = append(winners, a)
			}
			if timed && (i == won || a.Recompute) {
				ends = append(ends, a)
			}
		}
	}
	slices.SortFunc(winners, func(a, b schema.Attempt) int { return cmp.Compare(a.AttemptID, b.AttemptID) })
	var durations []float64
	for _, a := range winners {
		durations = append(durations, a.DurationS.V)
	}
	s.MedianS, s.P75S, s.P95S, s.MaxS = quantile(durations, 0.5), quantile(durations, 0.75), quantile(durations, 0.95), quantile(durations, 1)
	if len(winners) >= 3 && s.MedianS.V > 0 {
		referVerdict(&s, winners, ends)
	}
	s.ModelR2, s.ModelN = referModel(winners)
	return s, winners
}

func sooner(a, b schema.Attempt) bool {
	if a.FinishTime.OK != b.FinishTime.OK {
		return a.FinishTime.OK
	}
	return cmp.Or(cmp.Compare(a.FinishTime.V, b.FinishTime.V), cmp.Compare(a.Number, b.Number)) < 0
}

func referVerdict(s *schema.PhaseStats, winners, ends []schema.Attempt) {
	basis := schema.BasisDuration
	for _, b := range []schema.Basis{schema.BasisRecords, schema.BasisBytes} {
		n := 0
		for _, a := range winners {
			if rate(a, b).OK {
				n++
			}
		}
		if 100*n >= 95*len(winners) {
			basis = b
		}
	}
	var rates []float64
	outliers, stragglers := int64(0), int64(0)
	for _, a := range winners {
		if r := rate(a, basis); r.OK {
			rates = append(rates, r.V)
		}
	}
	s.SlowdownBasis = schema.Some(basis)
	s.MedianRate, s.SlowestRate = quantile(rates, 0.5), quantile(rates, 0)
	for _, a := range winners {
		if a.DurationS.V > 1.5*s.MedianS.V {
			outliers++
		}
		if r := rate(a, basis); r.OK && r.V < s.MedianRate.V/2 || basis == schema.BasisDuration && a.DurationS.V > 2*s.MedianS.V {
			stragglers++
		}
	}
	s.Outliers, s.Stragglers = schema.Some(outliers), schema.Some(stragglers)
	s.SlowdownRatio = schema.Some(s.MaxS.V / s.MedianS.V)
	if basis != schema.BasisDuration {
		s.SlowdownRatio = schema.Some(s.MedianRate.V / s.SlowestRate.V)
	}
	var last, cut schema.Time
	for _, a := range ends {
		last = max(last, a.FinishTime.V)
		end := a.FinishTime.V
		if a.DurationS.V > s.MedianS.V {
			end = a.StartTime.V.Add(s.MedianS.V)
		}
		cut = max(cut, end)
	}
	s.LostS = schema.Some(max(last.Sub(cut), 0))
}

// rate returns the rate of DOLLY: work over duration.
func rate(a schema.Attempt, b schema.Basis) schema.Null[float64] {
	work := schema.Null[int64]{}
	switch b {
	case schema.BasisBytes:
		work = a.InputBytes
	case schema.BasisRecords:
		work = a.InputRecords
	}
	if !work.OK || work.V <= 0 || a.DurationS.V <= 0 {
		return schema.Null[float64]{}
	}
	return schema.Some(float64(work.V) / a.DurationS.V)
}

// quantile interpolates between the order statistics around p·(n−1).
func quantile(x []float64, p float64) schema.Null[float64] {
	if len(x) == 0 {
		return schema.Null[float64]{}
	}
	x = slices.Sorted(slices.Values(x))
	at := p * float64(len(x)-1)
	i := int(at)
	if i+1 >= len(x) {
		return schema.Some(x[len(x)-1])
	}
	return schema.Some(x[i] + (at-float64(i))*(x[i+1]-x[i]))
}

// referModel returns 1 − SSR/SST of a least-squares fit by singular values, which need no rule for collinear predictors.
func referModel(winners []schema.Attempt) (r2 schema.Null[float64], n schema.Null[int64]) {
	var rows []schema.Attempt
	remote := true
	for _, a := range winners {
		if a.InputBytes.OK {
			rows = append(rows, a)
			remote = remote && a.RemoteBytes.OK
		}
	}
	if len(rows) < 10 {
		return
	}
	y := column(rows, func(a schema.Attempt) float64 { return a.DurationS.V })
	x := column(rows, func(a schema.Attempt) float64 { return float64(a.InputBytes.V) })
	z := make([]float64, len(rows))
	if remote {
		z = column(rows, func(a schema.Attempt) float64 { return float64(a.RemoteBytes.V) })
	}
	if mat.Norm(mat.NewVecDense(len(y), y), 2) == 0 || norm(x) == 0 && norm(z) == 0 {
		return
	}
	design := mat.NewDense(len(rows), 2, nil)
	design.SetCol(0, unit(x))
	design.SetCol(1, unit(z))
	var svd mat.SVD
	svd.Factorize(design, mat.SVDThin)
	var fit, beta mat.Dense
	svd.SolveTo(&beta, mat.NewDense(len(y), 1, y), svd.Rank(1e-5))
	fit.Mul(design, &beta)
	explained := norm(fit.RawMatrix().Data)
	return schema.Some(explained * explained / (norm(y) * norm(y))), schema.Some(int64(len(rows)))
}

// column subtracts the mean.
func column(rows []schema.Attempt, of func(schema.Attempt) float64) []float64 {
	out := make([]float64, len(rows))
	mean := 0.
	for i, a := range rows {
		out[i] = of(a)
		mean += out[i] / float64(len(rows))
	}
	for i := range out {
		out[i] -= mean
	}
	return out
}

func norm(x []float64) float64 {
	s := 0.
	for _, v := range x {
		s += v * v
	}
	if s < 1e-12 { // rounding errors left by subtracting the mean of equal numbers
		return 0
	}
	return math.Sqrt(s)
}

func unit(x []float64) []float64 {
	out := make([]float64, len(x))
	if n := norm(x); n > 0 {
		for i := range x {
			out[i] = x[i] / n
		}
	}
	return out
}

// referOutliers applies the rules to one phase.
func referOutliers(tr *schema.Trace, s schema.PhaseStats) []schema.Outlier {
	var waited schema.Time
	last, complete := make(map[schema.Key]schema.Time), make(map[schema.Key]bool)
	for _, app := range tr.Applications {
		complete[app.ApplicationID] = app.Complete
	}
	for _, a := range tr.Attempts {
		last[a.ApplicationID] = max(last[a.ApplicationID], a.StartTime.V, a.FinishTime.V)
		if a.PhaseID == s.PhaseID && a.Number == 0 {
			waited = max(waited, a.StartTime.V)
		}
	}
	var out []schema.Outlier
	for _, a := range tr.Attempts {
		if a.PhaseID != s.PhaseID {
			continue
		}
		d := a.DurationS
		if a.Status == schema.Running && !complete[a.ApplicationID] {
			d = schema.Some(last[a.ApplicationID].Sub(a.StartTime.V))
		}
		if !(d.OK && d.V >= 0 && d.V <= 1e15) {
			d = schema.Null[float64]{}
		}
		add := func(rule schema.Rule, over, excess float64) {
			out = append(out, schema.Outlier{AttemptID: a.AttemptID, PhaseID: a.PhaseID, Rule: rule,
				Ratio: known(over, d.OK && s.MedianS.V > 0), ExcessS: known(excess, d.OK)})
		}
		if a.Recompute {
			add(schema.RecomputeRule, d.V/s.MedianS.V, d.V)
		}
		if !s.Outliers.OK || !d.OK || a.Status == schema.Failed || a.Status == schema.Lost {
			continue
		}
		excess := d.V - s.MedianS.V
		if d.V > 1.5*s.MedianS.V {
			add(schema.HighRuntime, d.V/s.MedianS.V, excess)
		}
		if d.V > s.P75S.V && a.StartTime.OK && a.StartTime.V.Sub(waited)+d.V > 2*s.MedianS.V {
			add(schema.LateSlowTask, d.V/s.P75S.V, excess)
		}
		if a.Status != schema.Success {
			continue
		}
		if r := rate(a, s.SlowdownBasis.V); r.OK && r.V < s.MedianRate.V/2 {
			add(schema.StragglerRule, s.MedianRate.V/r.V, excess)
		} else if s.SlowdownBasis.V == schema.BasisDuration && d.V > 2*s.MedianS.V {
			add(schema.StragglerRule, d.V/s.MedianS.V, excess)
		}
	}
	return out
}

func known(v float64, ok bool) schema.Null[float64] {
	if !ok {
		return schema.Null[float64]{}
	}
	return schema.Some(v)
}

// random makes phases of every shape that the definitions distinguish.
func random(r *rand.Rand, phases int) *schema.Trace {
	m := newMade()
	for range phases {
		p := m.phase()
		size := []int{0, 1, 2, 3, 4, 9, 10, 11, 25, 60}[r.IntN(10)]
		unit := []float64{1, 0.001, 3600}[r.IntN(3)]
		bytes, records := r.IntN(3), r.IntN(3)
		levels := 1 + r.IntN(12) // few levels make ties
		for task := range size {
			for again := 0; again == 0 || r.IntN(12) == 0; again++ {
				a := m.attempt(p, int64(task), math.Round(float64(r.IntN(levels)*r.IntN(4))*unit*1e6)/1e6)
				startAt(a, float64(r.IntN(50))*unit)
				a.Status = schema.AttemptStatus(a.Status.Values()[max(0, r.IntN(12)-7)])
				if a.Status == schema.Running {
					a.FinishTime, a.DurationS = schema.Null[schema.Time]{}, schema.Null[float64]{}
				}
				a.Recompute = r.IntN(30) == 0
				input := int64(1+r.IntN(levels)) * 1 << 20
				a.InputBytes = schema.Null[int64]{V: input, OK: bytes == 0 || bytes == 1 && r.IntN(20) > 0}
				a.InputRecords = schema.Null[int64]{V: input / 100, OK: records == 0 || records == 1 && r.IntN(20) > 0}
				a.RemoteBytes = schema.Null[int64]{V: int64(r.IntN(levels)) << 18, OK: a.InputBytes.OK && r.IntN(300) > 0}
			}
		}
	}
	m.Applications[0].Complete = r.IntN(2) == 0
	return &m.Trace
}

var closely = gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-7*max(1, math.Abs(a), math.Abs(b)) })

func TestAgainstReference(t *testing.T) {
	seen := make(map[string]int)
	for seed := range uint64(6) {
		tr := random(rand.New(rand.NewPCG(seed, 5)), 120)
		compare(t, tr, run(t, tr), seen)
	}
	for _, what := range []string{"bytes", "records", "duration", "none", "high_runtime", "straggler", "late_slow_task", "recompute", "model"} {
		if seen[what] == 0 {
			t.Errorf("no random phase had %s: the traces are too tame", what)
		}
	}
}

// compare compares the results of Run with the reference.
func compare(t *testing.T, tr *schema.Trace, d *detected, seen map[string]int) {
	t.Helper()
	if len(d.phases) != len(tr.Phases) {
		t.Fatalf("%d rows for %d phases", len(d.phases), len(tr.Phases))
	}
	var want []schema.Outlier
	for i := range tr.Phases {
		s, _ := refer(tr, &tr.Phases[i])
		got := d.of(t, s.PhaseID)
		got.Note = s.Note
		if diff := gocmp.Diff(s, got, closely); diff != "" {
			t.Errorf("phase %d (- reference, + SQL):\n%s", s.PhaseID, diff)
		}
		want = append(want, referOutliers(tr, s)...)
		basis := "none"
		if s.SlowdownBasis.OK {
			basis = string(s.SlowdownBasis.V)
		}
		seen[basis]++
		if s.ModelR2.OK {
			seen["model"]++
		}
	}
	slices.SortFunc(want, func(a, b schema.Outlier) int {
		return cmp.Or(cmp.Compare(a.PhaseID, b.PhaseID), cmp.Compare(a.AttemptID, b.AttemptID), cmp.Compare(a.Rule, b.Rule))
	})
	if diff := gocmp.Diff(want, d.outliers, closely); diff != "" {
		t.Errorf("outliers (- reference, + SQL):\n%.4000s", diff)
	}
	for _, o := range want {
		seen[string(o.Rule)]++
	}
	if fmt.Sprint(d.summary.Phases) != fmt.Sprint(len(tr.Phases)) {
		t.Errorf("the summary counts %d phases", d.summary.Phases)
	}
}
