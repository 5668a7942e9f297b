package schema

// The rows of the result tables, which detect, causes, whatif and simulate write, each in one commit.

// PhaseStats compares the tasks of a phase.
type PhaseStats struct {
	PhaseID       Key           `col:"phase_id" key:"phases" doc:"the phase"`
	Tasks         int64         `col:"tasks" doc:"number of distinct tasks"`
	Attempts      int64         `col:"attempts" doc:"number of attempts"`
	Succeeded     int64         `col:"succeeded" doc:"tasks with a successful attempt; the figures below are those of the winning attempts"`
	MedianS       Null[float64] `col:"median_s" unit:"s" doc:"median duration"`
	P75S          Null[float64] `col:"p75_s" unit:"s" doc:"75th percentile of the duration"`
	P95S          Null[float64] `col:"p95_s" unit:"s" doc:"95th percentile of the duration"`
	MaxS          Null[float64] `col:"max_s" unit:"s" doc:"longest duration"`
	MedianRate    Null[float64] `col:"median_rate" unit:"basis/s" doc:"median progress rate (DOLLY §2.1.1)"`
	SlowestRate   Null[float64] `col:"slowest_rate" unit:"basis/s" doc:"lowest progress rate"`
	SlowdownRatio Null[float64] `col:"slowdown_ratio" unit:"ratio" doc:"median rate / slowest rate (DOLLY §2.1.1)"`
	SlowdownBasis Null[Basis]   `col:"slowdown_basis" doc:"the work that the rates are measured in"`
	Stragglers    Null[int64]   `col:"stragglers" doc:"tasks with a progress rate below half the median (DOLLY §2.1.2)"`
	Outliers      Null[int64]   `col:"outliers" doc:"tasks longer than 1.5 × the median (MANTRI §4.1)"`
	LostS         Null[float64] `col:"lost_s" unit:"s" doc:"how much earlier the phase would have ended had no task taken longer than the median"`
	ModelR2       Null[float64] `col:"model_r2" unit:"fraction" doc:"share of the variance of the duration that input size and remote bytes explain"`
	ModelN        Null[int64]   `col:"model_n" doc:"number of attempts that the model was fitted to"`
	Note          Null[string]  `col:"note" doc:"why a figure is NULL"`
}

// Outlier is an attempt that a rule calls slow.
type Outlier struct {
	AttemptID Key           `col:"attempt_id" key:"attempts" doc:"the attempt"`
	PhaseID   Key           `col:"phase_id" key:"phases" doc:"its phase"`
	Rule      Rule          `col:"rule" doc:"the rule that it matches; one row per rule"`
	Ratio     Null[float64] `col:"ratio" unit:"ratio" doc:"by how much it exceeds the rule's reference: duration / median, median rate / rate, duration / 75th percentile, or duration / usual duration"`
	ExcessS   Null[float64] `col:"excess_s" unit:"s" doc:"duration − median of its phase, negative for a straggler with little work; for recompute, the whole duration; for slower_than_usual, duration − usual duration; a lower bound for attempts that were cut off"`
}

