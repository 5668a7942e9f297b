package report

import (
	"fmt"
	"reflect"
	"testing"

	"straggler/engine"
	"straggler/report/reporttest"
	"straggler/schema"
	"straggler/selection"
)

// A document says the same whether its queries see copies of its rows, its rows in the files, or the whole store; and leaves no
// copy behind.
func TestRestrict(t *testing.T) {
	eng := reporttest.Labelled(t, "mixed", "skew")
	build := func(s Scope, apps selection.Applications, copied int64) *Document {
		t.Helper()
		b := &builder{ctx: t.Context(), eng: eng, o: Options{Scope: s, Apps: apps, Top: topOutliers}, doc: &Document{}, apps: topApps, copied: copied}
		d, err := b.build()
		reporttest.Check(t, err)
		return d
	}
	type keys struct {
		Application schema.Key `col:"application_id"`
		Job         schema.Key `col:"job_id"`
		Phase       schema.Key `col:"phase_id"`
		Attempt     schema.Key `col:"attempt_id"`
	}
	var worst keys
	for r, err := range engine.Read[keys](t.Context(), eng, `SELECT a.application_id, a.job_id, a.phase_id, a.attempt_id FROM attempts a JOIN attributions c ON c.attempt_id = a.attempt_id
		ORDER BY c.seconds DESC, a.attempt_id LIMIT 1`) {
		reporttest.Check(t, err)
		worst = *r
	}
	native := ""
	for r, err := range engine.Read[struct {
		ID string `col:"native_id"`
	}](t.Context(), eng, fmt.Sprintf("SELECT native_id FROM applications WHERE application_id = %d", worst.Application)) {
		reporttest.Check(t, err)
		native = r.ID
	}
	for _, c := range []struct {
		Scope
		apps selection.Applications
	}{
		{Scope: Scope{Application: worst.Application}}, {Scope: Scope{Job: worst.Job}}, {Scope: Scope{Phase: worst.Phase}}, {Scope: Scope{Attempt: worst.Attempt}},
		{apps: selection.Applications{Named: native}}, {apps: selection.Applications{Since: schema.Some(schema.Time(1))}},
	} {
		s, apps := c.Scope, c.apps
		whole := build(s, apps, unrestricted)
		if len(whole.Outliers.Rows) == 0 {
			t.Fatalf("%+v has no outlier", s)
		}
		if d := build(s, apps, copiedAttempts); !reflect.DeepEqual(d, whole) {
			t.Errorf("%+v: from copies of its rows:\n%+v\nfrom the whole store:\n%+v", s, d, whole)
		}
		if d := build(s, apps, 0); !reflect.DeepEqual(d, whole) {
			t.Errorf("%+v: from its rows in the files:\n%+v\nfrom the whole store:\n%+v", s, d, whole)
		}
	}
	for _, table := range []string{"phases", "phase_stats", "attempts", "attributions", "outliers"} {
		if rows, err := eng.Query(t.Context(), "SELECT * FROM report_own_"+table); err == nil {
			rows.Close()
			t.Errorf("report_own_%s is left", table)
		}
	}
}
