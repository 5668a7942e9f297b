package detect

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	gocmp "github.com/google/go-cmp/cmp"

	"straggler/engine/enginetest"
	"straggler/schema"
)

// Executions numbered in Go are those of executions.sql and stages.sql: where times and names are unknown, empty or the same,
// phases are of no job, were submitted again or recompute, and in a corrupt store that has a phase twice.
func TestRunsAsInSQL(t *testing.T) {
	for seed := range uint64(3) {
		tr := oddRuns(rand.New(rand.NewPCG(seed, 43)))
		if seed == 2 {
			tr.Phases = append(tr.Phases, tr.Phases[3])
		}
		st := enginetest.Store(t)
		enginetest.IngestTrace(t, st, tr)
		want := runStore(t, st, Options{limits: limits{heapRuns: -1}})
		got := runStore(t, st, Options{Again: true})
		last := gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-13*max(math.Abs(a), math.Abs(b)) })
		if diff := gocmp.Diff(want.history, got.history, last); diff != "" {
			t.Errorf("seed %d, the history (- SQL, + here):\n%.3000s", seed, diff)
		}
		if diff := gocmp.Diff(want.times, got.times, last); diff != "" {
			t.Errorf("seed %d, times for later executions (- SQL, + here):\n%.3000s", seed, diff)
		}
		notes := make(map[string]bool)
		for _, h := range want.history {
			notes[h.Note.V] = true
		}
		if len(notes) < 5 {
			t.Errorf("seed %d: only the notes %v", seed, notes)
		}
	}
}

// What a phase takes in memory while it is ordered, with half as much again for lists that grow, is within runBytes.
func TestRunBytes(t *testing.T) {
	lists := unsafe.Sizeof(phaseRun{}) + unsafe.Sizeof(usualFigures{})
	ordering := unsafe.Sizeof(runKey{}) + 4
	if got := lists + ordering*3/2; got > runBytes {
		t.Errorf("a phase takes %d bytes of %d", got, runBytes)
	}
}

// oddRuns returns runs of a program, in logs in which much is unknown.
func oddRuns(r *rand.Rand) *schema.Trace {
	tr := repeatedRuns(r, 40)
	for i := range tr.Applications {
		switch a := &tr.Applications[i]; r.IntN(8) {
		case 0, 1:
			a.StartTime = schema.Null[schema.Time]{}
		case 2:
			a.Name = schema.Null[string]{}
		case 3:
			a.Name = schema.Some("")
		case 4:
			a.StartTime = tr.Applications[0].StartTime
		}
	}
	for i := range tr.Jobs { // five are of one application
		tr.Jobs[i].ApplicationID = tr.Applications[i/5*5].ApplicationID
	}
	for i := range tr.Phases {
		p := &tr.Phases[i]
		p.SubmitTime = schema.Some(origin.Add(float64(r.IntN(5))))
		switch r.IntN(16) {
		case 0:
			p.Attempt = 1
		case 1:
			p.Recompute = true
		case 2:
			p.Name = schema.Null[string]{}
		case 3:
			p.Name = schema.Some("")
		case 4, 5, 6:
			p.SubmitTime, p.StartTime = schema.Null[schema.Time]{}, schema.Null[schema.Time]{}
		case 7:
			p.Kind = "reduce"
		case 8:
			p.JobID = 1 << 40
		case 9, 10, 11: // several of an application
			p.Name = schema.Some("stage 4")
		}
	}
	return tr
}