// StageHistory identifies the execution of a stage that a phase is, and compares it with earlier executions in the store.
type StageHistory struct {
	PhaseID      Key           `col:"phase_id" key:"phases" doc:"the phase: one execution of the stage"`
	Program      Null[string]  `col:"program" doc:"name of the application, with a star in place of what differs in each run, such as a date"`
	Stage        string        `col:"stage" doc:"name of the phase; empty if it has none"`
	Identity     string        `col:"identity" doc:"what other executions are matched by: the fingerprint of the operators of the query plan that ran in it, or its name if the log has no plan"`
	Kind         string        `col:"kind" doc:"kind of the phase"`
	Ordinal      Null[int32]   `col:"ordinal" doc:"number of the stage among those with this identity in the application, from 1; NULL if the phase is not an execution that others are compared with"`
	RunStartTime Null[Time]    `col:"run_start_time" doc:"start of its application, or of the phase if that is unknown; executions are earlier or later by this time"`
	Executions   int64         `col:"executions" doc:"number of earlier executions of the stage in the store"`
	Compared     int64         `col:"compared" doc:"number of these it is compared with: all, or 33 to 64 spread evenly over them; 0 if there are too few"`
	Tasks        int64         `col:"tasks" doc:"number of tasks that succeeded"`
	UsualTasks   Null[float64] `col:"usual_tasks" doc:"median of tasks over the earlier executions"`
	MedianS      Null[float64] `col:"median_s" unit:"s" doc:"median duration of its tasks"`
	Spread       Null[float64] `col:"spread" doc:"standard deviation of ln(duration) over its tasks, estimated from the 95th percentile"`
	UsualS       Null[float64] `col:"usual_s" unit:"s" doc:"median of median_s over the earlier executions"`
	Ratio        Null[float64] `col:"ratio" unit:"ratio" doc:"median / usual"`
	WorkRatio    Null[float64] `col:"work_ratio" unit:"ratio" doc:"median input of a task / usual median input, in bytes, or in records where bytes are unknown"`
	BetweenRuns  Null[float64] `col:"between_runs" doc:"robust standard deviation of ln(median duration) between executions"`
	WithinRun    Null[float64] `col:"within_run" doc:"usual spread: the median of spread over the earlier executions"`
	LimitS       Null[float64] `col:"limit_s" unit:"s" doc:"upper limit for the median, given its work and the variation between executions"`
	Slow         Null[bool]    `col:"slow" doc:"the phase was slow as a whole: its median exceeds the limit"`
	ExcessS      Null[float64] `col:"excess_s" unit:"s" doc:"(median − usual) × tasks; negative if it was faster"`
	InputBytes   Null[float64] `col:"input_bytes" unit:"bytes" doc:"median input of its tasks"`
	UsualBytes   Null[float64] `col:"usual_input_bytes" unit:"bytes" doc:"median of input_bytes over the earlier executions"`
	InputRecords Null[float64] `col:"input_records" unit:"records" doc:"median input of its tasks in records"`
	UsualRecords Null[float64] `col:"usual_input_records" unit:"records" doc:"median of input_records over the earlier executions"`
	CPUS         Null[float64] `col:"cpu_s" unit:"s" doc:"median processor time of its tasks"`
	UsualCPUS    Null[float64] `col:"usual_cpu_s" unit:"s" doc:"median of cpu_s over the earlier executions"`
	WaitS        Null[float64] `col:"wait_s" unit:"s" doc:"median time that its tasks waited for input from other machines"`
	UsualWaitS   Null[float64] `col:"usual_wait_s" unit:"s" doc:"median of wait_s over the earlier executions"`
	TickS        Null[float64] `col:"tick_s" unit:"s" doc:"1 if all its tasks start and end at whole seconds, so that times are known only to the second; else 0"`
	Note         Null[string]  `col:"note" doc:"why there is no history"`
}

// TaskTime is a successful task in an execution that later executions of its stage are compared with.
type TaskTime struct {
	PhaseID      Key         `col:"phase_id" key:"phases" doc:"the phase: one execution of a stage"`
	Stride       int64       `col:"stride" doc:"the largest stride at which this execution is still among those that later ones are compared with; a power of two, 2^62 for the first execution"`
	Task         int64       `col:"task" doc:"the task, i.e. the partition"`
	DurationS    float64     `col:"duration_s" unit:"s" doc:"its duration"`
	InputBytes   Null[int64] `col:"input_bytes" unit:"bytes" doc:"its input"`
	InputRecords Null[int64] `col:"input_records" unit:"records" doc:"its input in records"`
}

// Attribution is the part of an outlier's excess that one cause accounts for. The seconds of an attempt sum to its excess.
type Attribution struct {
	AttemptID  Key           `col:"attempt_id" key:"attempts" doc:"the outlier"`
	PhaseID    Key           `col:"phase_id" key:"phases" doc:"its phase"`
	Cause      Cause         `col:"cause" doc:"the cause"`
	Seconds    float64       `col:"seconds" unit:"s" doc:"part of the excess; negative if the cause made it faster than the median"`
	Share      Null[float64] `col:"share" unit:"fraction" doc:"seconds / excess"`
	Rank       int32         `col:"rank" doc:"1 for the verdict, then in descending order of seconds"`
	Confidence Null[float64] `col:"confidence" unit:"probability" doc:"confidence in the verdict, on the row of rank 1: the share of such verdicts that are right on labelled logs"`
	Place      Null[string]  `col:"place" doc:"location of the cause, such as machine m03 or rack r02, for network, bad_machine, and gc in another process; NULL if it has several locations or is unknown"`
	Evidence   string        `col:"evidence" unit:"JSON" doc:"predictor, coefficient, standard error, n, and the values of the task and of the median task"`
}

