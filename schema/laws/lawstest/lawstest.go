// Package lawstest has a trace that obeys every law, and faults that each break one.
package lawstest

import (
	"math"

	"straggler/schema"
	"straggler/schema/laws"
)

// Sound returns a small trace that obeys every law: one job of two phases, a retry, a loss and its recomputation.
func Sound() *schema.Trace {
	const app, job, maps, again, reduces = 1, 2, 3, 4, 5
	sec := func(s float64) schema.Null[schema.Time] {
		return schema.Some(schema.Time(1_700_000_000_000_000).Add(s))
	}
	attempt := func(id, phase schema.Key, task int64, number int32, start, finish float64) schema.Attempt {
		return schema.Attempt{
			AttemptID: id, PhaseID: phase, JobID: job, ApplicationID: app, Task: task, Number: number, NativeID: "t",
			Machine: schema.Some("m1"), QueuedTime: sec(0), StartTime: sec(start), FinishTime: sec(finish), DurationS: schema.Some(finish - start),
			Status: schema.Success, Speculative: schema.Some(false), Locality: schema.Some(schema.NodeLocal),
			InputBytes: schema.Some[int64](100), LocalBytes: schema.Some[int64](40), RemoteBytes: schema.Some[int64](60),
			CrossRackBytes:  schema.Some[int64](60),
			SchedulerDelayS: schema.Some(0.1), DeserializeS: schema.Some(0.1), ResultS: schema.Some(0.0),
		}
	}
	failed := attempt(10, maps, 0, 0, 0, 1)
	failed.Status, failed.Reason = schema.Failed, schema.Some("disk full")
	running := attempt(14, reduces, 1, 0, 4, 5)
	running.Status, running.FinishTime, running.DurationS = schema.Running, schema.Null[schema.Time]{}, schema.Null[float64]{}
	phase := func(id schema.Key, native string, number int32, tasks int64, start, finish float64) schema.Phase {
		return schema.Phase{PhaseID: id, JobID: job, NativeID: native, Attempt: number, Kind: "map", TaskCount: schema.Some(tasks),
			SubmitTime: sec(start), StartTime: sec(start), FinishTime: sec(finish), Status: schema.RunSucceeded}
	}
	edge := func(from, to schema.Key) schema.Edge {
		return schema.Edge{JobID: job, FromPhase: from, ToPhase: to, Pattern: schema.AllToAll, Barrier: true}
	}
	redo := phase(again, "0", 1, 1, 3, 4)
	redo.Recompute = true
	return &schema.Trace{
		Applications: []schema.Application{{ApplicationID: app, NativeID: "app", Framework: "spark", StartTime: sec(0),
			FinishTime: sec(6), Status: schema.RunSucceeded, Complete: true, TimeOrigin: "epoch"}},
		Settings: []schema.Setting{{ApplicationID: app, Name: "spark.speculation", Value: "false"},
			{ApplicationID: app, Name: "spark.task.cpus", Value: "1"}},
		Caveats: []schema.Caveat{{ApplicationID: app, Code: "no_rack", Detail: "the log has no racks"}},
		Jobs: []schema.Job{{JobID: job, ApplicationID: app, NativeID: "0", SubmitTime: sec(0), StartTime: sec(0),
			FinishTime: sec(6), Status: schema.RunSucceeded}},
		Phases: []schema.Phase{phase(maps, "0", 0, 2, 0, 3), redo, phase(reduces, "1", 0, 2, 3, 6)},
		Edges:  []schema.Edge{edge(maps, reduces), edge(again, reduces)},
		Attempts: []schema.Attempt{failed, attempt(11, maps, 0, 1, 1, 3), attempt(12, maps, 1, 0, 0, 2),
			attempt(13, reduces, 0, 0, 3, 6), running, attempt(15, again, 1, 0, 3, 4)},
		Machines: []schema.Machine{{ApplicationID: schema.Some[schema.Key](app), Machine: "m1", Executor: schema.Some("1"),
			Slots: schema.Some[int64](2), AddedTime: sec(0), RemovedTime: sec(3)}},
		MachineUsage: []schema.MachineUsage{{Machine: "m1", Time: sec(0).V, WindowS: schema.Some(300.0), CPU: schema.Some(0.5)}},
		Progress:     []schema.Progress{{AttemptID: 13, Time: sec(4).V, Progress: 0.3, Source: schema.Reported}},
		Losses: []schema.Loss{{PhaseID: maps, Task: 1, AttemptID: schema.Some[schema.Key](12), Machine: schema.Some("m1"),
			Time: sec(3), RecomputedBy: schema.Some[schema.Key](15)}},
		Transfers:     []schema.Transfer{{PhaseID: reduces, Task: 0, SourceMachine: schema.Some("m1"), Bytes: 60}},
		Queries:       []schema.Query{{QueryID: 30, ApplicationID: app, NativeID: "0", StartTime: sec(0), FinishTime: sec(6), Status: schema.RunSucceeded}},
		QuerySettings: []schema.QuerySetting{{QueryID: 30, Name: "spark.sql.shuffle.partitions", Value: "20"}},
		QueryJobs:     []schema.QueryJob{{QueryID: 30, JobID: job}},
		PlanNodes: []schema.PlanNode{{NodeID: 31, QueryID: 30, Plan: schema.FinalPlan, Kind: schema.AggregateNode,
			Operator: "HashAggregate", Engine: schema.SparkEngine},
			{NodeID: 32, QueryID: 30, Plan: schema.FinalPlan, Position: 1, ParentID: schema.Some[schema.Key](31),
				Kind: schema.ScanNode, Operator: "Scan", Engine: schema.SparkEngine}},
		NodeMetrics:  []schema.NodeMetric{{QueryID: 30, NodeID: schema.Some[schema.Key](31), Name: "number of output rows", Value: 3, Unit: schema.UnitCount}},
		NodePhases:   []schema.NodePhase{{QueryID: 30, NodeID: 31, PhaseID: maps, Role: schema.NodeRuns, Basis: schema.ByAccumulators}},
		NodeAttempts: []schema.NodeAttempt{{AttemptID: 11, NodeID: 31, Name: "number of output rows", Value: 2, Unit: schema.UnitCount}},
		Rejects:      []schema.Reject{{SourceFile: "log", Line: schema.Some[int64](3), Reason: "no JSON", Sample: "x"}},
	}
}

