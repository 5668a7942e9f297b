package detect

import (
	"fmt"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/engine/enginetest"
	"straggler/engine/spark/sparktest"
	"straggler/schema"
	"straggler/store"
)

// A run on Spark finds what a run in this process finds, on traces with everything that SQL can trip over.
func TestSparkAgrees(t *testing.T) {
	server := sparktest.Engine(t, sparktest.Options{})
	st, err := store.Temp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	tr := random(rand.New(rand.NewPCG(21, 5)), 150)
	m := newMade()
	m.nights(70, 10, 11, 12, 40)
	m.execution(40, 41, 42, 43)
	for i := range m.Applications[1:] {
		m.Applications[i+1].Name = schema.Some(fmt.Sprintf("it's \\ nightly_%06d", i))
	}
	enginetest.Shift(&m.Trace, 1_000_000)
	tr.Applications, tr.Jobs = append(tr.Applications, m.Applications...), append(tr.Jobs, m.Jobs...)
	tr.Phases, tr.Attempts = append(tr.Phases, m.Phases...), append(tr.Attempts, m.Attempts...)
	enginetest.IngestTrace(t, st, tr)
	want := runStore(t, st, 2, Options{})
	all := int64(0)
	for _, p := range want.phases {
		all += p.Attempts
	}
	for options, attempts := range map[string]int64{"": all / 2, "&set.spark.sql.ansi.enabled=false": 0} { // in some chunks, and at once
		eng, err := engines.Open(t.Context(), st, engine.Options{Server: server + options})
		if err != nil {
			t.Fatal(err)
		}
		defer eng.Close()
		if _, err := Run(t.Context(), st, eng, Options{ChunkAttempts: attempts, Again: true}); err != nil { // and not what the run before found
			t.Fatal(err)
		}
		got := resultsOf(t, eng)
		if diff := gocmp.Diff(want.history, got.history, closely); diff != "" {
			t.Errorf("history on Spark%s:\n%.3000s", options, diff)
		}
		differ(t, "on Spark"+options, want, got, closely)
	}
}