// ApplicationCause is the sum of attributions to one cause over the outliers of an application.
type ApplicationCause struct {
	ApplicationID Key     `col:"application_id" key:"applications" doc:"the application"`
	Cause         Cause   `col:"cause" doc:"the cause"`
	Verdicts      int64   `col:"verdicts" doc:"number of outliers for which it is the verdict"`
	Seconds       float64 `col:"seconds" unit:"s" doc:"excess of all outliers due to this cause, each rounded to the microsecond"`
}

// HistoryAttribution is the part of an attempt's excess over its usual duration that one cause accounts for. The seconds of
// an attempt sum to the excess of its slower_than_usual outlier.
type HistoryAttribution struct {
	AttemptID Key           `col:"attempt_id" key:"attempts" doc:"the outlier"`
	PhaseID   Key           `col:"phase_id" key:"phases" doc:"its phase"`
	Cause     HistoryCause  `col:"cause" doc:"what it has in common with other tasks that are slower than usual"`
	Seconds   float64       `col:"seconds" unit:"s" doc:"part of the excess"`
	Share     float64       `col:"share" unit:"fraction" doc:"seconds / excess"`
	Rank      int32         `col:"rank" doc:"1 for the verdict, then in descending order of seconds"`
	Place     Null[string]  `col:"place" doc:"for slow_machine and shared_slowness, the machine or node; NULL for all machines of the phase"`
	WaitedS   Null[float64] `col:"waited_s" unit:"s" doc:"time it waited for input, beyond the usual for its work"`
	ComputedS Null[float64] `col:"computed_s" unit:"s" doc:"processor time beyond the usual for its work; negative if it was less"`
	Evidence  string        `col:"evidence" unit:"JSON" doc:"the factors applied to the usual duration, and the explanation as a sentence"`
}

// MachineHealth is the speed of a machine relative to the others in a time window; with an application_id, in that run and
// relative to the history of the stages whose tasks it ran.
type MachineHealth struct {
	Machine       string        `col:"machine" doc:"host name"`
	WindowStart   Time          `col:"window_start" doc:"start of the window"`
	WindowEnd     Time          `col:"window_end" doc:"end of the window"`
	Attempts      int64         `col:"attempts" doc:"number of attempts that the estimate is based on"`
	Phases        int64         `col:"phases" doc:"number of phases that the estimate is based on"`
	Factor        Null[float64] `col:"factor" unit:"ratio" doc:"duration relative to prediction; 1 = like the other machines"`
	FactorLow     Null[float64] `col:"factor_low" unit:"ratio" doc:"lower end of the 95 % interval"`
	FactorHigh    Null[float64] `col:"factor_high" unit:"ratio" doc:"upper end of the 95 % interval"`
	OutlierRate   Null[float64] `col:"outlier_rate" unit:"fraction" doc:"share of its attempts that are outliers"`
	Losses        int64         `col:"losses" doc:"number of outputs lost on it"`
	Verdict       Verdict       `col:"verdict" doc:"state of the machine; unknown if the sample is too small"`
	Generation    Null[float64] `col:"generation" unit:"ratio" doc:"factor of the group of machines that it is compared with: machines of slower hardware are not bad"`
	QValue        Null[float64] `col:"q_value" unit:"probability" doc:"smallest false discovery rate at which it would be called slow in this window (Benjamini and Hochberg)"`
	Course        Null[string]  `col:"course" doc:"over all windows: chronic, intermittent, recovered; NULL if it was never slow"`
	Note          Null[string]  `col:"note" doc:"reason for a verdict that does not follow from the factor alone: slow in some phases only, in other windows, with its whole rack, or lost outputs"`
	Predicted     Null[float64] `col:"predicted" unit:"fraction" doc:"expected share of outliers among its attempts in the next window: the mean of this window's share and the long-term share (DOLLY §2.1.2)"`
	ApplicationID Null[Key]     `col:"application_id" key:"applications" doc:"the run it is judged in; NULL for all runs of the window"`
	Node          Null[string]  `col:"node" doc:"in a run: the physical machine, if the name of the container or slot gives it"`
	WaitRatio     Null[float64] `col:"wait_ratio" unit:"ratio" doc:"in a run: time its tasks waited for input / usual time"`
	CPURatio      Null[float64] `col:"cpu_ratio" unit:"ratio" doc:"in a run: processor time of its tasks / usual time"`
}

