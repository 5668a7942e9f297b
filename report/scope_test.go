package report_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"straggler/report"
	"straggler/report/reporttest"
)

// A document about a part of a store agrees with the document about the whole.
func TestScope(t *testing.T) {
	eng := reporttest.Labelled(t, "mixed", "skew")
	build := func(s report.Scope) *report.Document {
		t.Helper()
		d, err := report.Build(t.Context(), eng, report.Options{Scope: s, Top: 200})
		reporttest.Check(t, err)
		return d
	}
	all := build(report.Scope{})
	overview, err := report.Overview(t.Context(), eng)
	reporttest.Check(t, err)
	apps := overview.Trust.Applications.Rows
	if !reflect.DeepEqual(overview.Machines, all.Machines) || !reflect.DeepEqual(overview.Whatif, all.Whatif) || len(all.Machines.List.Rows) == 0 {
		t.Errorf("the overview has %+v and %+v", overview.Machines, overview.Whatif)
	}
	if len(apps) != int(all.Trust.Applications.Total) || len(apps) < 2 {
		t.Fatalf("%d applications of %d", len(apps), all.Trust.Applications.Total)
	}
	sum := 0.0
	for _, a := range apps {
		one := build(report.Scope{Application: a.ApplicationID})
		if one.Trust.Applications.Total != 1 || one.Cost.Loss.LostS != a.Loss.LostS {
			t.Errorf("%s lost %v in the list and %v on its own", a.NativeID, a.Loss.LostS, one.Cost.Loss.LostS)
		}
		sum += a.Loss.LostS.V
	}
	near(t, "the applications", sum, all.Cost.Loss.LostS.V)
	for _, j := range all.Cost.Jobs.Rows[:3] {
		one := build(report.Scope{Job: j.JobID})
		near(t, "job "+j.NativeID, one.Cost.Loss.LostS.V, j.Loss.LostS.V)
		if one.Trust.Counts.Outliers != j.Loss.Outliers || one.Headline.Verdict == "" || len(one.Timelines) != 1 || one.Timelines[0].JobID.V != j.JobID {
			t.Errorf("job %s: %d of %d outliers, %q, %d timelines", j.NativeID, one.Trust.Counts.Outliers, j.Loss.Outliers,
				one.Headline.Verdict, len(one.Timelines))
		}
		if c := one.Trust.Counts; c.FirstStart.OK || c.LastFinish.OK {
			t.Errorf("job %s has the times of its application: %+v", j.NativeID, c)
		}
		for _, p := range one.Phases.Rows {
			if p.JobID != j.JobID {
				t.Errorf("job %s lists phase %s of job %s", j.NativeID, p.NativeID, p.Job)
			}
		}
	}
	worst := all.Outliers.Rows[0]
	of := build(report.Scope{Phase: worst.PhaseID})
	if len(of.Phases.Rows) != 1 || of.Phases.Rows[0].PhaseID != worst.PhaseID || of.Phases.Rows[0].CostS != phaseCost(all, worst.PhaseID) {
		t.Errorf("phase %s: %+v", worst.Phase, of.Phases.Rows)
	}
	found := false
	for _, o := range of.Outliers.Rows {
		found = found || o.AttemptID == worst.AttemptID
		if o.PhaseID != worst.PhaseID {
			t.Errorf("phase %s lists an outlier of phase %s", worst.Phase, o.Phase)
		}
	}
	one := build(report.Scope{Attempt: worst.AttemptID})
	if !found || len(one.Outliers.Rows) != 1 || one.Outliers.Rows[0].Words != worst.Words || one.Outliers.Rows[0].CostS != worst.CostS {
		t.Errorf("attempt %d: listed by its phase: %t; alone: %+v", worst.AttemptID, found, one.Outliers.Rows)
	}
	for _, s := range []report.Scope{{Application: 1}, {Job: 1}, {Phase: 1}, {Attempt: 1}} {
		if _, err := report.Build(t.Context(), eng, report.Options{Scope: s}); !errors.Is(err, report.ErrNoRow) {
			t.Errorf("%+v: error %v", s, err)
		}
	}
}

// A document about a query agrees with the document about its application, and draws its plan even where that does not.
func TestScopeQuery(t *testing.T) {
	eng := reporttest.Labelled(t, "sql")
	whole, err := report.Build(t.Context(), eng, report.Options{})
	reporttest.Check(t, err)
	drawn, more := 0, 0
	for i := range whole.Queries.Rows {
		want := whole.Queries.Rows[i]
		d, err := report.Build(t.Context(), eng, report.Options{Scope: report.Scope{Query: want.QueryID}})
		reporttest.Check(t, err)
		if len(d.Queries.Rows) != 1 || d.Queries.Total != 1 {
			t.Fatalf("query %s: %d rows of %d", want.NativeID, len(d.Queries.Rows), d.Queries.Total)
		}
		got := d.Queries.Rows[0]
		if len(want.Plan) > 0 {
			drawn++
		} else if want.Plan = got.Plan; len(got.Plan) > 0 {
			more++
		}
		if !reflect.DeepEqual(got, want) || len(got.Plan) == 0 {
			t.Errorf("query %s: %+v, not %+v", want.NativeID, got, want)
		}
	}
	if drawn == 0 || more == 0 {
		t.Errorf("%d plans are drawn of the application, %d more of single queries", drawn, more)
	}
	if _, err := report.Build(t.Context(), eng, report.Options{Scope: report.Scope{Query: 1}}); !errors.Is(err, report.ErrNoRow) {
		t.Errorf("no query: error %v", err)
	}
}

func phaseCost(d *report.Document, key int64) (cost any) {
	for _, p := range d.Phases.Rows {
		if p.PhaseID == key {
			return p.CostS
		}
	}
	return nil
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
		t.Errorf("%s: %v, not %v", what, got, want)
	}
}

// Savings of speculation are those of the applications in the document: for one of several, at most what it lost.
func TestGainOfOne(t *testing.T) {
	eng := reporttest.LabelledWithSavings(t, "clean", "transient", "skew")
	all, err := report.Build(t.Context(), eng, report.Options{})
	reporttest.Check(t, err)
	for _, a := range all.Trust.Applications.Rows {
		d, err := report.Build(t.Context(), eng, report.Options{Scope: report.Scope{Application: a.ApplicationID}})
		reporttest.Check(t, err)
		for _, v := range d.Advice {
			if v.GainS.OK && v.GainS.V > a.Loss.LostS.V+1e-6 {
				t.Errorf("%s lost %.1f s, and %q would save %.1f s", a.NativeID, a.Loss.LostS.V, v.Title, v.GainS.V)
			}
		}
	}
}
