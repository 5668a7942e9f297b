package detect

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"straggler/engine"
	"straggler/engine/copies/copiestest"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/store"
)

// inSQL returns the results of the queries, as engines of many machines run them.
func inSQL(t *testing.T, st *store.Store) *detected {
	t.Helper()
	eng, err := engines.Open(t.Context(), st, engine.Options{Threads: 2, MemoryBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	s, err := Run(t.Context(), st, &copiestest.Cluster{Engine: eng, T: t, ReadOnly: true}, Options{Again: true})
	if err != nil {
		t.Fatal(err)
	}
	d := resultsOf(t, eng)
	d.summary = s
	return d
}

// lastBits allows for floats computed with logarithms: two libraries differ in the last bit of one.
var lastBits = gocmp.Comparer(func(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-13*max(math.Abs(a), math.Abs(b)) || math.IsNaN(a) && math.IsNaN(b)
})

// sameAsSQL compares to the last bit, except for the history and slower_than_usual, which use logarithms.
func sameAsSQL(t *testing.T, want, got *detected) {
	t.Helper()
	for _, slower := range []bool{true, false} {
		of := func(d *detected) *detected {
			other := func(o schema.Outlier) bool { return (o.Rule == schema.SlowerThanUsual) != slower }
			return &detected{phases: d.phases, outliers: slices.DeleteFunc(slices.Clone(d.outliers), other)}
		}
		same := sameBits
		if slower {
			same = lastBits
		}
		differ(t, "here", of(want), of(got), same)
	}
	if diff := gocmp.Diff(want.history, got.history, lastBits); diff != "" {
		t.Errorf("the history (- SQL, + here):\n%.3000s", diff)
	}
}

// sameBits compares floats, with NaN equal to NaN.
var sameBits = gocmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })

// The results for phases in this process are those of the queries, to the last bit: on values that SQL treats in its own way,
// on phases whose attempts are anywhere in the store, and some phases at a time.
func TestPhasesAsInSQL(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 61))
		tr := random(r, 200)
		for _, p := range edgesOf(r) {
			enginetest.Shift(p, schema.Key(1_000_000*(1+len(tr.Applications))))
			tr.Applications, tr.Jobs = append(tr.Applications, p.Applications...), append(tr.Jobs, p.Jobs...)
			tr.Phases, tr.Attempts = append(tr.Phases, p.Phases...), append(tr.Attempts, p.Attempts...)
		}
		if seed%2 == 0 {
			r.Shuffle(len(tr.Attempts), func(i, j int) { tr.Attempts[i], tr.Attempts[j] = tr.Attempts[j], tr.Attempts[i] })
		}
		st := enginetest.Store(t)
		enginetest.IngestTrace(t, st, tr)
		want := inSQL(t, st)
		seen := make(map[string]int)
		for _, s := range want.phases {
			seen[string(s.SlowdownBasis.V)]++
			if s.ModelR2.OK {
				seen["model"]++
			}
		}
		for _, o := range want.outliers {
			seen[string(o.Rule)]++
		}
		for _, h := range want.history {
			if h.CPUS.OK && h.InputRecords.OK && h.TickS.V == 1 {
				seen["usage"]++
			}
		}
		for _, what := range []string{"bytes", "records", "duration", "", "model", "high_runtime", "straggler", "late_slow_task", "recompute", "usage"} {
			if seen[what] == 0 {
				t.Errorf("seed %d: no phase or attempt with %q: the traces are too tame", seed, what)
			}
		}
		for _, chunk := range []int64{0, 300} {
			got := runStore(t, st, Options{Again: true, ChunkAttempts: chunk, limits: limits{heapRuns: -chunk}})
			sameAsSQL(t, want, got)
		}
	}
}

// edgesOf returns runs of a program whose logs contain what logs should not contain, or rarely do.
func edgesOf(r *rand.Rand) (out []*schema.Trace) {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, math.Copysign(0, -1), 1e15, 1e300, 5e-324}
	for range 6 {
		m := newMade()
		m.Applications[0].Name = schema.Some("odd")
		m.Applications[0].Complete = r.IntN(2) == 0
		for stage := range 12 {
			p := m.phase()
			m.Phases[p-1].Gang = r.IntN(4) == 0
			seconds := math.Ldexp(1, r.IntN(20)-10)
			for task := range []int{1, 2, 3, 10, 11, 30, 200, 1000}[r.IntN(8)] {
				d := seconds
				if stage == 10 { // which its input explains completely
					d *= 1 + 0.1*float64(task)
				}
				if stage%3 > 0 {
					d *= float64(1+r.IntN(8)) * math.Exp(r.NormFloat64()*float64(stage%2))
				}
				if stage%4 == 3 && r.IntN(10) == 0 {
					d = odd[r.IntN(len(odd))]
				}
				for again := true; again; again = r.IntN(15) == 0 {
					m.oddAttempt(r, p, int64(task), d, stage, odd)
				}
			}
		}
		out = append(out, &m.Trace)
	}
	return out
}