// SkewRepeat is a task that was slow because of skewed input, with the number of executions of its stage in which it was.
type SkewRepeat struct {
	Program    Null[string]  `col:"program" doc:"name of the application"`
	Stage      Null[string]  `col:"stage" doc:"name of the phase"`
	Kind       string        `col:"kind" doc:"kind of the phase"`
	Exchange   Null[string]  `col:"exchange" doc:"what the stage reads according to its query plan: the keys of each exchange and the tables that feed it. If it is given, stages are matched across executions by it and not by name; NULL if the log has no plan or the stage reads files"`
	Task       Null[int64]   `col:"task" doc:"the task, i.e. the partition; NULL if adaptive execution coalesced or split partitions in any execution, so that the number means nothing: the row then covers all tasks"`
	Ordinal    Null[int32]   `col:"ordinal" doc:"number of the stage among those with this name, or these exchanges, in an application, from 1; NULL if all of them are counted together"`
	Executions int64         `col:"executions" doc:"number of executions of the stage in the store, in any application of that name"`
	Skewed     int64         `col:"skewed" doc:"number of executions in which data_skew was the verdict for this task, or for any task if task is NULL"`
	Seconds    float64       `col:"seconds" unit:"s" doc:"seconds lost to its skew in all of them"`
	Ratio      Null[float64] `col:"ratio" unit:"ratio" doc:"its input / median input, averaged over the executions in which it was skewed"`
	Repeats    Null[bool]    `col:"repeats" doc:"it is skewed in more than half of the executions, so the skew lies in the key and not in one day's data; NULL if there is only one"`
	PhaseID    Key           `col:"phase_id" key:"phases" doc:"the execution that lost most time to its skew"`
}

// SkewedTask is an attempt whose verdict is data_skew. SkewRepeats are computed from these rows.
type SkewedTask struct {
	AttemptID Key           `col:"attempt_id" key:"attempts" doc:"the attempt"`
	PhaseID   Key           `col:"phase_id" key:"phases" doc:"its phase"`
	Task      int64         `col:"task" doc:"the task, i.e. the partition"`
	Seconds   float64       `col:"seconds" unit:"s" doc:"seconds lost to its skew"`
	Ratio     Null[float64] `col:"ratio" unit:"ratio" doc:"its input / median input"`
}

