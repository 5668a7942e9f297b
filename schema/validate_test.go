package schema

import (
	"math"
	"slices"
	"testing"
)

// sound is a small trace that obeys every law: one job of two phases, a retry, a loss and its recomputation.
func sound() *Trace {
	const app, job, maps, again, reduces = 1, 2, 3, 4, 5
	sec := func(s float64) Null[Time] { return Some(Time(1_700_000_000_000_000).Add(s)) }
	attempt := func(id, phase Key, task int64, number int32, start, finish float64) Attempt {
		return Attempt{
			AttemptID: id, PhaseID: phase, JobID: job, ApplicationID: app, Task: task, Number: number, NativeID: "t",
			Machine: Some("m1"), QueuedTime: sec(0), StartTime: sec(start), FinishTime: sec(finish), DurationS: Some(finish - start),
			Status: Success, Speculative: Some(false), Locality: Some(NodeLocal),
			InputBytes: Some[int64](100), LocalBytes: Some[int64](40), RemoteBytes: Some[int64](60), CrossRackBytes: Some[int64](60),
			SchedulerDelayS: Some(0.1), DeserializeS: Some(0.1), ResultS: Some(0.0),
		}
	}
	failed := attempt(10, maps, 0, 0, 0, 1)
	failed.Status, failed.Reason = Failed, Some("disk full")
	running := attempt(14, reduces, 1, 0, 4, 5)
	running.Status, running.FinishTime, running.DurationS = Running, Null[Time]{}, Null[float64]{}
	phase := func(id Key, native string, number int32, tasks int64, start, finish float64) Phase {
		return Phase{PhaseID: id, JobID: job, NativeID: native, Attempt: number, Kind: "map", TaskCount: Some(tasks),
			SubmitTime: sec(start), StartTime: sec(start), FinishTime: sec(finish), Status: RunSucceeded}
	}
	redo := phase(again, "0", 1, 1, 3, 4)
	redo.Recompute = true
	return &Trace{
		Applications: []Application{{ApplicationID: app, NativeID: "app", Framework: "spark", StartTime: sec(0), FinishTime: sec(6), Status: RunSucceeded, Complete: true, TimeOrigin: "epoch"}},
		Settings:     []Setting{{app, "spark.speculation", "false"}, {app, "spark.task.cpus", "1"}},
		Caveats:      []Caveat{{ApplicationID: app, Code: "no_rack", Detail: "the log has no racks"}},
		Jobs:         []Job{{JobID: job, ApplicationID: app, NativeID: "0", SubmitTime: sec(0), StartTime: sec(0), FinishTime: sec(6), Status: RunSucceeded}},
		Phases:       []Phase{phase(maps, "0", 0, 2, 0, 3), redo, phase(reduces, "1", 0, 2, 3, 6)},
		Edges:        []Edge{{job, maps, reduces, AllToAll, true}, {job, again, reduces, AllToAll, true}},
		Attempts: []Attempt{failed, attempt(11, maps, 0, 1, 1, 3), attempt(12, maps, 1, 0, 0, 2),
			attempt(13, reduces, 0, 0, 3, 6), running, attempt(15, again, 1, 0, 3, 4)},
		Machines:     []Machine{{ApplicationID: Some[Key](app), Machine: "m1", Executor: Some("1"), Slots: Some[int64](2), AddedTime: sec(0), RemovedTime: sec(3)}},
		MachineUsage: []MachineUsage{{Machine: "m1", Time: *new(Time), WindowS: Some(300.0), CPU: Some(0.5)}},
		Progress:     []Progress{{AttemptID: 13, Time: sec(4).V, Progress: 0.3, Source: Reported}},
		Losses:       []Loss{{PhaseID: maps, Task: 1, AttemptID: Some[Key](12), Machine: Some("m1"), Time: sec(3), RecomputedBy: Some[Key](15)}},
		Transfers:    []Transfer{{PhaseID: reduces, Task: 0, SourceMachine: Some("m1"), Bytes: 60}},
		Rejects:      []Reject{{SourceFile: "log", Line: Some[int64](3), Reason: "no JSON", Sample: "x"}},
	}
}

