package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/engine/enginetest"
	"straggler/report/reporttest"
	"straggler/schema"
)

// In the last of several runs of a program, all tasks of a stage take three times as long. No task is an outlier, but the
// report says which run is slow and in which stage; about similar runs, and fewer than four, it says nothing. A slow run is
// slow whatever comes after it. The date in the name of the program does not matter.
func TestSlowAsAWhole(t *testing.T) {
	stored := func(n, from int, slow float64) engine.Engine {
		var traces []*schema.Trace
		for i := range n {
			f := 1 + 0.02*float64(i%3)
			if i >= from {
				f = slow
			}
			m := reporttest.NewTrace()
			job := m.Job(0, 10+20*f)
			m.Phase(job, 0, slices.Repeat([]float64{10, 10.2, 10.1, 10.3}, 3)...)
			m.Phase(job, 10.3, slices.Repeat([]float64{20 * f, 20.2 * f, 20.4 * f, 20.1 * f}, 3)...)
			a := &m.Applications[0]
			a.NativeID, a.Name = fmt.Sprint("run-", i), schema.Some(fmt.Sprintf("nightly_2026-11-%02d", i+1))
			night := reporttest.Origin.Add(86400 * float64(i))
			a.StartTime, a.FinishTime = schema.Some(night), schema.Some(night.Add(10.3+20.4*f))
			m.Phases[0].Name, m.Phases[1].Name = schema.Some("read"), schema.Some("join")
			cores := "4"
			if f > 2 {
				cores = "2"
			}
			m.Settings = append(m.Settings, schema.Setting{ApplicationID: 1, Name: "spark.executor.cores", Value: cores},
				schema.Setting{ApplicationID: 1, Name: "spark.app.id", Value: fmt.Sprint(i)},
				schema.Setting{ApplicationID: 1, Name: "spark.master", Value: "yarn"})
			join := "BroadcastHashJoin"
			if f > 2 {
				join = "SortMergeJoin"
			}
			m.Queries = append(m.Queries, schema.Query{QueryID: 1, ApplicationID: 1, NativeID: "0",
				Description: schema.Some("by region"), Status: schema.RunSucceeded,
				PlanFingerprint: schema.Some("plan of " + join), Shape: schema.Some("shape")})
			executor := schema.Machine{ApplicationID: schema.Some(schema.Key(100*(i+1) + 1)), Machine: "m1",
				Executor: schema.Some("1"), Slots: schema.Some(int64(2))}
			m.Machines = append(m.Machines, executor)
			if executor.Executor.V = "2"; f > 2 { // present for a quarter of the time
				begun, ended := m.Phases[0].StartTime.V, m.Phases[1].FinishTime.V
				executor.RemovedTime = schema.Some(begun.Add(ended.Sub(begun) / 4))
			}
			m.Machines = append(m.Machines, executor)
			m.PlanNodes = append(m.PlanNodes,
				schema.PlanNode{NodeID: 1, QueryID: 1, Plan: schema.FinalPlan, Kind: schema.JoinNode, Operator: join, Fingerprint: "join"})
			// the second stage reads two of one file system
			for k, path := range []string{"s3a://lake/items", "hdfs://nn:8020/sales/day=1", "hdfs://nn:8020/sales/day=2"} {
				node := schema.Key(2 + k)
				m.PlanNodes = append(m.PlanNodes,
					schema.PlanNode{NodeID: node, QueryID: 1, Plan: schema.FinalPlan, Position: int32(1 + k), Kind: schema.ScanNode, Operator: "Scan",
						Path: schema.Some(path), Fingerprint: path})
				m.NodePhases = append(m.NodePhases,
					schema.NodePhase{QueryID: 1, NodeID: node, PhaseID: m.Phases[min(k, 1)].PhaseID, Role: schema.NodeRuns, Basis: schema.ByAccumulators})
			}
			for k := range m.Attempts {
				a := &m.Attempts[k]
				a.StartTime.V, a.FinishTime.V = a.StartTime.V.Add(86400*float64(i)), a.FinishTime.V.Add(86400*float64(i))
				a.CPUS, a.FetchWaitS = schema.Some(1.0), schema.Some(max(0, a.DurationS.V-2))
			}
			enginetest.Shift(&m.Trace, schema.Key(100*(i+1)))
			traces = append(traces, &m.Trace)
		}
		return reporttest.Stored(t, traces...)
	}
	runs := func(n, from int, slow float64) *Document { return built(t, stored(n, from, slow)) }
	eng := stored(6, 5, 3)
	d := built(t, eng)
	if len(d.SlowRuns.Rows) != 1 || d.SlowRuns.Rows[0].NativeID != "run-5" || d.SlowRuns.Rows[0].Runs != 5 {
		t.Fatalf("slow runs %+v", d.SlowRuns.Rows)
	}
	if s := d.SlowRuns.Rows[0].Stages; len(s) != 1 || s[0].Stage != "join" || s[0].Outliers.V != 0 || s[0].MedianS < 2.8*s[0].UsualS {
		t.Errorf("slow stages %+v", s)
	}
	for _, want := range []string{"run-5 took", "of nightly_* (5\u00a0earlier runs)", "tasks of join", "none of them is an outlier"} {
		if !strings.Contains(d.Headline.Verdict, want) {
			t.Errorf("%q does not say %q", d.Headline.Verdict, want)
		}
	}
	if c := d.SlowRuns.Rows[0].Changed; len(c) != 1 || c[0].Name != "spark.executor.cores" || c[0].Was != "4" || c[0].Value.V != "2" || c[0].Runs != 5 {
		t.Errorf("changed settings %+v", c)
	}
	if p := d.SlowRuns.Rows[0].Points; len(p) != 6 || p[5].TookS < 2*p[0].TookS {
		t.Errorf("points %+v", p)
	}
	words := strings.Join(d.SlowRuns.Rows[0].Words, " ")
	for _, want := range []string{"Tasks of join took", "they waited", "for their input, usually", "The setting spark.executor.cores is 2; it was 4 in all 5\u00a0earlier runs",
		"The query by region (0) was run with another plan than in all 5\u00a0earlier runs: BroadcastHashJoin 0 instead of 1 and SortMergeJoin 1 instead of 0",
		"their stage, join: 12 of 12", "their stages read from the file system hdfs://nn:8020",
		"24 tasks had 2.5 slots, usually 24 tasks 4: they queued", "waited for input from other machines"} {
		if !strings.Contains(words, want) {
			t.Errorf("%q does not say %q", words, want)
		}
	}
	var started []string // of the 71.5 s the second stage's tasks started after 10.3 s, in the third sixteenth
	b := &builder{ctx: t.Context(), eng: eng}
	reporttest.Check(t, b.pick("report_slow_apps", "application_id", []schema.Key{d.SlowRuns.Rows[0].ApplicationID}))
	reporttest.Check(t, readStore(b, "shared_tasks", func(c *sharedCell) error {
		if c.Dimension == "time" {
			started = append(started, fmt.Sprint(c.Value, ": ", c.Slow, " of ", c.Tasks))
		}
		return nil
	}))
	if !slices.Equal(started, []string{"0: 0 of 12", "2: 12 of 12"}) {
		t.Errorf("slow tasks by the sixteenth of the run in which they started: %v", started)
	}
	if !strings.Contains(d.Headline.Why, "1\u00a0setting changed") {
		t.Errorf("%q does not speak of the setting", d.Headline.Why)
	}
	found := false
	for _, r := range runs(14, 5, 3).SlowRuns.Rows {
		found = found || r.NativeID == "run-5" && r.Runs == 5 && r.UsualS < 35
	}
	if !found {
		t.Error("the first of nine slow runs is not slow once the others have come")
	}
	for what, d := range map[string]*Document{"alike": runs(6, 5, 1.01), "three": runs(3, 2, 3)} {
		if len(d.SlowRuns.Rows) > 0 {
			t.Errorf("%s: slow runs %+v", what, d.SlowRuns.Rows)
		}
	}
}

// Sessions of a shell have its name, but are not runs of one program, however much longer one takes.
func TestSessionsAreNoRuns(t *testing.T) {
	for name, want := range map[string]int{"nightly": 1, "Spark shell": 0, "pyspark-shell": 0, "Thrift JDBC/ODBC Server": 0} {
		var traces []*schema.Trace
		for i := range 6 {
			m := reporttest.NewTrace()
			seconds := 20 + float64(i/5)*100
			m.Phase(m.Job(0, seconds), 0, 10, 10, seconds)
			a := &m.Applications[0]
			night := reporttest.Origin.Add(86400 * float64(i))
			a.NativeID, a.Name, a.StartTime, a.FinishTime = fmt.Sprint("run-", i), schema.Some(name), schema.Some(night), schema.Some(night.Add(seconds))
			enginetest.Shift(&m.Trace, schema.Key(100*(i+1)))
			traces = append(traces, &m.Trace)
		}
		if d := built(t, reporttest.Stored(t, traces...)); len(d.SlowRuns.Rows) != want {
			t.Errorf("%s: %d slow runs, want %d", name, len(d.SlowRuns.Rows), want)
		}
	}
}