// MachineStatistics is the evidence of the phases of one application about a machine in a time window, as sums that can be added
// over applications. An observation is ln(factor) of the machine in one phase; its weight is 1/variance.
type MachineStatistics struct {
	ApplicationID Key           `col:"application_id" key:"applications" doc:"the application"`
	Machine       string        `col:"machine" doc:"host name"`
	Rack          Null[string]  `col:"rack" doc:"its rack, according to its attempts"`
	WindowStart   Null[Time]    `col:"window_start" doc:"start of the window; NULL if no phase tells anything about the machine"`
	Attempts      int64         `col:"attempts" doc:"number of attempts that the observations are based on"`
	Phases        int64         `col:"phases" doc:"number of observations, one per phase"`
	Outliers      int64         `col:"outliers" doc:"number of high_runtime outliers"`
	Weight        float64       `col:"weight" doc:"sum of the weights"`
	Weighted      float64       `col:"weighted" doc:"sum of weight × observation"`
	Squared       float64       `col:"squared" doc:"sum of weight × observation²"`
	Over110       int64         `col:"over_110" doc:"phases in which it takes more than 1.1 times as long as others, with 99 % confidence"`
	Over125       int64         `col:"over_125" doc:"the same for 1.25 times"`
	Over150       int64         `col:"over_150" doc:"the same for 1.5 times"`
	Over200       int64         `col:"over_200" doc:"the same for 2 times"`
	Over300       int64         `col:"over_300" doc:"the same for 3 times"`
	First         float64       `col:"first" doc:"largest observation"`
	FirstWeight   float64       `col:"first_weight" doc:"its weight; 0 if there is none"`
	Second        float64       `col:"second" doc:"second largest observation"`
	SecondWeight  float64       `col:"second_weight" doc:"its weight; 0 if there is none"`
	Third         float64       `col:"third" doc:"third largest observation"`
	ThirdWeight   float64       `col:"third_weight" doc:"its weight; 0 if there is none"`
	CPUPhases     int64         `col:"cpu_phases" doc:"number of observations of its processor time in all windows; 0 except on the row of its first window"`
	CPUWeight     float64       `col:"cpu_weight" doc:"sum of the weights of these observations"`
	CPUWeighted   float64       `col:"cpu_weighted" doc:"sum of weight × observation over these"`
	CPUSquared    float64       `col:"cpu_squared" doc:"sum of weight × observation² over these"`
	KnownFactor   Null[float64] `col:"known_factor" doc:"ln(factor) used when these attempts were attributed, less the mean contribution of one of these phases; NULL if no other phase had observed the machine"`
	KnownVariance Null[float64] `col:"known_variance" doc:"variance of known_factor"`
	WithRack      bool          `col:"with_rack" doc:"its whole rack was slow at that time"`
}

// StageStatistics is the evidence of the phases of one application about a stage and about attempts that are slow by themselves,
// as sums that can be added like those of machine_statistics. The columns from work_prior on are the priors, computed without
// this application, with which its attempts were attributed.
type StageStatistics struct {
	ApplicationID    Key     `col:"application_id" key:"applications" doc:"the application"`
	Signature        int64   `col:"signature" doc:"hash of program, kind and name of the stage; 0 for phases whose program has no name"`
	Tasks            float64 `col:"tasks" doc:"number of fitted tasks"`
	LogSigma         float64 `col:"log_sigma" doc:"sum over tasks of ln(scatter) of their phase"`
	ElasticityWeight float64 `col:"elasticity_weight" doc:"sum of 1/variance of the elasticity of duration with respect to work"`
	Elasticity       float64 `col:"elasticity" doc:"sum of elasticity/variance"`
	SpillWeight      float64 `col:"spill_weight" doc:"sum of 1/variance of the seconds per spilled byte"`
	Spill            float64 `col:"spill" doc:"sum of seconds per spilled byte/variance"`
	Known            float64 `col:"known" doc:"attempts for which it is known whether they are slow by themselves"`
	Alone            float64 `col:"alone" doc:"attempts that are slow by themselves"`
	AloneFactor      float64 `col:"alone_factor" doc:"sum of ln(factor) over these"`
	AloneSquared     float64 `col:"alone_squared" doc:"sum of ln(factor)² over these"`
	AloneCPUKnown    float64 `col:"alone_cpu_known" doc:"of these, attempts whose processor time is known"`
	AloneComputing   float64 `col:"alone_computing" doc:"of those, attempts whose processor time was longer too"`
	Starts           float64 `col:"starts" doc:"executors, by phase, whose first tasks can be compared with later ones on their machine"`
	SlowStarts       float64 `col:"slow_starts" doc:"of these, executors whose first tasks are slow"`
	WorkPrior        float64 `col:"work_prior" doc:"prior mean of the elasticity"`
	WorkPrecision    float64 `col:"work_precision" doc:"1/variance of that prior"`
	SpillPrior       float64 `col:"spill_prior" unit:"s" doc:"prior mean of the seconds per spilled byte"`
	SpillPrecision   float64 `col:"spill_precision" doc:"1/variance of that prior; 0 if nothing was known"`
	SigmaPrior       float64 `col:"sigma_prior" doc:"prior scatter of ln(duration)"`
	AloneProbability float64 `col:"alone_probability" unit:"probability" doc:"probability that an attempt is slow by itself, over all applications"`
	AloneMean        float64 `col:"alone_mean" doc:"mean ln(factor) of attempts that are slow by themselves"`
	AloneVariance    float64 `col:"alone_variance" doc:"variance of that ln(factor)"`
	ComputingShare   float64 `col:"computing_share" unit:"probability" doc:"probability that the processor time of such an attempt is longer by as much"`
	SlowStart        float64 `col:"slow_start" unit:"probability" doc:"probability that the first tasks of an executor are slow"`
	MachinesVariance float64 `col:"machines_variance" doc:"variance of ln(factor) between machines"`
}