func TestValidateAcceptsSoundTraces(t *testing.T) {
	for name, trace := range map[string]*Trace{"empty": {}, "sound": sound()} {
		for _, v := range Validate(trace) {
			t.Errorf("%s: %v", name, v)
		}
	}
}

// TestValidateFindsEachFault breaks one law at a time and expects exactly that violation.
func TestValidateFindsEachFault(t *testing.T) {
	cases := []struct {
		name                string
		fault               func(*Trace)
		table, column, rule string
	}{
		{"attempt key twice", func(t *Trace) { t.Attempts[0].AttemptID = 14 }, "attempts", "attempt_id", RuleUnique},
		{"application key twice", func(t *Trace) { t.Applications = append(t.Applications, t.Applications[0]) }, "applications", "application_id", RuleUnique},
		{"key zero", func(t *Trace) { t.Attempts[0].AttemptID = 0 }, "attempts", "attempt_id", RulePositiveKey},
		{"no such application", func(t *Trace) { t.Caveats[0].ApplicationID = 99 }, "caveats", "application_id", RuleReference},
		{"no such phase in an edge", func(t *Trace) { t.Edges[0].FromPhase = 99 }, "edges", "from_phase", RuleReference},
		{"no such phase of an attempt", func(t *Trace) { t.Attempts[0].PhaseID = 99 }, "attempts", "phase_id", RuleReference},
		{"no such attempt in progress", func(t *Trace) { t.Progress[0].AttemptID = 99 }, "progress", "attempt_id", RuleReference},
		{"nullable reference", func(t *Trace) { t.Losses[0].DetectedBy = Some[Key](99) }, "losses", "detected_by", RuleReference},
		{"nullable machine reference", func(t *Trace) { t.Machines[0].ApplicationID = Some[Key](99) }, "machines", "application_id", RuleReference},
		{"status not a word", func(t *Trace) { t.Attempts[0].Status = "Success" }, "attempts", "status", RuleWord},
		{"empty status", func(t *Trace) { t.Jobs[0].Status = "" }, "jobs", "status", RuleWord},
		{"locality not a word", func(t *Trace) { t.Attempts[0].Locality = Some[Locality]("NODE_LOCAL") }, "attempts", "locality", RuleWord},
		{"pattern not a word", func(t *Trace) { t.Edges[0].Pattern = "shuffle" }, "edges", "pattern", RuleWord},
		{"negative size", func(t *Trace) { t.Attempts[0].SpillBytes = Some[int64](-1) }, "attempts", "spill_bytes", RuleNonNegative},
		{"negative seconds", func(t *Trace) { t.Attempts[0].GCS = Some(-0.1) }, "attempts", "gc_s", RuleNonNegative},
		{"NaN", func(t *Trace) { t.Attempts[0].CPUS = Some(math.NaN()) }, "attempts", "cpu_s", RuleNonNegative},
		{"infinite", func(t *Trace) { t.Attempts[0].CPUS = Some(math.Inf(1)) }, "attempts", "cpu_s", RuleNonNegative},
		{"negative task", func(t *Trace) { t.Attempts[0].Task = -1; t.Phases[0].TaskCount.V = 3 }, "attempts", "task", RuleNonNegative},
		{"negative number", func(t *Trace) { t.Attempts[0].Number = -1 }, "attempts", "number", RuleNonNegative},
		{"fraction over 1", func(t *Trace) { t.MachineUsage[0].CPU = Some(50.0) }, "machine_usage", "cpu", RuleFraction},
		{"not UTF-8", func(t *Trace) { t.Jobs[0].Name = Some("caf\xe9") }, "jobs", "name", RuleText},
		{"undeclared quality bit", func(t *Trace) { t.Attempts[0].Quality = GangMember << 1 }, "attempts", "quality", RuleMask},
		{"application ends before it starts", func(t *Trace) { t.Applications[0].FinishTime = Some(Time(0)) }, "applications", "finish_time", RuleOrder},
		{"phase starts before it is submitted", func(t *Trace) { t.Phases[0].SubmitTime.V++ }, "phases", "start_time", RuleOrder},
		{"attempt starts before it is queued", func(t *Trace) { t.Attempts[0].QueuedTime.V++ }, "attempts", "start_time", RuleOrder},
		{"job ends before it starts", func(t *Trace) { t.Jobs[0].SubmitTime.OK = false; t.Jobs[0].FinishTime.V = t.Jobs[0].StartTime.V - 1 }, "jobs", "finish_time", RuleOrder},
		{"machine removed before it is added", func(t *Trace) { t.Machines[0].RemovedTime = Some(Time(0)) }, "machines", "removed_time", RuleOrder},
		{"duration a microsecond off", func(t *Trace) { t.Attempts[0].DurationS.V += 1e-6 }, "attempts", "duration_s", RuleDuration},
		{"duration unknown", func(t *Trace) { t.Attempts[0].DurationS.OK = false }, "attempts", "duration_s", RuleDuration},
		{"duration without a finish", func(t *Trace) { t.Attempts[4].DurationS = Some(1.0) }, "attempts", "duration_s", RuleDuration},
		{"running and finished", func(t *Trace) { t.Attempts[0].Status = Running }, "attempts", "finish_time", RuleRunning},
		{"job running and finished", func(t *Trace) { t.Jobs[0].Status = RunRunning }, "jobs", "finish_time", RuleRunning},
		{"attempt before its phase", func(t *Trace) { p := &t.Phases[2]; p.StartTime.V++ }, "attempts", "start_time", RuleWindow},
		{"attempt after its phase", func(t *Trace) { t.Phases[1].FinishTime.V-- }, "attempts", "finish_time", RuleWindow},
		{"progress after its attempt", func(t *Trace) { t.Progress[0].Time += 10e6 }, "progress", "time", RuleWindow},
		{"task beyond the count", func(t *Trace) { t.Attempts[3].Task = 2 }, "attempts", "task", RuleTask},
		{"more tasks than planned", func(t *Trace) { t.Phases[1].TaskCount.V = 0 }, "phases", "task_count", RuleTask},
		{"number twice", func(t *Trace) { t.Attempts[1].Number = 0 }, "attempts", "number", RuleNumber},
		{"local and remote over input", func(t *Trace) { t.Attempts[0].LocalBytes.V++ }, "attempts", "input_bytes", RuleBytes},
		{"cross-rack over remote", func(t *Trace) { t.Attempts[0].CrossRackBytes.V++ }, "attempts", "cross_rack_bytes", RuleBytes},
		{"delay longer than the attempt", func(t *Trace) { t.Attempts[0].SchedulerDelayS.V = 1.01 }, "attempts", "scheduler_delay_s", RulePart},
		{"job is not the phase's", func(t *Trace) { t.Jobs = append(t.Jobs, t.Jobs[0]); t.Jobs[1].JobID = 20; t.Attempts[0].JobID = 20 }, "attempts", "job_id", RuleOwner},
		{"application is not the job's", func(t *Trace) {
			t.Applications = append(t.Applications, t.Applications[0])
			t.Applications[1].ApplicationID = 20
			t.Attempts[0].ApplicationID = 20
		}, "attempts", "application_id", RuleOwner},
		{"edge of another job", func(t *Trace) { t.Jobs = append(t.Jobs, t.Jobs[0]); t.Jobs[1].JobID = 20; t.Edges[0].JobID = 20 }, "edges", "to_phase", RuleOwner},
		{"edge twice", func(t *Trace) { t.Edges = append(t.Edges, t.Edges[0]) }, "edges", "to_phase", RuleEdge},
		{"edge to itself", func(t *Trace) { t.Edges[0].ToPhase = t.Edges[0].FromPhase }, "edges", "from_phase", RuleEdge},
		{"cycle", func(t *Trace) { t.Edges = append(t.Edges, Edge{2, 5, 4, AllToAll, true}) }, "edges", "from_phase", RuleEdge},
		{"skipped phase with attempts", func(t *Trace) { t.Phases[1].Status = RunSkipped }, "attempts", "phase_id", RuleSkipped},
		{"loss of another attempt's output", func(t *Trace) { t.Losses[0].Task = 0 }, "losses", "attempt_id", RuleLoss},
		{"made again by itself", func(t *Trace) { t.Losses[0].RecomputedBy.V = 12; t.Losses[0].Time.OK = false }, "losses", "recomputed_by", RuleLoss},
		{"made again before it was lost", func(t *Trace) { t.Losses[0].Time.V += 2e6 }, "losses", "recomputed_by", RuleLoss},
		{"executor twice", func(t *Trace) { t.Machines = append(t.Machines, t.Machines[0]) }, "machines", "executor", RuleMachineTwice},
		{"setting twice", func(t *Trace) { t.Settings[1].Name = t.Settings[0].Name }, "settings", "name", RuleSetting},
	}
	tried := map[string]bool{}
	for _, c := range cases {
		trace := sound()
		c.fault(trace)
		tried[c.rule] = true
		found := Validate(trace)
		i := slices.IndexFunc(found, func(v Violation) bool { return v.Table == c.table && v.Column == c.column && v.Rule == c.rule })
		if i < 0 {
			t.Errorf("%s: want %s.%s %s, found %v", c.name, c.table, c.column, c.rule, found)
			continue
		}
		for _, v := range found {
			if v.Rule != c.rule {
				t.Errorf("%s: also found %v", c.name, v)
			}
		}
	}
	rules := []string{RulePositiveKey, RuleUnique, RuleReference, RuleWord, RuleNonNegative, RuleFraction, RuleText, RuleMask, RuleOrder,
		RuleDuration, RuleRunning, RuleWindow, RuleTask, RuleNumber, RuleBytes, RulePart, RuleOwner, RuleEdge, RuleLoss, RuleSkipped, RuleMachineTwice, RuleSetting}
	for _, r := range rules {
		if !tried[r] {
			t.Errorf("no case breaks rule %s", r)
		}
	}
}

