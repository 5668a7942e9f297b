package detect

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/store"
)

// Law 4: tasks that are all alike have no outliers, by any measure.
func TestUniformHasNone(t *testing.T) {
	m := newMade()
	for n := range 30 {
		p := m.phase(slices.Repeat([]float64{12.5}, n)...)
		if n%3 > 0 {
			m.bytes(p, int64(n)<<20)
		}
	}
	d := run(t, &m.Trace)
	if len(d.outliers) > 0 {
		t.Errorf("outliers in a uniform trace: %v", d.outliers)
	}
	for _, s := range d.phases {
		if s.Outliers.V != 0 || s.Stragglers.V != 0 || s.LostS.V != 0 || s.SlowdownRatio.OK && s.SlowdownRatio.V != 1 {
			t.Errorf("phase of %d tasks: %+v", s.Tasks, s)
		}
	}
}

// Law 3: if all times are multiplied by k, so are seconds, rates are divided by k, and the rest is unchanged.
func TestScaling(t *testing.T) {
	const k = 8 // a power of two, so that the expectation is exact
	tr := random(rand.New(rand.NewPCG(11, 5)), 80)
	want := run(t, tr)
	for i := range tr.Attempts {
		a := &tr.Attempts[i]
		a.DurationS.V *= k
		a.StartTime.V = origin + k*(a.StartTime.V-origin)
		if a.FinishTime.OK {
			a.FinishTime.V = origin + k*(a.FinishTime.V-origin)
		}
	}
	got := run(t, tr)
	for i := range want.phases {
		s := &want.phases[i]
		for _, v := range []*schema.Null[float64]{&s.MedianS, &s.P75S, &s.P95S, &s.MaxS, &s.LostS} {
			v.V *= k
		}
		for _, v := range []*schema.Null[float64]{&s.MedianRate, &s.SlowestRate} {
			v.V /= k
		}
	}
	for i := range want.outliers {
		want.outliers[i].ExcessS.V *= k
	}
	differ(t, "scaled", want, got, closely)
}

// Law 3: names do not matter. Tasks get other numbers, phases and attempts other keys and positions.
func TestPermutation(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 5))
	tr := random(r, 80)
	want := run(t, tr)
	phase, attempt := r.Perm(len(tr.Phases)+1), r.Perm(len(tr.Attempts)+1)
	for i := range tr.Phases {
		tr.Phases[i].PhaseID = schema.Key(1 + phase[tr.Phases[i].PhaseID])
	}
	for i := range tr.Attempts {
		a := &tr.Attempts[i]
		a.Task = 1000 - a.Task
		a.PhaseID, a.AttemptID = schema.Key(1+phase[a.PhaseID]), schema.Key(1+attempt[a.AttemptID])
	}
	r.Shuffle(len(tr.Phases), func(i, j int) { tr.Phases[i], tr.Phases[j] = tr.Phases[j], tr.Phases[i] })
	r.Shuffle(len(tr.Attempts), func(i, j int) { tr.Attempts[i], tr.Attempts[j] = tr.Attempts[j], tr.Attempts[i] })
	got := run(t, tr)
	for i := range want.phases {
		want.phases[i].PhaseID = schema.Key(1 + phase[want.phases[i].PhaseID])
	}
	for i := range want.outliers {
		o := &want.outliers[i]
		o.PhaseID, o.AttemptID = schema.Key(1+phase[o.PhaseID]), schema.Key(1+attempt[o.AttemptID])
	}
	differ(t, "permuted", want, got)
}

// Law 7: the number of threads makes no difference, to the last bit.
func TestThreads(t *testing.T) {
	tr := random(rand.New(rand.NewPCG(13, 5)), 12000) // more rows than one thread processes
	want := runOn(t, tr, 1)
	for range 2 {
		differ(t, "with four threads", want, runOn(t, tr, 4))
	}
}

// Neither does the number of phases that are processed together.
func TestChunks(t *testing.T) {
	tr := random(rand.New(rand.NewPCG(14, 5)), 100)
	want := run(t, tr)
	st, err := store.Temp(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	enginetest.IngestTrace(t, st, tr)
	for _, n := range []int64{250, 1500} {
		differ(t, fmt.Sprintf("in chunks of %d", n), want, runStore(t, st, Options{ChunkAttempts: n, Again: true}))
	}
}

func differ(t *testing.T, how string, want, got *detected, o ...gocmp.Option) {
	t.Helper()
	for _, d := range []*detected{want, got} {
		slices.SortFunc(d.phases, func(a, b schema.PhaseStats) int { return int(a.PhaseID - b.PhaseID) })
		slices.SortFunc(d.outliers, func(a, b schema.Outlier) int {
			if a.AttemptID != b.AttemptID {
				return int(a.AttemptID - b.AttemptID)
			}
			return slices.Compare([]byte(a.Rule), []byte(b.Rule))
		})
	}
	if diff := gocmp.Diff(want.phases, got.phases, o...); diff != "" {
		t.Errorf("phases, %s:\n%.3000s", how, diff)
	}
	if diff := gocmp.Diff(want.outliers, got.outliers, o...); diff != "" {
		t.Errorf("outliers, %s:\n%.3000s", how, diff)
	}
	if diff := gocmp.Diff(want.times, got.times, o...); diff != "" {
		t.Errorf("times of tasks, %s:\n%.3000s", how, diff)
	}
}
