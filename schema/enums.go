package schema

// Enum is a column type that holds one of a fixed list of values.
type Enum interface{ Values() []string }

// AttemptStatus is how an attempt ended.
type AttemptStatus string

const (
	Success AttemptStatus = "success"
	Failed  AttemptStatus = "failed"
	Killed  AttemptStatus = "killed"
	Lost    AttemptStatus = "lost"    // its machine or executor went away while it ran
	Running AttemptStatus = "running" // the log stops before its end

	UnknownStatus AttemptStatus = "unknown" // it ended, but the log does not say how
)

func (AttemptStatus) Values() []string {
	return []string{string(Success), string(Failed), string(Killed), string(Lost), string(Running), string(UnknownStatus)}
}

// RunStatus is how an application, job or phase ended.
type RunStatus string

const (
	RunSucceeded RunStatus = "succeeded"
	RunFailed    RunStatus = "failed"
	RunKilled    RunStatus = "killed"
	RunRunning   RunStatus = "running" // the log stops before its end
	RunSkipped   RunStatus = "skipped" // planned but never submitted
	RunUnknown   RunStatus = "unknown"
)

func (RunStatus) Values() []string {
	return []string{string(RunSucceeded), string(RunFailed), string(RunKilled), string(RunRunning), string(RunSkipped), string(RunUnknown)}
}

// Locality is the distance between a task and its data.
type Locality string

const (
	ProcessLocal Locality = "process_local"
	NodeLocal    Locality = "node_local"
	NoPreference Locality = "no_pref"
	RackLocal    Locality = "rack_local"
	AnyLocality  Locality = "any" // in another rack, or anywhere
)

func (Locality) Values() []string {
	return []string{string(ProcessLocal), string(NodeLocal), string(NoPreference), string(RackLocal), string(AnyLocality)}
}

// Pattern is the way in which outputs of one phase feed tasks of the next.
type Pattern string

const (
	AllToAll       Pattern = "all_to_all"
	OneToOne       Pattern = "one_to_one"
	ManyToOne      Pattern = "many_to_one"
	UnknownPattern Pattern = "unknown"
)

func (Pattern) Values() []string {
	return []string{string(AllToAll), string(OneToOne), string(ManyToOne), string(UnknownPattern)}
}

// ProgressSource is the source of a progress sample.
type ProgressSource string

const (
	Reported  ProgressSource = "reported"
	Bucketed  ProgressSource = "bucketed"  // interpolated by the framework into fixed buckets
	Synthetic ProgressSource = "synthetic" // computed by us; not a measurement
)

func (ProgressSource) Values() []string {
	return []string{string(Reported), string(Bucketed), string(Synthetic)}
}

// Quality is a bit mask of the defects of an attempt's row.
type Quality int64

const (
	PartialRow     Quality = 1 << iota // its start or end is missing from the log
	BytesEstimated                     // input or remote bytes are derived, not measured
	RackUnknown                        // no rack in the log
	TimeSynthetic                      // its times were computed by us
	TaskUnknown                        // task is a position in an incomplete set, not the partition
	TimeRepaired                       // an impossible time was dropped
	MetricsMissing                     // the log has no metrics for it
	GangMember                         // runs together with others and is not independent of them
)

// Basis is the work that the progress rates of a phase are measured in (DOLLY §2.1.1).
type Basis string

const (
	BasisBytes    Basis = "bytes"
	BasisRecords  Basis = "records"
	BasisDuration Basis = "duration" // neither bytes nor records: durations are compared
)

func (Basis) Values() []string {
	return []string{string(BasisBytes), string(BasisRecords), string(BasisDuration)}
}

// Rule is the rule by which an attempt is an outlier.
type Rule string

const (
	HighRuntime   Rule = "high_runtime" // duration > 1.5 × the phase's median (MANTRI §4.1)
	StragglerRule Rule = "straggler"    // rate < half the phase's median (DOLLY §2.1.2)
	RecomputeRule Rule = "recompute"    // regenerates a lost output (MANTRI §4.1)
	// rate below the 25th percentile of the phase, and more time left than a copy takes (LATE §4)
	LateSlowTask Rule = "late_slow_task"

	SlowerThanUsual Rule = "slower_than_usual" // duration > 1.5 × the usual one of the task, or stage, in earlier executions
)

func (Rule) Values() []string {
	return []string{string(HighRuntime), string(StragglerRule), string(RecomputeRule), string(LateSlowTask), string(SlowerThanUsual)}
}

// Cause is what seconds of excess are due to.
type Cause string

const (
	DataSkew         Cause = "data_skew"
	Network          Cause = "network"
	BadMachine       Cause = "bad_machine"
	Recompute        Cause = "recompute"
	GC               Cause = "gc"
	Spill            Cause = "spill"
	Scheduler        Cause = "scheduler"
	Deserialize      Cause = "deserialize"
	LocalityMiss     Cause = "locality"
	Startup          Cause = "startup"
	Transient        Cause = "transient"
	UnexplainedCause Cause = "unexplained"
)

func (Cause) Values() []string {
	return []string{string(DataSkew), string(Network), string(BadMachine), string(Recompute), string(GC), string(Spill),
		string(Scheduler), string(Deserialize), string(LocalityMiss), string(Startup), string(Transient), string(UnexplainedCause)}
}

// HistoryCause is what seconds of excess over the usual duration are due to.
type HistoryCause string

const (
	MoreWork       HistoryCause = "more_work"       // its stage had more input than usual
	SharedSlowness HistoryCause = "shared_slowness" // most machines of its phase, or others on its node, were slow too
	SlowMachine    HistoryCause = "slow_machine"    // its machine was slow in this run
	Alone          HistoryCause = "alone"           // no other task shares it
)

func (HistoryCause) Values() []string {
	return []string{string(MoreWork), string(SharedSlowness), string(SlowMachine), string(Alone)}
}

// Verdict is the state of a machine.
type Verdict string

const (
	Healthy        Verdict = "healthy"
	Slow           Verdict = "slow"
	Flaky          Verdict = "flaky"
	UnknownVerdict Verdict = "unknown"
)

func (Verdict) Values() []string {
	return []string{string(Healthy), string(Slow), string(Flaky), string(UnknownVerdict)}
}

// SavingVerdict is the conclusion about a saving.
type SavingVerdict string

const (
	Saves   SavingVerdict = "saves"
	Costs   SavingVerdict = "costs time"
	Nothing SavingVerdict = "changes nothing"
	Unclear SavingVerdict = "no clear effect" // the interval contains 0
	// the replay of the unchanged log is off by more than the saving, the interval is unknown, or most attempts have no end
	CannotTell SavingVerdict = "cannot tell"
)

func (SavingVerdict) Values() []string {
	return []string{string(Saves), string(Costs), string(Nothing), string(Unclear), string(CannotTell)}
}