// A re-submission holds the missing tasks under their own indexes; a position in a shorter set is marked as such.
func TestValidateAllowsPartialSets(t *testing.T) {
	trace := sound()
	trace.Attempts[5].Task = 1000
	trace.Losses = nil
	trace.Attempts[3].Task = 77
	trace.Attempts[3].Quality |= TaskUnknown
	for _, v := range Validate(trace) {
		t.Error(v)
	}
}

func TestValidateLongChain(t *testing.T) {
	const n = 200_000
	trace := &Trace{
		Applications: []Application{{ApplicationID: 1, Status: RunSucceeded}},
		Jobs:         []Job{{JobID: 1, ApplicationID: 1, Status: RunSucceeded}},
	}
	for k := Key(1); k <= n; k++ {
		trace.Phases = append(trace.Phases, Phase{PhaseID: k, JobID: 1, Status: RunSkipped})
		if k > 1 {
			trace.Edges = append(trace.Edges, Edge{1, k - 1, k, OneToOne, true})
		}
	}
	for _, v := range Validate(trace) {
		t.Fatal(v)
	}
}

func BenchmarkValidate(b *testing.B) {
	trace := sound()
	for range 17 {
		trace.Attempts = append(trace.Attempts, trace.Attempts...)
	}
	for i := range trace.Attempts {
		trace.Attempts[i].AttemptID = Key(i + 10)
		trace.Attempts[i].Number = int32(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		Validate(trace)
	}
	b.ReportMetric(float64(b.N)*float64(len(trace.Attempts))/b.Elapsed().Seconds(), "attempts/s")
}
