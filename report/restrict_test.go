package report

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"straggler/engine"
	"straggler/engine/enginetest"
	"straggler/report/reporttest"
	"straggler/schema"
	"straggler/selection"
)

// A document about some applications has the rejected records of their logs, and of files from which no application was read,
// but not those of other logs.
func TestRejectsOfOthers(t *testing.T) {
	var traces []*schema.Trace
	for i, file := range []string{"logs/one", "logs/two", "rolling"} {
		m := reporttest.NewTrace()
		m.Phase(m.Job(0, 20), 0, 10, 10, 20)
		m.Applications[0].NativeID, m.Applications[0].SourceFile = file, file
		rejected := map[string]string{"rolling": "rolling/events_1"}[file]
		for _, name := range []string{cmp.Or(rejected, file), fmt.Sprint("other", i)} {
			m.Rejects = append(m.Rejects, schema.Reject{SourceFile: name, Line: schema.Some(int64(1)), Reason: "it is broken"})
		}
		enginetest.Shift(&m.Trace, schema.Key(100*(i+1)))
		traces = append(traces, &m.Trace)
	}
	eng := reporttest.Stored(t, traces...)
	for named, want := range map[string][]string{
		"logs/one": {"logs/one", "other0", "other1", "other2"}, "rolling": {"other0", "other1", "other2", "rolling/events_1"},
		"": {"logs/one", "logs/two", "other0", "other1", "other2", "rolling/events_1"},
	} {
		d, err := Build(t.Context(), eng, Options{Apps: selection.Applications{Named: named}})
		reporttest.Check(t, err)
		var got []string
		for _, r := range d.Trust.Rejects.Rows {
			got = append(got, r.SourceFile)
		}
		if !slices.Equal(got, want) || d.Trust.Counts.Rejects != int64(len(want)) || d.Trust.Rejects.Total != int64(len(want)) {
			t.Errorf("%q: %d rejects of %v, want %v", named, d.Trust.Counts.Rejects, got, want)
		}
	}
}

// A document is the same whether its queries read copies of its rows, its rows in the files, or the whole store, and leaves
// no copy behind.
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
		{Scope: Scope{Application: worst.Application}}, {Scope: Scope{Job: worst.Job}}, {Scope: Scope{Phase: worst.Phase}},
		{Scope: Scope{Attempt: worst.Attempt}},
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
