package detect

import (
	"math/rand/v2"
	"testing"

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
	enginetest.IngestTrace(t, st, random(rand.New(rand.NewPCG(21, 5)), 150))
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
		if _, err := Run(t.Context(), st, eng, Options{ChunkAttempts: attempts}); err != nil {
			t.Fatal(err)
		}
		got := &detected{
			phases:   enginetest.ReadAll[schema.PhaseStats](t, eng, "SELECT * FROM phase_stats ORDER BY phase_id NULLS LAST"),
			outliers: enginetest.ReadAll[schema.Outlier](t, eng, "SELECT * FROM outliers ORDER BY phase_id NULLS LAST, attempt_id NULLS LAST, rule NULLS LAST"),
		}
		differ(t, "on Spark"+options, want, got, closely)
	}
}