// QueryFinding explains a slow phase by its query: the operator, and the keys that brought the rows together.
type QueryFinding struct {
	QueryID    Key           `col:"query_id" key:"queries" doc:"the query"`
	Kind       FindingKind   `col:"kind" doc:"what was found"`
	PhaseID    Null[Key]     `col:"phase_id" key:"phases" doc:"the phase with the slow tasks; NULL for findings other than skew"`
	AttemptID  Null[Key]     `col:"attempt_id" key:"attempts" doc:"the slowest of these tasks"`
	NodeID     Key           `col:"node_id" key:"plan_nodes" doc:"for skew, the exchange that delivered the rows or the scan that read them; for a large broadcast, the broadcast; else the join"`
	OperatorID Null[Key]     `col:"operator_id" key:"plan_nodes" doc:"the join, aggregate, window or sort that needs the exchange; NULL if there is none"`
	Operator   string        `col:"operator" doc:"name of that operator; for a scan or an exchange without one, its own name"`
	Keys       Null[string]  `col:"keys" doc:"the columns that rows were brought together by; logs do not say which value is the heavy one"`
	Side       Null[Side]    `col:"side" doc:"for a join, the input that the rows belong to; NULL if the log does not say"`
	Tables     Null[string]  `col:"tables" doc:"the tables scanned by that input"`
	Other      Null[string]  `col:"other" doc:"for a join, the tables scanned by its other input"`
	Task       Null[int64]   `col:"task" doc:"the partition; NULL if adaptive execution coalesced partitions, so that the number means nothing"`
	Rows       Null[float64] `col:"rows" unit:"records" doc:"rows read by the slowest attempt, NULL if bytes are skewed instead; for an exploding join, the rows that it produced"`
	Ratio      Null[float64] `col:"ratio" unit:"ratio" doc:"these rows, or bytes, / the median of the phase; for an exploding join, / the rows of its larger input"`
	Bytes      Null[float64] `col:"bytes" unit:"bytes" doc:"bytes read by the slowest attempt, unless rows are skewed; for a small side that was shuffled or a large one that was broadcast, its size as measured by Spark"`
	Tasks      int64         `col:"tasks" doc:"number of slow tasks of the phase that the finding explains; for a split, the number of parts"`
	Partitions Null[int64]   `col:"partitions" doc:"for a split, the number of skewed partitions that were split"`
	Seconds    Null[float64] `col:"seconds" unit:"s" doc:"seconds by which their data made the slowest of them longer than the median"`
	QueryS     Null[float64] `col:"query_s" unit:"s" doc:"duration of the query"`
	SavesS     Null[float64] `col:"saves_s" unit:"s" doc:"how much earlier the phase would have ended with its skewed partitions split so that none exceeds twice the median, replayed on as many slots"`
	SplitInto  Null[int64]   `col:"split_into" doc:"number of parts into which that splits the largest partition"`
	Remedy     Null[Remedy]  `col:"remedy" doc:"what would help; NULL if adaptive execution did it already"`
	Apply      Null[string]  `col:"apply" doc:"the lines that apply the remedy, given the settings of the query's session; NULL if the statement itself has to be rewritten"`
	WhyNot     Null[string]  `col:"why_not" doc:"why the usual advice would not help here"`
	Exchange   string        `col:"exchange" doc:"fingerprint of the exchange or scan, with its keys: the same in every run of the plan"`
}