// Fault breaks a law of a sound trace.
type Fault struct {
	Name          string
	Make          func(*schema.Trace)
	Table, Column string
	Law           laws.Law
}

// Faults returns at least one fault for every law.
func Faults() []Fault {
	return []Fault{
		{"attempt key twice", func(t *schema.Trace) { t.Attempts[0].AttemptID = 14 }, "attempts", "attempt_id", laws.UniqueKey},
		{"application key twice", func(t *schema.Trace) { t.Applications = append(t.Applications, t.Applications[0]) },
			"applications", "application_id", laws.UniqueKey},
		{"key zero", func(t *schema.Trace) { t.Attempts[0].AttemptID = 0 }, "attempts", "attempt_id", laws.PositiveKey},
		{"no such application", func(t *schema.Trace) { t.Caveats[0].ApplicationID = 99 }, "caveats", "application_id", laws.KnownKey},
		{"no such phase in an edge", func(t *schema.Trace) { t.Edges[0].FromPhase = 99 }, "edges", "from_phase", laws.KnownKey},
		{"no such phase of an attempt", func(t *schema.Trace) { t.Attempts[0].PhaseID = 99 }, "attempts", "phase_id", laws.KnownKey},
		{"no such attempt in progress", func(t *schema.Trace) { t.Progress[0].AttemptID = 99 }, "progress", "attempt_id", laws.KnownKey},
		{"nullable reference", func(t *schema.Trace) { t.Losses[0].DetectedBy = schema.Some[schema.Key](99) }, "losses", "detected_by", laws.KnownKey},
		{"nullable machine reference", func(t *schema.Trace) { t.Machines[0].ApplicationID = schema.Some[schema.Key](99) },
			"machines", "application_id", laws.KnownKey},
		{"no such operator", func(t *schema.Trace) { t.NodePhases[0].NodeID = 99 }, "node_phases", "node_id", laws.KnownKey},
		{"setting of a query twice", func(t *schema.Trace) { t.QuerySettings = append(t.QuerySettings, t.QuerySettings[0]) },
			"query_settings", "name", laws.SettingOnce},
		{"operator before its reader", func(t *schema.Trace) { t.PlanNodes[1].Position = 0 }, "plan_nodes", "parent_id", laws.PlanOrder},
		{"operator of another plan", func(t *schema.Trace) { t.PlanNodes[1].Plan = schema.InitialPlan }, "plan_nodes", "parent_id", laws.PlanOrder},
		{"initial operator placed", func(t *schema.Trace) {
			t.PlanNodes[0].Plan, t.PlanNodes[1].Plan = schema.InitialPlan, schema.InitialPlan
		}, "node_phases", "node_id", laws.PlanOrder},
		{"status not a word", func(t *schema.Trace) { t.Attempts[0].Status = "Success" }, "attempts", "status", laws.ListedValue},
		{"empty status", func(t *schema.Trace) { t.Jobs[0].Status = "" }, "jobs", "status", laws.ListedValue},
		{"locality not a word", func(t *schema.Trace) { t.Attempts[0].Locality = schema.Some[schema.Locality]("NODE_LOCAL") },
			"attempts", "locality", laws.ListedValue},
		{"pattern not a word", func(t *schema.Trace) { t.Edges[0].Pattern = "shuffle" }, "edges", "pattern", laws.ListedValue},
		{"negative size", func(t *schema.Trace) { t.Attempts[0].SpillBytes = schema.Some[int64](-1) }, "attempts", "spill_bytes", laws.NonNegative},
		{"negative seconds", func(t *schema.Trace) { t.Attempts[0].GCS = schema.Some(-0.1) }, "attempts", "gc_s", laws.NonNegative},
		{"NaN", func(t *schema.Trace) { t.Attempts[0].CPUS = schema.Some(math.NaN()) }, "attempts", "cpu_s", laws.NonNegative},
		{"infinite", func(t *schema.Trace) { t.Attempts[0].CPUS = schema.Some(math.Inf(1)) }, "attempts", "cpu_s", laws.NonNegative},
		{"negative task", func(t *schema.Trace) { t.Attempts[0].Task = -1; t.Phases[0].TaskCount.V = 3 }, "attempts", "task", laws.NonNegative},
		{"negative number", func(t *schema.Trace) { t.Attempts[0].Number = -1 }, "attempts", "number", laws.NonNegative},
		{"fraction over 1", func(t *schema.Trace) { t.MachineUsage[0].CPU = schema.Some(50.0) }, "machine_usage", "cpu", laws.Fraction},
		{"not UTF-8", func(t *schema.Trace) { t.Jobs[0].Name = schema.Some("caf\xe9") }, "jobs", "name", laws.Text},
		{"undeclared quality bit", func(t *schema.Trace) { t.Attempts[0].Quality = schema.GangMember << 1 }, "attempts", "quality", laws.Mask},
		{"application ends before it starts",
			func(t *schema.Trace) { t.Applications[0].FinishTime = schema.Some(schema.Time(0)) }, "applications", "finish_time", laws.Order},
		{"phase starts before it is submitted", func(t *schema.Trace) { t.Phases[0].SubmitTime.V++ }, "phases", "start_time", laws.Order},
		{"attempt starts before it is queued", func(t *schema.Trace) { t.Attempts[0].QueuedTime.V++ }, "attempts", "start_time", laws.Order},
		{"job ends before it starts", func(t *schema.Trace) {
			t.Jobs[0].SubmitTime.OK = false
			t.Jobs[0].FinishTime.V = t.Jobs[0].StartTime.V - 1
		}, "jobs", "finish_time", laws.Order},
		{"machine removed before it is added", func(t *schema.Trace) { t.Machines[0].RemovedTime = schema.Some(schema.Time(0)) },
			"machines", "removed_time", laws.Order},
		{"duration a microsecond off", func(t *schema.Trace) { t.Attempts[0].DurationS.V += 1e-6 }, "attempts", "duration_s", laws.Duration},
		{"duration unknown", func(t *schema.Trace) { t.Attempts[0].DurationS.OK = false }, "attempts", "duration_s", laws.Duration},
		{"duration without a finish", func(t *schema.Trace) { t.Attempts[4].DurationS = schema.Some(1.0) }, "attempts", "duration_s", laws.Duration},
		{"running and finished", func(t *schema.Trace) { t.Attempts[0].Status = schema.Running }, "attempts", "finish_time", laws.StillRunning},
		{"job running and finished", func(t *schema.Trace) { t.Jobs[0].Status = schema.RunRunning }, "jobs", "finish_time", laws.StillRunning},
		{"attempt before its phase", func(t *schema.Trace) { p := &t.Phases[2]; p.StartTime.V++ }, "attempts", "start_time", laws.Window},
		{"attempt after its phase", func(t *schema.Trace) { t.Phases[1].FinishTime.V-- }, "attempts", "finish_time", laws.Window},
		{"progress after its attempt", func(t *schema.Trace) { t.Progress[0].Time += 10e6 }, "progress", "time", laws.Window},
		{"task beyond the count", func(t *schema.Trace) { t.Attempts[3].Task = 2 }, "attempts", "task", laws.TaskIndex},
		{"more tasks than planned", func(t *schema.Trace) { t.Phases[1].TaskCount.V = 0 }, "phases", "task_count", laws.TaskIndex},
		{"number twice", func(t *schema.Trace) { t.Attempts[1].Number = 0 }, "attempts", "number", laws.AttemptNumber},
		{"local and remote over input", func(t *schema.Trace) { t.Attempts[0].LocalBytes.V++ }, "attempts", "input_bytes", laws.Bytes},
		{"cross-rack over remote", func(t *schema.Trace) { t.Attempts[0].CrossRackBytes.V++ }, "attempts", "cross_rack_bytes", laws.Bytes},
		{"delay longer than the attempt", func(t *schema.Trace) { t.Attempts[0].SchedulerDelayS.V = 1.01 }, "attempts", "scheduler_delay_s", laws.Part},
		{"collected longer than the attempt ran", func(t *schema.Trace) { t.Attempts[0].GCS = schema.Some(1.01) }, "attempts", "gc_s", laws.Part},
		{"waited longer than the attempt ran", func(t *schema.Trace) { t.Attempts[0].FetchWaitS = schema.Some(1.01) }, "attempts", "fetch_wait_s", laws.Part},
		{"job is not the phase's", func(t *schema.Trace) {
			t.Jobs = append(t.Jobs, t.Jobs[0])
			t.Jobs[1].JobID = 20
			t.Attempts[0].JobID = 20
		}, "attempts", "job_id", laws.Owner},
		{"application is not the job's", func(t *schema.Trace) {
			t.Applications = append(t.Applications, t.Applications[0])
			t.Applications[1].ApplicationID = 20
			t.Attempts[0].ApplicationID = 20
		}, "attempts", "application_id", laws.Owner},
		{"edge of another job", func(t *schema.Trace) {
			t.Jobs = append(t.Jobs, t.Jobs[0])
			t.Jobs[1].JobID, t.Edges[0].JobID = 20, 20
		}, "edges", "to_phase", laws.Owner},
		{"edge twice", func(t *schema.Trace) { t.Edges = append(t.Edges, t.Edges[0]) }, "edges", "to_phase", laws.EdgeOnce},
		{"edge to itself", func(t *schema.Trace) { t.Edges[0].ToPhase = t.Edges[0].FromPhase }, "edges", "from_phase", laws.EdgeOnce},
		{"cycle", func(t *schema.Trace) {
			t.Edges = append(t.Edges, schema.Edge{JobID: 2, FromPhase: 5, ToPhase: 4, Pattern: schema.AllToAll})
		}, "edges", "from_phase", laws.EdgeOnce},
		{"skipped phase with attempts", func(t *schema.Trace) { t.Phases[1].Status = schema.RunSkipped }, "attempts", "phase_id", laws.SkippedPhase},
		{"loss of another attempt's output", func(t *schema.Trace) { t.Losses[0].Task = 0 }, "losses", "attempt_id", laws.LostOutput},
		{"made again by itself", func(t *schema.Trace) { t.Losses[0].RecomputedBy.V = 12; t.Losses[0].Time.OK = false }, "losses",
			"recomputed_by", laws.LostOutput},
		{"made again before it was lost", func(t *schema.Trace) { t.Losses[0].Time.V += 2e6 }, "losses", "recomputed_by", laws.LostOutput},
		{"executor twice", func(t *schema.Trace) { t.Machines = append(t.Machines, t.Machines[0]) }, "machines", "executor", laws.MachineOnce},
		{"setting twice", func(t *schema.Trace) { t.Settings[1].Name = t.Settings[0].Name }, "settings", "name", laws.SettingOnce},
		{"reject without a reason", func(t *schema.Trace) { t.Rejects[0].Reason = "" }, "rejects", "line", laws.RejectSays},
		{"reject of line 0", func(t *schema.Trace) { t.Rejects[0].Line.V = 0 }, "rejects", "line", laws.RejectSays},
	}
}
