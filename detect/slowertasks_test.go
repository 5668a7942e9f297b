package detect

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"straggler/engine"
	"straggler/engine/copies/copiestest"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/schema"
)

// The results in this process, and those of copies on a cluster, also some stages at a time, are those of
// slower_than_usual.sql: on executions with attempts that failed, were beaten or are duplicates, inputs that grow, are unknown
// or 0, and tasks in any order.
func TestSlowerTasksAsInSQL(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 41))
		st := enginetest.Store(t)
		enginetest.IngestTrace(t, st, repeatedRuns(r, 90))
		open := func() engine.Engine {
			eng, err := engines.Open(t.Context(), st, engine.Options{Threads: 2, MemoryBytes: 1 << 30})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { eng.Close() })
			return eng
		}
		if _, err := Run(t.Context(), st, &copiestest.Cluster{Engine: open(), T: t, ReadOnly: true}, Options{}); err != nil {
			t.Fatal(err)
		}
		want := resultsOf(t, open())
		slow := 0
		for _, o := range want.outliers {
			if o.Rule == schema.SlowerThanUsual {
				slow++
			}
		}
		if slow < 200 {
			t.Errorf("only %d attempts are slower than usual: the runs are too tame", slow)
		}
		last := gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-13*max(math.Abs(a), math.Abs(b)) })
		for _, most := range []int64{-1, copiedPhases} { // without the figures of phases, which SQL then computes, and with them
			got, _ := runCopies(t, st, Options{Again: true, limits: limits{copiedPhases: most}})
			if diff := gocmp.Diff(want.outliers, got.outliers, last); diff != "" {
				t.Errorf("seed %d, at most %d phases on copies (- SQL, + copies):\n%.3000s", seed, most, diff)
			}
		}
		for _, chunk := range []int64{0, 500} {
			held, runs := int64(heapPhases), int64(heapRuns)
			if chunk > 0 { // neither all phases nor the names of all executions are in the heap
				held, runs = 1, runBytes*5*90+1
			}
			got := runStore(t, st, Options{Again: true, ChunkAttempts: chunk, limits: limits{heapPhases: held, heapRuns: runs}})
			if diff := gocmp.Diff(want.outliers, got.outliers, last); diff != "" {
				t.Errorf("seed %d, chunks of %d (- SQL, + here):\n%.3000s", seed, chunk, diff)
			}
			if diff := gocmp.Diff(want.history, got.history, last); diff != "" {
				t.Errorf("seed %d, chunks of %d, the history (- SQL, + here):\n%.3000s", seed, chunk, diff)
			}
		}
	}
}

// repeatedRuns returns runs of one program with five stages, with or without the same number of tasks each time.
func repeatedRuns(r *rand.Rand, runs int) *schema.Trace {
	m := newMade()
	usual := make([]float64, 40)
	for i := range usual {
		usual[i] = 10 * math.Exp(0.5*r.NormFloat64())
	}
	for run := range runs {
		slow := math.Exp(0.1 * r.NormFloat64())
		if r.IntN(12) == 0 {
			slow *= 3
		}
		for stage := range 5 {
			from := len(m.Attempts)
			var seconds []float64
			for task := range []int{4, 12, 30, 39, 40}[stage] - r.IntN(2)*stage {
				s := usual[task] * slow * math.Exp(0.15*float64(stage+1)*r.NormFloat64())
				if r.IntN(40) == 0 {
					s *= 4
				}
				seconds = append(seconds, math.Round(1000*s)/1000)
			}
			p := m.execution(seconds...)
			m.Phases[p-1].Name = schema.Some(fmt.Sprint("stage ", stage))
			for i := range m.Attempts[from:] {
				m.vary(r, from+i, stage, run)
			}
		}
	}
	r.Shuffle(len(m.Attempts), func(i, j int) { m.Attempts[i], m.Attempts[j] = m.Attempts[j], m.Attempts[i] })
	return &m.Trace
}

// vary gives an attempt an input and, sometimes, another end, another attempt at its task, or a number that is not its
// partition's.
func (m *made) vary(r *rand.Rand, i, stage, run int) {
	a := &m.Attempts[i]
	if stage > 1 && r.IntN(20) > 0 {
		a.InputBytes = schema.Some(int64(r.IntN(3)) << 20 * int64(1+run/60))
	}
	a.InputRecords = schema.Null[int64]{V: int64(r.IntN(50)), OK: r.IntN(3) > 0}
	if stage == 4 && run%7 == 0 {
		a.Quality |= schema.TaskUnknown
	}
	switch r.IntN(25) {
	case 0:
		a.Status = schema.Killed
	case 1:
		a.Status = schema.Failed
	case 2:
		a.Recompute = true
	case 3:
		again := m.attempt(a.PhaseID, a.Task, 1.7*a.DurationS.V)
		a = &m.Attempts[i]
		again.JobID, again.ApplicationID = a.JobID, a.ApplicationID
	}
}

// The times of tasks go to a file if a program has a name, and nowhere if no stage can have a history.
func TestTimesOfTasksOnlyWithNames(t *testing.T) {
	for _, named := range []bool{false, true} {
		t.Run(fmt.Sprint("named ", named), func(t *testing.T) {
			m := newMade()
			m.nights(4, 10, 11, 12)
			for i := range m.Applications {
				m.Applications[i].Name.OK = named && m.Applications[i].Name.OK
			}
			st := enginetest.Store(t)
			enginetest.IngestTrace(t, st, &m.Trace)
			eng, err := engines.Open(t.Context(), st, engine.Options{Threads: 2, MemoryBytes: 1 << 30})
			if err != nil {
				t.Fatal(err)
			}
			defer eng.Close()
			t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
			_, err = Run(t.Context(), st, eng, Options{})
			if got := err != nil && strings.Contains(err.Error(), "times of tasks"); got != named || err != nil && !got {
				t.Errorf("without a directory for the file: %v", err)
			}
		})
	}
}
