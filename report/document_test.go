package report

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/report/reporttest"
	"straggler/schema"
	"straggler/selection"
)

// The figures of a document are consistent with each other and with the tables, on logs of real clusters with every kind of
// fault.
func TestDocumentAddsUp(t *testing.T) {
	for _, name := range []string{"mixed", "skew", "recompute", "network-up", "clean", "driver-crash", "failures"} {
		t.Run(name, func(t *testing.T) {
			eng := reporttest.Labelled(t, name)
			d := built(t, eng)
			near(t, "parts of all lost time", sumParts(d.Cost.Loss.Parts), d.Cost.Loss.LostS.V)
			lost, excess, completion := 0.0, 0.0, 0.0
			for _, j := range d.Cost.Jobs.Rows {
				near(t, "parts of job "+j.NativeID, sumParts(j.Loss.Parts), j.Loss.LostS.V)
				lost, excess, completion = lost+j.Loss.LostS.V, excess+j.Loss.ExcessS, completion+j.Loss.CompletionS.V
				if j.Loss.LostS.V > j.Loss.CompletionS.V && j.Loss.CompletionS.OK {
					t.Errorf("job %s lost %v of %v", j.NativeID, j.Loss.LostS.V, j.Loss.CompletionS.V)
				}
			}
			near(t, "lost time of the jobs", lost, d.Cost.Loss.LostS.V)
			near(t, "excess of the jobs", excess, d.Cost.Loss.ExcessS)
			near(t, "completion of the jobs", completion, d.Cost.Loss.CompletionS.V)
			apps := 0.0
			for _, a := range d.Trust.Applications.Rows {
				apps += a.Loss.LostS.V
			}
			near(t, "lost time of the applications", apps, d.Cost.Loss.LostS.V)
			causesAddUp(t, eng, d)
			outliersAddUp(t, d)
		})
	}
}

func causesAddUp(t *testing.T, eng engine.Engine, d *Document) {
	t.Helper()
	byCause := map[schema.Cause]float64{}
	for r, err := range engine.Read[struct {
		Cause schema.Cause `col:"cause"`
		S     float64      `col:"s"`
	}](context.Background(), eng, "SELECT cause, sum(seconds) AS s FROM attributions GROUP BY cause") {
		reporttest.Check(t, err)
		byCause[r.Cause] = r.S
	}
	for _, c := range d.Cost.Causes {
		near(t, "excess of "+string(c.Cause), c.SumS, byCause[c.Cause])
		delete(byCause, c.Cause)
	}
	for c, s := range byCause {
		if s != 0 {
			t.Errorf("%s has %v s of excess and is not in the report", c, s)
		}
	}
}

func outliersAddUp(t *testing.T, d *Document) {
	t.Helper()
	last := math.Inf(1)
	costs := map[schema.Key]float64{}
	for _, o := range d.Outliers.Rows {
		if o.CostS.V > last {
			t.Errorf("outlier %s costs %v s and stands below one that costs %v s", o.NativeID, o.CostS.V, last)
		}
		last = o.CostS.V
		if o.AloneS.V > o.CostS.V+1e-6 {
			t.Errorf("outlier %s alone costs %v s, more than its share of %v s", o.NativeID, o.AloneS.V, o.CostS.V)
		}
		costs[o.PhaseID] += o.CostS.V
		sum := 0.0
		for _, c := range o.Causes {
			sum += c.Seconds
		}
		if len(o.Causes) > 0 && o.ExcessS.OK && math.Abs(sum-o.ExcessS.V) > 1e-6*math.Max(1, math.Abs(sum)) {
			t.Errorf("outlier %s: causes sum to %v of %v s", o.NativeID, sum, o.ExcessS.V)
		}
		if o.Words == "" || o.SQL == "" {
			t.Errorf("outlier %s has no evidence or no query", o.NativeID)
		}
	}
	for _, p := range d.Phases.Rows {
		if p.CostS.V > p.EarlierS.V+1e-6 || p.EarlierS.V < p.LostS.V-1e-6 {
			t.Errorf("phase %s lost %v s, %v s of them without its queues, and cost its job %v s", p.NativeID, p.EarlierS.V, p.LostS.V, p.CostS.V)
		}
		if costs[p.PhaseID] > p.CostS.V+1e-6 {
			t.Errorf("phase %s cost %v s and its outliers %v s", p.NativeID, p.CostS.V, costs[p.PhaseID])
		}
		if len(p.Parts) > 0 {
			near(t, "parts of phase "+p.NativeID, sumParts(p.Parts), p.CostS.V)
		}
	}
}