// JobCost is the time that a cause cost a job: its completion time minus that of a replay without the excess due to the
// cause.
type JobCost struct {
	JobID    Key           `col:"job_id" key:"jobs" doc:"the job"`
	Cause    Cause         `col:"cause" doc:"the cause removed"`
	SumS     float64       `col:"sum_s" unit:"s" doc:"excess of all its outliers due to the cause, summed over all slots"`
	CostS    Null[float64] `col:"cost_s" unit:"s" doc:"how much earlier the job would have ended without it"`
	CostLow  Null[float64] `col:"cost_low" unit:"s" doc:"lower end of the 95 % interval"`
	CostHigh Null[float64] `col:"cost_high" unit:"s" doc:"upper end of the 95 % interval"`
	Together Null[float64] `col:"together_s" unit:"s" doc:"how much earlier the job would have ended without any of its causes; the same on all rows of the job. The costs of single causes may sum to less, where one hides another, or to more, where they free the same slots"`
	Note     Null[string]  `col:"note" doc:"why a figure is NULL, or what it assumes"`
}

// WhatifRun is one replay of one job under one policy and seed.
type WhatifRun struct {
	RunID         int64         `col:"run_id" doc:"number of the replay"`
	Policy        string        `col:"policy" doc:"name of the policy"`
	Parameters    string        `col:"parameters" unit:"JSON" doc:"its parameters"`
	Seed          int64         `col:"seed" doc:"seed of the random numbers"`
	ApplicationID Key           `col:"application_id" key:"applications" doc:"the application"`
	JobID         Key           `col:"job_id" key:"jobs" doc:"the job"`
	ObservedS     Null[float64] `col:"observed_s" unit:"s" doc:"completion time according to the log"`
	ReplayS       Null[float64] `col:"replay_s" unit:"s" doc:"completion time of the replay with policy none and the same seed"`
	PredictedS    Null[float64] `col:"predicted_s" unit:"s" doc:"completion time of the replay with the policy"`
	Copies        int64         `col:"copies" doc:"number of copies launched"`
	Wins          int64         `col:"wins" doc:"number of copies that finished first"`
	Kills         int64         `col:"kills" doc:"number of attempts killed"`
	WastedSlotS   float64       `col:"wasted_slot_s" unit:"s" doc:"slot time of attempts whose results were not used"`
	TotalSlotS    float64       `col:"total_slot_s" unit:"s" doc:"slot time of all attempts"`
}

// WhatifSaving is the saving of a policy relative to policy none, paired by seed.
type WhatifSaving struct {
	Policy         string        `col:"policy" doc:"name of the policy"`
	Parameters     string        `col:"parameters" unit:"JSON" doc:"its parameters"`
	JobID          Null[Key]     `col:"job_id" key:"jobs" doc:"the job; NULL for the sum over all jobs"`
	SavingS        Null[float64] `col:"saving_s" unit:"s" doc:"mean of replay − predicted over the seeds"`
	SavingLow      Null[float64] `col:"saving_low" unit:"s" doc:"lower end of the 95 % prediction interval for the saving in another run; NULL with one seed"`
	SavingHigh     Null[float64] `col:"saving_high" unit:"s" doc:"upper end of that interval"`
	ThisRunLow     Null[float64] `col:"this_run_low" unit:"s" doc:"lower end of the 95 % prediction interval for the saving in the run of the log itself: from the random durations of copies and what the log leaves uncertain, without the differences between runs; NULL with one seed"`
	ThisRunHigh    Null[float64] `col:"this_run_high" unit:"s" doc:"upper end of that interval"`
	SavingShare    Null[float64] `col:"saving_share" unit:"fraction" doc:"saving / replayed completion time"`
	SlotTimeChange Null[float64] `col:"slot_time_change" unit:"fraction" doc:"relative change of the slot time used"`
	Verdict        SavingVerdict `col:"verdict" doc:"what the saving amounts to: saves, costs time, changes nothing; no clear effect if the interval contains 0; cannot tell if the replay of the unchanged log is off by more than the saving, the interval is unknown, or most attempts have no start or no end in the log"`
	Assumptions    string        `col:"assumptions" unit:"JSON" doc:"what the figure is based on, including the error of the replay"`
}

