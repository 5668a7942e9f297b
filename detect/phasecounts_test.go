package detect

import (
	"math/rand/v2"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/schema"
	"straggler/store"
)

// The check of the keys that attempts name, done while they are counted, agrees with inputs.sql.
func TestContainedAsInSQL(t *testing.T) {
	for shared, share := range map[string]func(a, of *schema.Attempt){
		"nothing":        func(a, of *schema.Attempt) {},
		"a phase":        func(a, of *schema.Attempt) { a.PhaseID = of.PhaseID },
		"an application": func(a, of *schema.Attempt) { a.ApplicationID = of.ApplicationID },
	} {
		r := rand.New(rand.NewPCG(7, 31))
		n := newNight(t)
		logs := map[schema.Key]*schema.Trace{1: owned(1, random(r, 12)), 2: owned(2, random(r, 12))}
		share(&logs[2].Attempts[len(logs[2].Attempts)/2], &logs[1].Attempts[0])
		n.ingest(t, logs)
		eng, err := engines.Open(t.Context(), n.Store, engine.Options{Threads: 2, MemoryBytes: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		defer eng.Close()
		p := part{limits: limits{heapPhases: heapPhases}, owners: store.OwnersOf(n.inputs(t))}
		if err := p.choose(t.Context(), eng, n.inputs(t)); err != nil {
			t.Fatal(err)
		}
		got, err := p.readPhases(t.Context(), eng)
		if err != nil {
			t.Fatal(err)
		}
		if want := shared == "nothing"; got != want {
			t.Errorf("two inputs that share %s are self-contained: %v", shared, got)
		}
		type named struct {
			Input schema.Key `col:"input_key"`
			Table string     `col:"tab"`
			First schema.Key `col:"first"`
		}
		inSQL := true
		for _, k := range enginetest.ReadAll[named](t, eng, strings.ReplaceAll(inputsSQL, "{block}", blockBits)) {
			inSQL = inSQL && p.owns(k.Input, k.Table, k.First)
		}
		if got != inSQL {
			t.Errorf("two inputs that share %s are self-contained: %v, in SQL %v", shared, got, inSQL)
		}
		if !got {
			continue
		}
		type sized struct {
			PhaseID schema.Key `col:"phase_id"`
			N       int64      `col:"n"`
		}
		const sizes = "SELECT p.phase_id, count(a.attempt_id) AS n FROM phases p LEFT JOIN attempts a ON a.phase_id = p.phase_id GROUP BY p.phase_id"
		for _, s := range enginetest.ReadAll[sized](t, eng, sizes) {
			if i, found := findScanned(p.scanned, s.PhaseID); !found || int64(p.scanned[i].attempts) != s.N || p.scanned[i].wanted != (s.N > 0) {
				t.Errorf("phase %d has %d attempts, and is counted as %+v", s.PhaseID, s.N, p.scanned[i])
			}
		}
	}
}