func sumParts(parts []LostPart) float64 {
	s := 0.0
	for _, p := range parts {
		s += p.LostS
	}
	return s
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-5*math.Max(1, math.Abs(want)) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Every query in a report runs on its store.
func TestQueriesRun(t *testing.T) {
	eng := reporttest.Labelled(t, "mixed", "recompute")
	d := built(t, eng)
	sqls := []string{d.Trust.Applications.SQL, d.Trust.Ingests.SQL, d.Trust.Caveats.SQL, d.Trust.Rejects.SQL, d.Cost.Jobs.SQL, d.Whatif.Savings.SQL,
		d.Phases.SQL, d.Outliers.SQL, d.Machines.List.SQL}
	for _, o := range d.Outliers.Rows {
		sqls = append(sqls, o.SQL)
	}
	for _, l := range d.Timelines {
		sqls = append(sqls, l.SQL)
	}
	for _, a := range d.Advice {
		if a.SQL != "" {
			sqls = append(sqls, a.SQL)
		}
	}
	for _, sql := range sqls {
		rows, err := eng.Query(context.Background(), sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		for rows.Next() {
		}
		if rows.Err() != nil {
			t.Errorf("%s: %v", sql, rows.Err())
		}
		rows.Close()
	}
}

// A report can be restricted to one application; an unknown one is an error that says how to list the known ones.
func TestOneApplication(t *testing.T) {
	eng := reporttest.Labelled(t, "mixed", "skew")
	all := built(t, eng)
	if all.Trust.Counts.Applications != 2 {
		t.Fatalf("%d applications", all.Trust.Counts.Applications)
	}
	one, err := Build(context.Background(), eng, Options{Apps: selection.Applications{Named: "skew"}})
	reporttest.Check(t, err)
	if one.Trust.Counts.Applications != 1 || one.Trust.Applications.Rows[0].Name.V != "skew" {
		t.Errorf("asked for skew, got %+v", one.Trust.Applications.Rows)
	}
	for _, o := range one.Outliers.Rows {
		if o.ApplicationID != one.Trust.Applications.Rows[0].ApplicationID {
			t.Errorf("outlier %s is of another application", o.NativeID)
		}
	}
	if one.Cost.Loss.LostS.V >= all.Cost.Loss.LostS.V {
		t.Errorf("one application lost %v, both %v", one.Cost.Loss.LostS.V, all.Cost.Loss.LostS.V)
	}
	if _, err := Build(context.Background(), eng, Options{Apps: selection.Applications{Named: "x' OR 1=1 --"}}); !errors.Is(err, selection.ErrNone) {
		t.Errorf("unknown application: %v", err)
	}
}

// The report on logs with a known fault describes the fault. (truth.json of each scenario names it.)
func TestAdviceNamesTheFault(t *testing.T) {
	for name, rule := range map[string]string{"bad-machine": "drain_machine", "skew": "split_partition", "transient": "speculate", "recompute": "keep_outputs",
		"network-up": "fix_network", "gc": "give_memory", "clean": "nothing"} {
		t.Run(name, func(t *testing.T) {
			d := built(t, reporttest.Labelled(t, name))
			if d.Advice[0].Rule != rule {
				t.Errorf("the first advice is %s (%s), want %s", d.Advice[0].Rule, d.Advice[0].Title, rule)
			}
		})
	}
}

// A topology is a list of machines: a report on it alone says that it was read, and what is missing.
func TestMachinesAlone(t *testing.T) {
	m := reporttest.NewTrace()
	m.Applications = nil
	m.Machines = append(m.Machines, schema.Machine{Machine: "node1", Rack: schema.Some("/rack1")},
		schema.Machine{Machine: "node2", Rack: schema.Some("/rack1")})
	d := built(t, reporttest.Stored(t, &m.Trace))
	if want := "No job was read: the logs say only what machines there are, 2 of them."; d.Headline.Trust != want || d.Headline.Sound {
		t.Errorf("%q, want %q", d.Headline.Trust, want)
	}
	if !strings.Contains(d.Machines.List.Note, "2\u00a0machines") || !strings.Contains(d.Advice[0].Title, "list of machines") {
		t.Errorf("machines %q, advice %+v", d.Machines.List.Note, d.Advice)
	}
}

// An empty store, a phase of one task, identical tasks, and tasks of no duration give reports that say so.
func TestLittleData(t *testing.T) {
	verdicts := map[string]string{"nothing": "No task attempt was read", "one task": "No phase has enough tasks", "all alike": "No stragglers",
		"no duration": "No phase has enough tasks", "no times": "No phase has enough tasks"}
	for name, trace := range reporttest.LittleTraces() {
		t.Run(name, func(t *testing.T) {
			d := built(t, reporttest.Stored(t, trace))
			if verdicts[name] == "" || !strings.Contains(d.Headline.Verdict, verdicts[name]) {
				t.Errorf("verdict %q, want %q", d.Headline.Verdict, verdicts[name])
			}
			if len(d.Advice) == 0 {
				t.Error("no advice, not even to do nothing")
			}
		})
	}
}

func built(t testing.TB, eng engine.Engine) *Document {
	t.Helper()
	d, err := Build(context.Background(), eng, Options{})
	reporttest.Check(t, err)
	return d
}

// Tasks that end long after their job according to the log cost it at most its duration, also in replays without a cause.
func TestCostsAreAtMostWhatTheJobTook(t *testing.T) {
	m := reporttest.NewTrace()
	m.Phase(m.Job(0, 5), 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1e6)
	d := built(t, reporttest.Stored(t, &m.Trace))
	known := 0
	for _, c := range d.Cost.Causes {
		for _, s := range []schema.Null[float64]{c.LostS, c.CostS, c.CostHigh, d.Cost.TogetherS} {
			if s.V > 5 {
				t.Errorf("%s cost %v s of the 5 s that the job took", c.Cause, s.V)
			}
		}
		if c.CostS.V > 0 {
			known++
		}
	}
	if known == 0 {
		t.Error("no cause was replayed")
	}
}

// A phase that had not ended has tasks to compare, and none is an outlier: the report does not say that there are too few.
func TestPhaseWithoutEndIsCompared(t *testing.T) {
	m := reporttest.NewTrace()
	m.Phase(m.Job(0, 50), 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1.2)
	m.Trace.Phases[0].FinishTime, m.Trace.Phases[0].Status = schema.Null[schema.Time]{}, schema.RunRunning
	m.Trace.Jobs[0].FinishTime, m.Trace.Jobs[0].Status = schema.Null[schema.Time]{}, schema.RunRunning
	d := built(t, reporttest.Stored(t, &m.Trace))
	if got := d.Headline.Verdict; !strings.HasPrefix(got, "No attempt is an outlier") {
		t.Errorf("headline: %s", got)
	}
	if len(d.Advice) != 1 || d.Advice[0].Title != "Nothing to advise: no attempt is an outlier" {
		t.Errorf("advice: %+v", d.Advice)
	}
	if !strings.Contains(d.Cost.Loss.Note, "does not say when the phases ran") {
		t.Errorf("note: %s", d.Cost.Loss.Note)
	}
}

// The loss of a phase does not determine that of its job if the log gives no times for it: the latter is unknown, not zero.
func TestUndatedPhasesCostUnknown(t *testing.T) {
	m := reporttest.NewTrace()
	job := m.Job(0, 50)
	m.Phase(job, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 40)
	m.Trace.Phases[0].StartTime, m.Trace.Phases[0].FinishTime = schema.Null[schema.Time]{}, schema.Null[schema.Time]{}
	m.Phase(job, 40, 1) // has times, and no tasks to compare
	d := built(t, reporttest.Stored(t, &m.Trace))
	if l := d.Cost.Loss; l.LostS.OK || l.Outliers != 1 {
		t.Errorf("%+v", l)
	}
	if got := d.Advice[len(d.Advice)-1]; !strings.HasSuffix(got.Reason, "the phases ran whose tasks can be compared") {
		t.Errorf("advice: %+v", got)
	}
}

// The rule for stragglers calls tasks slow that read little; unless they also took long, there is no excess to list. Nor is there of a
// recomputation of unknown duration.
func TestListedOutliersHaveExcess(t *testing.T) {
	m := reporttest.NewTrace()
	m.Phase(m.Job(0, 30), 0, 10, 10, 10, 10, 10, 10, 30, 10)
	m.Attempts[7].InputBytes = schema.Some(int64(9))
	again := &m.Attempts[5] // it recomputes an output for an unknown time
	again.Recompute, again.Status, again.FinishTime, again.DurationS = true, schema.UnknownStatus, schema.Null[schema.Time]{}, schema.Null[float64]{}
	again.Quality |= schema.PartialRow
	doc, err := Build(t.Context(), reporttest.Stored(t, &m.Trace), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rows := doc.Outliers.Rows; len(rows) != 1 || rows[0].NativeID != "7" || int64(len(rows)) != doc.Outliers.Total {
		t.Errorf("%d in all, %+v", doc.Outliers.Total, rows)
	}
}