// SimulateRun is one run of a workload under a scheduler, a policy and a seed.
type SimulateRun struct {
	RunID            int64         `col:"run_id" doc:"number of the run"`
	Workload         string        `col:"workload" doc:"name of the workload"`
	Scheduler        string        `col:"scheduler" doc:"name of the scheduler, with the options given"`
	SchedulerOptions string        `col:"scheduler_options" unit:"JSON" doc:"all its options"`
	Policy           string        `col:"policy" doc:"name of the straggler policy"`
	PolicyOptions    string        `col:"policy_options" unit:"JSON" doc:"its options"`
	Seed             int64         `col:"seed" doc:"seed of the random numbers; the same seed gives the same jobs under all schedulers"`
	Jobs             int64         `col:"jobs" doc:"number of jobs"`
	Tasks            int64         `col:"tasks" doc:"number of tasks of all jobs"`
	EndedJobs        Null[int64]   `col:"ended_jobs" doc:"jobs that had ended by the time up to which the workload counts; NULL if it gives none"`
	MakespanS        float64       `col:"makespan_s" unit:"s" doc:"time from the first submission to the last end"`
	MeanS            float64       `col:"mean_s" unit:"s" doc:"mean completion time of the jobs"`
	MedianS          float64       `col:"median_s" unit:"s" doc:"median completion time"`
	P95S             float64       `col:"p95_s" unit:"s" doc:"95th percentile of the completion times"`
	NodeLocal        Null[float64] `col:"node_local" unit:"fraction" doc:"of the attempts whose input is on some machine, the share that ran on such a machine; NULL if there are none"`
	RackLocal        Null[float64] `col:"rack_local" unit:"fraction" doc:"share that ran in a rack with their input, including on the machine itself"`
	RemoteBytes      int64         `col:"remote_bytes" unit:"bytes" doc:"input read from other machines"`
	CrossRackBytes   int64         `col:"cross_rack_bytes" unit:"bytes" doc:"input and outputs of earlier phases read from other racks"`
	Copies           int64         `col:"copies" doc:"number of copies launched by the policy"`
	Kills            int64         `col:"kills" doc:"number of attempts killed by the scheduler, the policy or because a copy finished first"`
	WastedSlotS      float64       `col:"wasted_slot_s" unit:"s" doc:"slot time of attempts that were killed"`
	TotalSlotS       float64       `col:"total_slot_s" unit:"s" doc:"slot time of all attempts"`
}

// SimulateJob is a job of a run.
type SimulateJob struct {
	RunID       int64         `col:"run_id" doc:"the run"`
	Job         int64         `col:"job" doc:"number of the job in the run; the same number and seed give the same job"`
	Name        string        `col:"name" doc:"name of the job, or of its bin"`
	Queue       string        `col:"queue" doc:"queue or pool"`
	Tasks       int64         `col:"tasks" doc:"number of tasks"`
	SubmitS     float64       `col:"submit_s" unit:"s" doc:"submission time, from the start of the run"`
	TookS       float64       `col:"took_s" unit:"s" doc:"completion time"`
	NodeLocal   Null[float64] `col:"node_local" unit:"fraction" doc:"of its attempts whose input is on some machine, the share that ran on such a machine; NULL if there are none"`
	RackLocal   Null[float64] `col:"rack_local" unit:"fraction" doc:"share that ran in a rack with their input"`
	Copies      int64         `col:"copies" doc:"number of copies launched by the policy"`
	Kills       int64         `col:"kills" doc:"number of attempts killed"`
	WastedSlotS float64       `col:"wasted_slot_s" unit:"s" doc:"slot time of attempts that were killed"`
	TotalSlotS  float64       `col:"total_slot_s" unit:"s" doc:"slot time of all attempts"`
}

// SimulateSample is a figure sampled during a run.
type SimulateSample struct {
	RunID int64   `col:"run_id" doc:"the run"`
	TimeS float64 `col:"time_s" unit:"s" doc:"time of the sample, from the start of the run"`
	What  string  `col:"what" doc:"map_slots, reduce_slots: slots in use; waiting: tasks without a slot; uplinks, downlinks: mean load of the racks' links as a share of their capacity"`
	Queue string  `col:"queue" doc:"queue or pool; empty for figures that belong to none"`
	Value float64 `col:"value" doc:"the figure"`
}
