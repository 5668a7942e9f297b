package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/engines"
	"straggler/report/prose"
	"straggler/report/reporttest"
	"straggler/schema"
	"straggler/store"
)

// A text written as a SQL literal is that text to the engine, and nothing between quotes has two readings.
func FuzzQuoteSQL(f *testing.F) {
	for _, s := range []string{"m01", "o'brien", `back\slash`, `\'`, reporttest.Hostile, "", "'", "{}", "?"} {
		f.Add(s)
	}
	st, err := store.Temp(f.Context())
	reporttest.Check(f, err)
	f.Cleanup(func() { st.Close() })
	eng, err := engines.Open(f.Context(), st, engine.Options{Threads: 1})
	reporttest.Check(f, err)
	f.Cleanup(func() { eng.Close() })
	f.Fuzz(func(t *testing.T, s string) {
		sql, ok := quoteSQL(s)
		if !ok {
			return
		}
		if !plainLiterals.MatchString(sql) {
			t.Fatalf("%s is not read alike everywhere", sql)
		}
		for r, err := range engine.Read[struct {
			Text string `col:"t"`
		}](t.Context(), eng, "SELECT "+sql+" AS t") {
			reporttest.Check(t, err)
			if r.Text != s {
				t.Fatalf("%s is %q for the engine, not %q", sql, r.Text, s)
			}
		}
	})
}

// plainLiterals matches quoted texts with neither quotes nor backslashes in them, and character codes.
var plainLiterals = regexp.MustCompile(`^('[^'\\]*'|concat\('[^'\\]*'(, chr\(\d+\)|, '[^'\\]*')*\))$`)

// Collections on one machine are investigated there; on all machines, memory is short.
func TestAdviseGCByPlace(t *testing.T) {
	for _, everywhere := range []bool{false, true} {
		m := reporttest.NewTrace()
		job := m.Job(0, 60)
		for phase := range 5 {
			d := make([]float64, 40)
			for i := range d {
				d[i] = 2 + float64(i%5)/20
			}
			p := m.Phase(job, 12*float64(phase), d...)
			n := 0
			for i := range m.Attempts {
				a := &m.Attempts[i]
				if a.PhaseID != p {
					continue
				}
				a.GCS = schema.Some(0.0)
				if n%8 == 2 && n < 24 || everywhere && n < 8 {
					a.GCS = schema.Some(8.0)
					a.DurationS.V += 8
					a.FinishTime.V = a.FinishTime.V.Add(8)
				}
				n++
			}
		}
		d := built(t, reporttest.Stored(t, &m.Trace))
		i := slices.IndexFunc(d.Advice, func(a Advice) bool { return a.Rule == "give_memory" })
		if i < 0 {
			t.Fatalf("no advice about collections: %+v", d.Advice)
		}
		if a := d.Advice[i]; strings.Contains(a.Title, "m3") == everywhere {
			t.Errorf("everywhere %v: %s", everywhere, a.Title)
		}
	}
}

// If there is no advice, the sentence is complete whatever the log says, possible savings do not exceed what was lost, and
// remedies that may save a lot or nothing are not called worthless.
func TestNothingToDo(t *testing.T) {
	d := func(lost, completion, gain, low float64) *Document {
		var d Document
		d.Trust.Counts.Attempts = 100
		d.Cost.Loss.LostS = schema.Some(lost)
		if completion > 0 {
			d.Cost.Loss.CompletionS, d.Cost.Loss.LostShare = schema.Some(completion), schema.Some(lost/completion)
		}
		d.Cost.Causes = []CauseCost{{Cause: schema.GC, LostS: schema.Some(gain), CostS: schema.Some(gain),
			CostLow: schema.Some(low), CostHigh: schema.Some(2 * gain)}}
		return &d
	}
	for name, c := range map[string]struct {
		doc    *Document
		title  string
		action string
		sure   Confidence
	}{
		"no completion": {d(2, 0, 0.5, 0), "Nothing worth doing about stragglers",
			"Stragglers cost 2.00 s of job time; the log does not say how long the jobs took. All remedies together would save at most 500 ms.", High},
		"more than lost": {d(2, 1000, 5, 0), "Nothing worth doing about stragglers",
			"Stragglers cost 2.00 s of 16.7 min of job time (0.2 %). All remedies together would save at most 2.00 s.", High},
		"much or nothing": {d(40, 100, 30, 0), "No remedy is sure to save anything",
			"Stragglers cost 40.0 s of 100 s of job time (40 %). All remedies together would save at most 30.0 s.", Low},
		"little": {d(40, 100, 0.001, 0.0005), "Nothing worth doing about stragglers",
			"Stragglers cost 40.0 s of 100 s of job time (40 %). All remedies together would save at most 1 ms.", High},
	} {
		got := advise(c.doc, &facts{})[0]
		if got.Title != c.title || strings.ReplaceAll(got.Action, "\u00a0", " ") != c.action || got.Confidence != c.sure {
			t.Errorf("%s: %q, %q, %s", name, got.Title, got.Action, got.Confidence)
		}
	}
}

