package audit

import (
	"testing"

	"straggler/audit/measure"
	"straggler/schema"
	"straggler/schema/laws/lawstest"
)

// The rejected records of a log of several files are those of the files in its directory.
func TestRejectsOfSeveralFiles(t *testing.T) {
	tr := lawstest.Sound()
	tr.Applications, tr.Rejects = tr.Applications[:1], nil
	log := tr.Applications[0].SourceFile
	for _, file := range []string{log, log + "/events_1_app", log + "/events_2_app", "other", "other/" + log} {
		tr.Rejects = append(tr.Rejects, schema.Reject{SourceFile: file, Line: schema.Some(int64(1)), Reason: "it is broken"})
	}
	runs, err := measure.Runs(t.Context(), storedResults(t, tr), measure.Grouping{})
	if err != nil || len(runs) != 1 || runs[0].Values["rejects"] != 3 {
		t.Errorf("%v, %+v, want a run with 3 rejects", err, runs)
	}
}