// oddAttempt adds an attempt with any of its values unknown.
func (m *made) oddAttempt(r *rand.Rand, p schema.Key, task int64, d float64, stage int, odd []float64) {
	a := m.attempt(p, task, 0)
	a.DurationS = schema.Null[float64]{V: d, OK: r.IntN(40) > 0}
	start := float64(r.IntN(30))
	if stage%5 > 0 {
		start += r.Float64()
	}
	a.StartTime = schema.Null[schema.Time]{V: origin.Add(start), OK: r.IntN(30) > 0}
	a.FinishTime = schema.Null[schema.Time]{V: origin.Add(start + math.Ceil(min(max(d, 0), 1e6))), OK: r.IntN(30) > 0}
	if stage > 2 {
		a.Status = schema.AttemptStatus(a.Status.Values()[max(0, r.IntN(30)-24)])
	}
	a.Recompute = r.IntN(40) == 0
	if stage%6 < 4 {
		a.InputBytes = schema.Null[int64]{V: int64(r.IntN(5)) << (10 * r.IntN(5)), OK: r.IntN(60) > 0}
		a.RemoteBytes = schema.Null[int64]{V: int64(r.IntN(5)), OK: stage%2 == 0 || r.IntN(3) == 0}
	}
	if stage == 10 {
		a.InputBytes, a.RemoteBytes = schema.Some(task), schema.Null[int64]{}
	}
	a.InputRecords = schema.Null[int64]{V: int64(r.IntN(100)) - 1, OK: r.IntN(20) > 0}
	a.CPUS = schema.Null[float64]{V: r.ExpFloat64(), OK: r.IntN(5) > 0}
	a.FetchWaitS = schema.Null[float64]{V: float64(r.IntN(3)), OK: stage != 7}
	if stage%4 == 1 && r.IntN(20) == 0 {
		a.CPUS, a.FetchWaitS = schema.Some(odd[r.IntN(len(odd))]), schema.Some(odd[r.IntN(len(odd))])
	}
}

// scanned is the result for a phase, in memory and in the file.
type scanned struct {
	phaseFigures
	times taskRows
}

// Phases whose attempts are all over the store are postponed and read again if too many attempts would wait, with the same
// results.
func TestPhasesPutOff(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 61))
	tr := random(r, 150)
	r.Shuffle(len(tr.Attempts), func(i, j int) { tr.Attempts[i], tr.Attempts[j] = tr.Attempts[j], tr.Attempts[i] })
	st := enginetest.Store(t)
	for i, part := range slices.Collect(slices.Chunk(tr.Attempts, len(tr.Attempts)/5+1)) { // adjacent row groups put phases together
		enginetest.Ingest(t, st, schema.Key(i+1), part)
	}
	enginetest.Ingest(t, st, 10, tr.Phases)
	eng, err := engines.Open(t.Context(), st, engine.Options{Threads: 2, MemoryBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	read := func(waiting int64) ([]scanned, *phaseScan) {
		var file phaseFile
		defer file.close()
		p := part{whole: true}
		if _, err := p.readPhases(t.Context(), eng); err != nil {
			t.Fatal(err)
		}
		files, err := p.attemptFiles(t.Context(), eng)
		if err != nil {
			t.Fatal(err)
		}
		files.rows = 7
		s := &phaseScan{from: files, file: &file, times: true, phases: p.scanned, waiting: waiting}
		var found []scanned
		err = s.read(context.Background(), func(some []phaseFigures) error {
			for i := range some {
				found = append(found, scanned{phaseFigures: some[i]})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(found, func(a, b scanned) int { return cmp.Compare(a.stats.PhaseID, b.stats.PhaseID) })
		var buf []byte
		for i := range found {
			f := &found[i]
			at, _ := findScanned(s.phases, f.stats.PhaseID)
			var err error
			if f.slow, err = file.readSlow(&s.phases[at], nil, &buf); err != nil {
				t.Fatal(err)
			}
			if err := file.readTimes(&s.phases[at].times, &f.times, &buf); err != nil {
				t.Fatal(err)
			}
		}
		return found, s
	}
	want, s := read(mostWaiting)
	if len(s.again) > 0 || len(want) < 100 {
		t.Fatalf("%d phases, %d put off", len(want), len(s.again))
	}
	got, s := read(200)
	if len(s.again) < 50 {
		t.Errorf("%d phases put off, want most", len(s.again))
	}
	if diff := gocmp.Diff(want, got, gocmp.AllowUnexported(scanned{}, phaseFigures{}, taskRows{}, slowAttempt{}), sameBits, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%.3000s", diff)
	}
}

// Quantiles are those of sorted values, whatever the values and their order; with NaN after all others.
func TestQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 61))
	fractions := []float64{0, 0.1, 0.25, 0.5, 0.75, 0.95, 1}
	for try := range 3000 {
		x := make([]float64, 1+r.IntN([]int{3, 20, 2000}[try%3]))
		levels := 1 + r.IntN(2*len(x))
		for i := range x {
			x[i] = float64(r.IntN(levels))
			switch try % 7 {
			case 1:
				x[i] = float64(i)
			case 2:
				x[i] = -float64(i)
			case 3:
				x[i] = math.Abs(float64(i) - float64(len(x))/2)
			}
			if try%5 == 0 && r.IntN(10) == 0 {
				x[i] = math.NaN()
			}
		}
		sorted := slices.SortedFunc(slices.Values(x), func(a, b float64) int {
			if math.IsNaN(a) || math.IsNaN(b) {
				return cmp.Compare(b2i(math.IsNaN(a)), b2i(math.IsNaN(b)))
			}
			return cmp.Compare(a, b)
		})
		got := make([]schema.Null[float64], len(fractions))
		quantiles(x, fractions, got)
		for i, f := range fractions {
			want := sorted[int(f*float64(len(x)-1))]
			if part := f*float64(len(x)-1) - math.Floor(f*float64(len(x)-1)); part > 0 {
				want = want*(1-part) + sorted[int(f*float64(len(x)-1))+1]*part
			}
			if got[i].V != want && !(math.IsNaN(want) && math.IsNaN(got[i].V)) {
				t.Fatalf("try %d: quantile %v of %v is %v, want %v", try, f, sorted, got[i].V, want)
			}
		}
	}
	if median(nil).OK {
		t.Error("the median of nothing is known")
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