// If a phase has no end because the log stops in it, the reason for the unknown cost is not that its tasks had no start.
func TestUnknownCost(t *testing.T) {
	var d Document
	d.Trust.Counts.Attempts, d.Trust.Counts.Incomplete = 16, 1
	d.Cost.Loss.Outliers, d.Cost.Loss.ExcessS, d.Cost.Loss.Note = 1, 6.94, phasesUndated
	got := advise(&d, &facts{})[0]
	if got.Title != "Cannot tell what slow tasks cost" || got.Reason != phasesUndated {
		t.Errorf("%q: %s", got.Title, got.Reason)
	}
}

// A log without tasks is not one that could not be read.
func TestNoTask(t *testing.T) {
	var d Document
	d.Trust.Counts.Applications = 1
	for _, c := range []struct {
		incomplete, rejects int64
		want                Kind
	}{{0, 0, Nothing}, {1, 0, CannotTell}, {0, 1, CannotTell}} {
		d.Trust.Counts.Incomplete, d.Trust.Counts.Rejects = c.incomplete, c.rejects
		if got := advise(&d, &facts{}); len(got) != 1 || got[0].Kind != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// For a machine that is as fast as the others overall, the evidence is that of a task that it slowed; for a bad one it is its
// factor.
func TestEvidenceOfASlowSpell(t *testing.T) {
	for _, verdict := range []schema.Verdict{schema.Healthy, schema.Slow} {
		var d Document
		d.Cost.Loss.CompletionS = schema.Some(100.0)
		d.Machines.List.Rows = []Machine{{MachineRow: MachineRow{Machine: "m2", Verdict: verdict, Factor: schema.Some(1.01),
			FactorLow: schema.Some(0.95)}, CostS: schema.Some(20.0)}}
		for _, machine := range []string{"m1", "m2"} {
			o := Outlier{Cause: schema.BadMachine, Words: "Its machine takes 3 times as long."}
			o.Machine, o.Task, o.Phase = schema.Some(machine), 7, machine
			d.Outliers.Rows = append(d.Outliers.Rows, o)
		}
		got := adviseDrain(&known{&d, &facts{}, usualThresholds()})
		if len(got) != 1 || strings.Contains(got[0].Evidence, "task 7 of phase m2 cost most. Its machine takes 3 times") != (verdict == schema.Healthy) {
			t.Errorf("%s: %+v", verdict, got)
		}
	}
}

// Where no machine lost half of the waiting, the one that lost far more than its share is the first to look at.
func TestFirstMachineOfNetwork(t *testing.T) {
	for most, want := range map[float64]string{60: "Check the network link of m2", 46: "Tasks on m2 lost most, 46", 20: ""} {
		var d Document
		d.Cost.Causes = []CauseCost{{Cause: schema.Network, LostS: schema.Some(9.0)}}
		d.Machines.List.Total = 8
		f := &facts{causes: map[schema.Cause]*causeFacts{schema.Network: {n: 23, seconds: 100, most: most, mostN: 11, machine: "m2"}}}
		got := adviseNetwork(&known{&d, f, usualThresholds()})
		if len(got) != 1 || !strings.Contains(got[0].Title+got[0].Action, want) || want == "" && strings.Contains(got[0].Action, "m2") {
			t.Errorf("%g of 100 s: %+v", most, got)
		}
	}
}

// A few verdicts on many machines leave some machine with a large share, by chance.
func TestFirstMachineByChance(t *testing.T) {
	for _, c := range []struct {
		on, of, machines int64
		named            bool
	}{{1, 3, 100, false}, {3, 100, 100, false}, {8, 100, 100, true}, {3, 3, 100, true}, {2, 2, 2, false}, {0, 0, 8, false}} {
		d := Document{}
		d.Machines.List.Total = c.machines
		f := &facts{causes: map[schema.Cause]*causeFacts{schema.Network: {n: c.of, seconds: 100, most: 100 * float64(c.on) / max(1, float64(c.of)),
			mostN: c.on, machine: "m2"}}}
		if machine, _ := (&known{&d, f, usualThresholds()}).firstMachine(schema.Network); (machine != "") != c.named {
			t.Errorf("%d of %d verdicts on one of %d machines: %q", c.on, c.of, c.machines, machine)
		}
	}
}

// Costs that every run has come after the cost of a fault, however much larger they are, unless a setting returns executors
// between jobs.
func TestStartupComesAfterFaults(t *testing.T) {
	var d Document
	d.Trust.Counts.Attempts = 100
	d.Cost.Loss.CompletionS, d.Cost.Loss.LostS = schema.Some(100.0), schema.Some(20.0)
	for _, c := range []struct {
		cause schema.Cause
		lost  float64
	}{{schema.Startup, 15}, {schema.GC, 5}} {
		d.Cost.Causes = append(d.Cost.Causes, CauseCost{Cause: c.cause, LostS: schema.Some(c.lost)})
	}
	got := advise(&d, &facts{})
	if len(got) < 2 || got[0].Rule != "give_memory" || got[1].Rule != "keep_executors" {
		t.Errorf("%+v", got)
	}
	allocated := &facts{settings: map[string]schema.Null[string]{"spark.dynamicAllocation.enabled": schema.Some("true")}}
	if got := advise(&d, allocated); len(got) < 2 || got[0].Rule != "keep_executors" {
		t.Errorf("with dynamic allocation: %+v", got)
	}
	d.Cost.Causes = d.Cost.Causes[:1]
	if got := advise(&d, &facts{}); len(got) < 1 || got[0].Rule != "keep_executors" {
		t.Errorf("alone: %+v", got)
	}
}

// A partition of a few hundred bytes is not worth splitting, however long its task took; one of 100 KiB, or of unknown size,
// is.
func TestSplitOnlyWhatIsLarge(t *testing.T) {
	for _, c := range []struct {
		bytes schema.Null[int64]
		split bool
	}{{schema.Some[int64](667), false}, {schema.Some[int64](100 << 10), true}, {schema.Null[int64]{}, true}} {
		var d Document
		o := Outlier{}
		o.CostS, o.ExcessS, o.InputBytes = schema.Some(5.0), schema.Some(5.0), c.bytes
		o.Causes = []Attribution{{AttributionRow: AttributionRow{Cause: schema.DataSkew, Seconds: 5}}}
		d.Outliers.Rows = []Outlier{o}
		if got := adviseSkew(&known{&d, &facts{}, usualThresholds()}); len(got) > 0 != c.split {
			t.Errorf("%v bytes: %+v", c.bytes, got)
		}
	}
}

// Tasks of a workflow are programs that read files: no key can be salted, and nothing is shuffled.
func TestWorkflowsHaveNoKeys(t *testing.T) {
	for framework, keys := range map[string]bool{"spark": true, "mapreduce": true, "canonical": true, "nextflow": false, "workflow": false} {
		var d Document
		d.Trust.Applications.Rows = make([]Application, 1)
		d.Trust.Applications.Rows[0].Framework = framework
		d.Trust.Applications.Total = 1
		o := Outlier{}
		o.Task, o.CostS, o.ExcessS, o.InputBytes = 7, schema.Some(5.0), schema.Some(5.0), schema.Some(int64(1<<30))
		o.Causes = []Attribution{{AttributionRow: AttributionRow{Cause: schema.DataSkew, Seconds: 5}}}
		d.Outliers.Rows = []Outlier{o}
		got := adviseSkew(&known{&d, &facts{}, usualThresholds()})
		if len(got) != 1 || strings.Contains(got[0].Action, "key") != keys || strings.Contains(got[0].Title, "partition") != keys {
			t.Errorf("%s: %+v", framework, got)
		}
	}
}

// The tasks of a phase that reads no other phase have no key that could be salted, and nothing is shuffled before them.
func TestStoredInputHasNoKeys(t *testing.T) {
	for stored, keys := range map[schema.Null[bool]]bool{{}: true, schema.Some(false): true, schema.Some(true): false} {
		var d Document
		d.Trust.Applications.Rows = make([]Application, 1)
		d.Trust.Applications.Rows[0].Framework = "spark"
		d.Trust.Applications.Total = 1
		o := Outlier{}
		o.Task, o.CostS, o.ExcessS, o.StoredInput = 7, schema.Some(5.0), schema.Some(5.0), stored
		o.Causes = []Attribution{{AttributionRow: AttributionRow{Cause: schema.DataSkew, Seconds: 5,
			Evidence: `{"predictor":"input_bytes","value":9e6,"median":1e6,"unit":"bytes"}`}}}
		d.Outliers.Rows = []Outlier{o}
		got := adviseSkew(&known{&d, &facts{settings: map[string]schema.Null[string]{"spark.sql.adaptive.enabled": schema.Some("false")}}, usualThresholds()})
		if len(got) != 1 || strings.Contains(got[0].Action, "key") != keys || strings.Contains(got[0].Title, "partition") != keys ||
			len(got[0].Settings) > 0 != keys {
			t.Errorf("stored %+v: %+v", stored, got)
		}
	}
}

// copiesTried returns a report on an application of Spark that lost 32 s, of which so many to transient slowness, and in whose
// replay Spark's copies save 10 s.
func copiesTried(lost float64, saving SavingRow) Document {
	saving.Policy, saving.SavingS, saving.Parameters = "spark", schema.Some(10.0), `{}`
	var d Document
	d.Trust.Counts.Attempts = 300
	d.Trust.Applications.Rows = make([]Application, 1)
	d.Trust.Applications.Rows[0].Framework = "spark"
	d.Trust.Applications.Total = 1
	d.Cost.Loss.LostS, d.Cost.Loss.CompletionS = schema.Some(32.0), schema.Some(92.0)
	d.Cost.Causes = []CauseCost{{Cause: schema.Transient, LostS: schema.Some(lost)}}
	d.Whatif.Savings.Rows = []Saving{{SavingRow: saving}}
	return d
}

// Where most time was lost to transient slowness, and runs differ by more than a replay of copies saves, the report says that it
// cannot tell. It does not where little was lost to it.
func TestCopiesThatMaySaveNothing(t *testing.T) {
	for lost, want := range map[float64]int{21: 1, 0.4: 0} {
		d := copiesTried(lost, SavingRow{SavingLow: schema.Some(-50.0), SavingHigh: schema.Some(70.0), Verdict: schema.Unclear})
		n := 0
		for _, a := range advise(&d, &facts{}) {
			if a.Rule == "speculate" {
				if n++; a.Kind != CannotTell || !strings.Contains(a.Action, "saves 10.0") || len(a.Settings) == 0 {
					t.Errorf("%g s lost: %+v", lost, a)
				}
			}
		}
		if n != want {
			t.Errorf("%g s lost: %d advices about copies, want %d", lost, n, want)
		}
	}
}

// Where copies save on this run, and less than runs differ by, the advice is to run them, and says why a single run will not show
// it. Where the replay's own error is as large as the saving, nothing is said for sure.
func TestCopiesThatSaveLessThanRunsDiffer(t *testing.T) {
	for verdict, want := range map[schema.SavingVerdict]Kind{schema.Unclear: Act, schema.CannotTell: CannotTell} {
		d := copiesTried(21, SavingRow{SavingLow: schema.Some(-5.0), SavingHigh: schema.Some(25.0),
			ThisRunLow: schema.Some(8.0), ThisRunHigh: schema.Some(12.0), Verdict: verdict})
		got := advise(&d, &facts{})
		if len(got) == 0 || got[0].Rule != "speculate" || got[0].Kind != want {
			t.Errorf("%s: %+v", verdict, got)
			continue
		}
		if want == Act && (got[0].GainLow.V != 8 || got[0].GainHigh.V != 12 || got[0].Confidence != Medium) {
			t.Errorf("%+v", got[0])
		}
		said := strings.ReplaceAll(got[0].Evidence, prose.NBSP, " ")
		for _, words := range []string{"On this run copies would have saved 10.0 s, 95 % interval 8.00 s to 12.0 s.", "from 5.00 s more to 25.0 s less than this one",
			"a single run with copies may well be slower"} {
			if strings.Contains(said, words) != (want == Act || !strings.Contains(words, "slower")) {
				t.Errorf("%s: %q: %s", verdict, words, said)
			}
		}
	}
}

// Savings of a store that an earlier version wrote lack the interval for the run of the log: the advice goes by the interval that
// there is, and nothing is said of this run.
func TestSavingsWithoutThisRun(t *testing.T) {
	for low, want := range map[float64]Kind{1.6: Act, -5: CannotTell} {
		s := Saving{SavingRow: SavingRow{Policy: "spark", SavingS: schema.Some(10.0), SavingLow: schema.Some(low),
			SavingHigh: schema.Some(25.0), Verdict: schema.Unclear, Parameters: `{}`}}
		if s.LessThanRunsDiffer() || s.Outlook("copies") != "" {
			t.Errorf("without the interval: %q", s.Outlook("copies"))
		}
		var d Document
		d.Trust.Applications.Rows = []Application{{}}
		d.Trust.Applications.Rows[0].Framework = "spark"
		d.Cost.Loss.LostS, d.Cost.Loss.CompletionS = schema.Some(32.0), schema.Some(92.0)
		d.Cost.Causes = []CauseCost{{Cause: schema.Transient, LostS: schema.Some(21.0)}}
		d.Whatif.Savings.Rows = []Saving{s}
		got := adviseSpeculation(&known{&d, &facts{}, usualThresholds()})
		if len(got) != 1 || got[0].Kind != want || strings.Contains(got[0].Evidence, "On this run") || strings.HasPrefix(got[0].Evidence, " ") {
			t.Errorf("from %g: %+v", low, got)
		}
		if want == Act && got[0].GainLow.V != low {
			t.Errorf("from %g: the gain is from %g", low, got[0].GainLow.V)
		}
	}
}

// The time that another run takes, for intervals of savings on either side of 0, and without width.
func TestBetween(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{{2, 3, "2.00 s to 3.00 s less"}, {-3, -2, "2.00 s to 3.00 s more"}, {-3, 2, "from 3.00 s more to 2.00 s less"}, {2, 2, "2.00 s less"}, {-2, -2, "2.00 s more"}} {
		if got := strings.ReplaceAll(between(c.low, c.high), prose.NBSP, " "); got != c.want {
			t.Errorf("%g to %g: %q, want %q", c.low, c.high, got, c.want)
		}
	}
}

// If copies ran already, the saving of earlier ones is that of a replay of Spark's speculation, and not the whole cost of
// transient slowness.
func TestEarlierCopiesSaveWhatAReplaySays(t *testing.T) {
	var d Document
	d.Trust.Applications.Rows = []Application{{}}
	d.Trust.Applications.Rows[0].Framework = "spark"
	d.Cost.Causes = []CauseCost{{Cause: schema.Transient, LostS: schema.Some(7.5), CostS: schema.Some(15.3),
		CostLow: schema.Some(0.1), CostHigh: schema.Some(19.5)}}
	d.Whatif.Savings.Rows = []Saving{{SavingRow: SavingRow{Policy: "spark", SavingS: schema.Some(5.0),
		SavingLow: schema.Some(1.6), SavingHigh: schema.Some(8.4), Verdict: schema.Saves, Parameters: `{"quantile":0.5}`}}}
	got := adviseSpeculation(&known{&d, &facts{copies: 22, wins: 17}, usualThresholds()})
	if len(got) != 1 || got[0].GainS.V != 5 || got[0].GainLow.V != 1.6 || got[0].Title != "Run copies of slow tasks earlier" {
		t.Errorf("%+v", got)
	}
}

// A partition that several attempts read is evidence once, by the attempt that ranks first: two figures for one task contradict
// each other.
func TestSkewEvidenceOncePerPartition(t *testing.T) {
	skewed := func(task int64, number int32, s float64) *Outlier {
		o := &Outlier{}
		o.Task, o.Number, o.ExcessS = task, number, schema.Some(s)
		o.Causes = []Attribution{{AttributionRow: AttributionRow{Cause: schema.DataSkew, Seconds: s}, Words: "read 6× the median bytes"}}
		return o
	}
	got := skewEvidence([]*Outlier{skewed(71, 0, 9.8), skewed(71, 1, 6), skewed(88, 0, 5.7)})
	want := "Task 71 read 6× the median bytes: all of its 9.80 s excess. Task 88 read 6× the median bytes: all of its 5.70 s excess."
	if strings.ReplaceAll(got, prose.NBSP, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Evidence of a cause says whose it is.
func TestEvidenceNamesItsTask(t *testing.T) {
	var d Document
	d.Trust.Applications.Total = 2
	o := Outlier{Words: "Took 4.7 times as long as predicted."}
	o.Phase, o.Task, o.Application, o.Cause = "4", 88, "app-1", schema.Transient
	d.Outliers.Rows = []Outlier{o}
	got := (&known{&d, &facts{}, usualThresholds()}).words(schema.Transient)
	if want := "Task 88 of phase 4 in app-1: took 4.7 times as long as predicted."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Advice about a cause names a task as evidence, and its query returns the tasks; about lost outputs it returns these if the log has
// any.
func TestEvidenceOfCauses(t *testing.T) {
	for c, apply := range map[schema.Cause]func(*known, *Advice){schema.Recompute: adviseRecompute, schema.LocalityMiss: adviseLocality,
		schema.GC: adviseGC, schema.Startup: adviseStartup} {
		var d Document
		d.Trust.Applications.Total = 1
		d.Cost.Causes = []CauseCost{{Cause: c, LostS: schema.Some(9.0)}}
		o := Outlier{Words: "Waited."}
		o.Phase, o.Task, o.Cause = "4", 88, c
		d.Outliers.Rows = []Outlier{o}
		got := ofCause(c, apply)(&known{&d, &facts{}, usualThresholds()})
		if len(got) != 1 || got[0].Evidence != "Task 88 of phase 4: waited." || got[0].SQL != causeSQL(c) {
			t.Errorf("%s: %+v", c, got)
		}
	}
	var d Document
	d.Cost.Causes = []CauseCost{{Cause: schema.Recompute, LostS: schema.Some(9.0)}}
	got := ofCause(schema.Recompute, adviseRecompute)(&known{&d, &facts{losses: []machineLosses{{Machine: "m2", Losses: 3}}}, usualThresholds()})
	if len(got) != 1 || got[0].Evidence != "3"+prose.NBSP+"outputs lost on m2." || !strings.Contains(got[0].SQL, "FROM losses") {
		t.Errorf("%+v", got)
	}
}

// What is slow in one phase, or at times, is not said to be slow on all kinds of tasks.
func TestSlowOnAllTasks(t *testing.T) {
	for _, c := range []struct {
		verdict schema.Verdict
		phases  int64
		all     bool
	}{{schema.Slow, 3, true}, {schema.Slow, 1, false}, {schema.Flaky, 3, false}} {
		var d Document
		d.Machines.List.Rows = []Machine{{MachineRow: MachineRow{Machine: "m2", Verdict: c.verdict, Phases: c.phases, Attempts: 30,
			Factor: schema.Some(2.0), FactorLow: schema.Some(1.8)}, CostS: schema.Some(20.0)}}
		got := adviseDrain(&known{&d, &facts{}, usualThresholds()})
		if len(got) != 1 || strings.Contains(got[0].Action, "all kinds of tasks") != c.all {
			t.Errorf("%s in %d phases: %+v", c.verdict, c.phases, got)
		}
	}
}
