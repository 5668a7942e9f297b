package schema

// The rows of the result tables: what detect, causes and whatif write, one commit each.

// PhaseStats says how the tasks of a phase compare.
type PhaseStats struct {
	PhaseID       Key           `col:"phase_id" key:"phases" doc:"the phase"`
	Tasks         int64         `col:"tasks" doc:"distinct tasks seen"`
	Attempts      int64         `col:"attempts" doc:"attempts seen"`
	Succeeded     int64         `col:"succeeded" doc:"tasks with a successful attempt; the figures below are of the attempt that won"`
	MedianS       Null[float64] `col:"median_s" unit:"s" doc:"median duration"`
	P75S          Null[float64] `col:"p75_s" unit:"s" doc:"75th percentile of the duration"`
	P95S          Null[float64] `col:"p95_s" unit:"s" doc:"95th percentile of the duration"`
	MaxS          Null[float64] `col:"max_s" unit:"s" doc:"longest duration"`
	MedianRate    Null[float64] `col:"median_rate" unit:"basis/s" doc:"median progress rate (DOLLY §2.1.1)"`
	SlowestRate   Null[float64] `col:"slowest_rate" unit:"basis/s" doc:"lowest progress rate"`
	SlowdownRatio Null[float64] `col:"slowdown_ratio" unit:"ratio" doc:"median rate / slowest rate (DOLLY §2.1.1)"`
	SlowdownBasis Null[Basis]   `col:"slowdown_basis" doc:"what the rates are measured in"`
	Stragglers    Null[int64]   `col:"stragglers" doc:"tasks with a rate under half the median (DOLLY §2.1.2)"`
	Outliers      Null[int64]   `col:"outliers" doc:"tasks longer than 1.5 × the median (MANTRI §4.1)"`
	LostS         Null[float64] `col:"lost_s" unit:"s" doc:"how much earlier the phase would have ended with every task at most the median"`
	ModelR2       Null[float64] `col:"model_r2" unit:"fraction" doc:"variance of duration that input size and remote bytes explain"`
	ModelN        Null[int64]   `col:"model_n" doc:"attempts the model was fitted on"`
	Note          Null[string]  `col:"note" doc:"why a figure is NULL"`
}

// Outlier is an attempt that a rule calls slow.
type Outlier struct {
	AttemptID Key           `col:"attempt_id" key:"attempts" doc:"the attempt"`
	PhaseID   Key           `col:"phase_id" key:"phases" doc:"its phase"`
	Rule      Rule          `col:"rule" doc:"the rule that says so; one row a rule"`
	Ratio     Null[float64] `col:"ratio" unit:"ratio" doc:"how far over the rule's reference: duration / median, median rate / rate, duration / 75th percentile, duration / usual duration"`
	ExcessS   Null[float64] `col:"excess_s" unit:"s" doc:"duration − median of its phase, negative for a straggler with little to do; the whole duration for recompute; duration − usual duration for slower_than_usual; a lower bound for attempts that were cut off"`
}

// StageHistory says which execution of which stage a phase is, and how it compares with the earlier ones in the store.
type StageHistory struct {
	PhaseID      Key           `col:"phase_id" key:"phases" doc:"the phase, an execution of the stage"`
	Program      Null[string]  `col:"program" doc:"name of the applications, with a star for what differs in each run, such as a date"`
	Stage        string        `col:"stage" doc:"name of the phases; empty where they have none"`
	Identity     string        `col:"identity" doc:"what other executions are found by: the fingerprint of the operators that it ran of its query's plan, where the log has that; else its name"`
	Kind         string        `col:"kind" doc:"kind of the phases"`
	Ordinal      Null[int32]   `col:"ordinal" doc:"which of the stages of that identity in an application, from 1; NULL where the phase is no execution that others are compared with"`
	RunStartTime Null[Time]    `col:"run_start_time" doc:"when its application started, else the phase: what is earlier by it is an earlier execution"`
	Executions   int64         `col:"executions" doc:"earlier executions of the stage in the store"`
	Compared     int64         `col:"compared" doc:"those it is compared with: all, or 33 to 64 spread evenly over them; 0 where they are too few"`
	Tasks        int64         `col:"tasks" doc:"tasks that succeeded"`
	UsualTasks   Null[float64] `col:"usual_tasks" doc:"median of that over the earlier executions"`
	MedianS      Null[float64] `col:"median_s" unit:"s" doc:"median duration of its tasks"`
	Spread       Null[float64] `col:"spread" doc:"standard deviation of ln(duration) between its tasks, from the 95th percentile"`
	UsualS       Null[float64] `col:"usual_s" unit:"s" doc:"median of median_s over the earlier executions"`
	Ratio        Null[float64] `col:"ratio" unit:"ratio" doc:"median / usual"`
	WorkRatio    Null[float64] `col:"work_ratio" unit:"ratio" doc:"median input of a task over the usual one, in bytes, else in records"`
	BetweenRuns  Null[float64] `col:"between_runs" doc:"robust standard deviation of ln(median duration) between executions"`
	WithinRun    Null[float64] `col:"within_run" doc:"usual spread: the median of that over the earlier executions"`
	LimitS       Null[float64] `col:"limit_s" unit:"s" doc:"what the median may be, for its work and as executions differ anyway"`
	Slow         Null[bool]    `col:"slow" doc:"the phase was slow as a whole: its median is over the limit"`
	ExcessS      Null[float64] `col:"excess_s" unit:"s" doc:"(median − usual) × tasks; negative where it was faster"`
	InputBytes   Null[float64] `col:"input_bytes" unit:"bytes" doc:"median input of its tasks"`
	UsualBytes   Null[float64] `col:"usual_input_bytes" unit:"bytes" doc:"median of that over the earlier executions"`
	InputRecords Null[float64] `col:"input_records" unit:"records" doc:"median input of its tasks in records"`
	UsualRecords Null[float64] `col:"usual_input_records" unit:"records" doc:"median of that over the earlier executions"`
	CPUS         Null[float64] `col:"cpu_s" unit:"s" doc:"median processor time of its tasks"`
	UsualCPUS    Null[float64] `col:"usual_cpu_s" unit:"s" doc:"median of that over the earlier executions"`
	WaitS        Null[float64] `col:"wait_s" unit:"s" doc:"median time that its tasks waited for input from elsewhere"`
	UsualWaitS   Null[float64] `col:"usual_wait_s" unit:"s" doc:"median of that over the earlier executions"`
	TickS        Null[float64] `col:"tick_s" unit:"s" doc:"1 where all its tasks start and end at whole seconds, as by a clock of such ticks; else 0"`
	Note         Null[string]  `col:"note" doc:"why there is no history"`
}

// TaskTime is a task that succeeded, of an execution of a stage that later ones are compared with.
type TaskTime struct {
	PhaseID      Key         `col:"phase_id" key:"phases" doc:"the execution"`
	Stride       int64       `col:"stride" doc:"the most executions of the stage that lie from one to the next of those that one is compared with where this is one of them: a power of two, 2^62 of the first"`
	Task         int64       `col:"task" doc:"the task, that is the partition"`
	DurationS    float64     `col:"duration_s" unit:"s" doc:"its duration"`
	InputBytes   Null[int64] `col:"input_bytes" unit:"bytes" doc:"its input"`
	InputRecords Null[int64] `col:"input_records" unit:"records" doc:"its input in records"`
}

// Attribution is the part of an outlier's excess that one cause accounts for. Seconds of an attempt sum to its excess.
type Attribution struct {
	AttemptID  Key           `col:"attempt_id" key:"attempts" doc:"the outlier"`
	PhaseID    Key           `col:"phase_id" key:"phases" doc:"its phase"`
	Cause      Cause         `col:"cause" doc:"the cause"`
	Seconds    float64       `col:"seconds" unit:"s" doc:"part of the excess; negative where the cause made it faster than the median"`
	Share      Null[float64] `col:"share" unit:"fraction" doc:"seconds / excess"`
	Rank       int32         `col:"rank" doc:"1 = the verdict, then by seconds"`
	Confidence Null[float64] `col:"confidence" unit:"probability" doc:"of the verdict, on the row of rank 1: the share of such verdicts that are right on labelled logs"`
	Place      Null[string]  `col:"place" doc:"of network, bad_machine and gc elsewhere: where the trouble sits, such as machine m03 or rack r02; NULL where it is at several places, or unknown"`
	Evidence   string        `col:"evidence" unit:"JSON" doc:"predictor, coefficient, standard error, n, values of the task and of the median task"`
}

// ApplicationCause is what one cause made of the outliers of one application, summed over attributions.
type ApplicationCause struct {
	ApplicationID Key     `col:"application_id" key:"applications" doc:"the application"`
	Cause         Cause   `col:"cause" doc:"the cause"`
	Verdicts      int64   `col:"verdicts" doc:"outliers that it is the verdict of"`
	Seconds       float64 `col:"seconds" unit:"s" doc:"excess of all its outliers due to the cause, each to the microsecond"`
}

// HistoryAttribution is the part of an attempt's excess over its usual duration that one cause accounts for. Seconds of an
// attempt sum to the excess of its outlier slower_than_usual.
type HistoryAttribution struct {
	AttemptID Key           `col:"attempt_id" key:"attempts" doc:"the outlier"`
	PhaseID   Key           `col:"phase_id" key:"phases" doc:"its phase"`
	Cause     HistoryCause  `col:"cause" doc:"what it shares with others that are slow against their history"`
	Seconds   float64       `col:"seconds" unit:"s" doc:"part of the excess"`
	Share     float64       `col:"share" unit:"fraction" doc:"seconds / excess"`
	Rank      int32         `col:"rank" doc:"1 = the verdict, then by seconds"`
	Place     Null[string]  `col:"place" doc:"of slow_machine and shared_slowness: the machine or node; NULL where it is all machines of the phase"`
	WaitedS   Null[float64] `col:"waited_s" unit:"s" doc:"waiting of the attempt for input beyond the usual, its work considered"`
	ComputedS Null[float64] `col:"computed_s" unit:"s" doc:"its processor time beyond the usual, its work considered; negative where it was less"`
	Evidence  string        `col:"evidence" unit:"JSON" doc:"factors that the usual duration was multiplied by, and the sentence"`
}

// MachineHealth is a machine's speed relative to the others in a window of time; with an application_id, in that run and
// relative to the history of the stages whose tasks it ran.
type MachineHealth struct {
	Machine       string        `col:"machine" doc:"host name"`
	WindowStart   Time          `col:"window_start" doc:"start of the window"`
	WindowEnd     Time          `col:"window_end" doc:"end of the window"`
	Attempts      int64         `col:"attempts" doc:"attempts that speak for it"`
	Phases        int64         `col:"phases" doc:"phases that speak for it"`
	Factor        Null[float64] `col:"factor" unit:"ratio" doc:"time relative to prediction, 1 = like the others"`
	FactorLow     Null[float64] `col:"factor_low" unit:"ratio" doc:"lower end of the 95 % interval"`
	FactorHigh    Null[float64] `col:"factor_high" unit:"ratio" doc:"upper end of the 95 % interval"`
	OutlierRate   Null[float64] `col:"outlier_rate" unit:"fraction" doc:"share of its attempts that are outliers"`
	Losses        int64         `col:"losses" doc:"outputs lost on it"`
	Verdict       Verdict       `col:"verdict" doc:"healthy, slow, flaky, or unknown where the sample is too small"`
	Generation    Null[float64] `col:"generation" unit:"ratio" doc:"factor of the group of machines that it is judged against: hardware that is slower as a whole is not bad"`
	QValue        Null[float64] `col:"q_value" unit:"probability" doc:"false discovery rate at which it would be called slow in this window (Benjamini and Hochberg)"`
	Course        Null[string]  `col:"course" doc:"over all windows: chronic, intermittent, recovered; NULL where it was never slow"`
	Note          Null[string]  `col:"note" doc:"why the verdict is what the factor alone does not say: slow in some phases only, in other windows, with its whole rack, by lost outputs"`
	Predicted     Null[float64] `col:"predicted" unit:"fraction" doc:"share of its attempts expected to be outliers in the next window: half this window's, half the long-term one (DOLLY §2.1.2)"`
	ApplicationID Null[Key]     `col:"application_id" key:"applications" doc:"the run that it is judged in; NULL: all runs of the window"`
	Node          Null[string]  `col:"node" doc:"of a run: the physical machine of a container or slot whose name says so"`
	WaitRatio     Null[float64] `col:"wait_ratio" unit:"ratio" doc:"of a run: how long its tasks waited for input, over the usual"`
	CPURatio      Null[float64] `col:"cpu_ratio" unit:"ratio" doc:"of a run: the processor time of its tasks, over the usual"`
}

// SkewRepeat is a task whose input made it slow, and in how many executions of its stage.
type SkewRepeat struct {
	Program    Null[string]  `col:"program" doc:"name of the applications"`
	Stage      Null[string]  `col:"stage" doc:"name of the phases"`
	Kind       string        `col:"kind" doc:"kind of the phases"`
	Exchange   Null[string]  `col:"exchange" doc:"what its query's plan says that the stage reads: the keys of each exchange, and the tables that feed it; it is then the same stage in another execution by that, and not by its name; NULL where the log has no plan, or the stage reads files"`
	Task       Null[int64]   `col:"task" doc:"the task, that is the partition; NULL where adaptive execution put partitions together or split them in any execution, since the number then means nothing: the row is about all tasks"`
	Ordinal    Null[int32]   `col:"ordinal" doc:"which of the stages of that name, or of those exchanges, in an application, from 1; NULL where all of them count together"`
	Executions int64         `col:"executions" doc:"executions of the stage in the store, of any application of that name"`
	Skewed     int64         `col:"skewed" doc:"in how many of them data_skew was the verdict on this task, or on any where that is NULL"`
	Seconds    float64       `col:"seconds" unit:"s" doc:"what its skew took in all of them"`
	Ratio      Null[float64] `col:"ratio" unit:"ratio" doc:"its input over the median task's, mean over the executions in which it was skewed"`
	Repeats    Null[bool]    `col:"repeats" doc:"it is skewed in more than half of the executions: the key is, not the day; NULL where there is only one"`
	PhaseID    Key           `col:"phase_id" key:"phases" doc:"the execution in which its skew took longest"`
}

// SkewedTask is an attempt of which data_skew is the verdict: what skew_repeats are counted from.
type SkewedTask struct {
	AttemptID Key           `col:"attempt_id" key:"attempts" doc:"the attempt"`
	PhaseID   Key           `col:"phase_id" key:"phases" doc:"its phase"`
	Task      int64         `col:"task" doc:"the task, that is the partition"`
	Seconds   float64       `col:"seconds" unit:"s" doc:"what its skew took"`
	Ratio     Null[float64] `col:"ratio" unit:"ratio" doc:"its input over the median task's"`
}

// MachineStatistics is what the phases of one application say about a machine in a window of time: sums, which merge with those
// of other applications to the model of all. An observation is ln(factor) of the machine in one phase; its weight is one over
// its variance.
type MachineStatistics struct {
	ApplicationID Key           `col:"application_id" key:"applications" doc:"the application"`
	Machine       string        `col:"machine" doc:"host name"`
	Rack          Null[string]  `col:"rack" doc:"its rack, as the attempts say"`
	WindowStart   Null[Time]    `col:"window_start" doc:"start of the window; NULL where no phase says anything about the machine"`
	Attempts      int64         `col:"attempts" doc:"attempts that speak for it"`
	Phases        int64         `col:"phases" doc:"observations, one a phase"`
	Outliers      int64         `col:"outliers" doc:"attempts that high_runtime names"`
	Weight        float64       `col:"weight" doc:"sum of the weights"`
	Weighted      float64       `col:"weighted" doc:"sum of weight × observation"`
	Squared       float64       `col:"squared" doc:"sum of weight × observation²"`
	Over110       int64         `col:"over_110" doc:"phases that say, with 99 % certainty, that it takes over 1.1 times as long as others"`
	Over125       int64         `col:"over_125" doc:"the same of 1.25 times"`
	Over150       int64         `col:"over_150" doc:"of 1.5 times"`
	Over200       int64         `col:"over_200" doc:"of twice"`
	Over300       int64         `col:"over_300" doc:"of three times"`
	First         float64       `col:"first" doc:"largest observation"`
	FirstWeight   float64       `col:"first_weight" doc:"its weight; 0: there is none"`
	Second        float64       `col:"second" doc:"second largest"`
	SecondWeight  float64       `col:"second_weight" doc:"its weight; 0: there is none"`
	Third         float64       `col:"third" doc:"third largest"`
	ThirdWeight   float64       `col:"third_weight" doc:"its weight; 0: there is none"`
	CPUPhases     int64         `col:"cpu_phases" doc:"observations of its processor time, in all windows; on the row of its first window, else 0"`
	CPUWeight     float64       `col:"cpu_weight" doc:"sum of their weights"`
	CPUWeighted   float64       `col:"cpu_weighted" doc:"sum of weight × observation of them"`
	CPUSquared    float64       `col:"cpu_squared" doc:"sum of weight × observation² of them"`
	KnownFactor   Null[float64] `col:"known_factor" doc:"ln(factor) that the model gave it when these attempts were attributed, without an average one of these phases; NULL where no other phase spoke of it"`
	KnownVariance Null[float64] `col:"known_variance" doc:"variance of that"`
	WithRack      bool          `col:"with_rack" doc:"it was slow with its rack then"`
}

// StageStatistics is what the phases of one application say about a stage, and how attempts of it are slow by themselves: sums,
// which merge as those of machine_statistics do. The columns from work_prior on are what the model said of it, without this
// application, when its attempts were attributed.
type StageStatistics struct {
	ApplicationID    Key     `col:"application_id" key:"applications" doc:"the application"`
	Signature        int64   `col:"signature" doc:"hash of program, kind and name of the stage; 0: of phases whose program has no name"`
	Tasks            float64 `col:"tasks" doc:"tasks that were fitted"`
	LogSigma         float64 `col:"log_sigma" doc:"sum over tasks of ln(scatter) of their phase"`
	ElasticityWeight float64 `col:"elasticity_weight" doc:"sum of 1/variance of the elasticity of time to work"`
	Elasticity       float64 `col:"elasticity" doc:"sum of elasticity/variance"`
	SpillWeight      float64 `col:"spill_weight" doc:"sum of 1/variance of the seconds per spilled byte"`
	Spill            float64 `col:"spill" doc:"sum of seconds per spilled byte/variance"`
	Known            float64 `col:"known" doc:"attempts of which it is known whether they are slow by themselves"`
	Alone            float64 `col:"alone" doc:"attempts that are"`
	AloneFactor      float64 `col:"alone_factor" doc:"sum of ln(factor) of these"`
	AloneSquared     float64 `col:"alone_squared" doc:"sum of its square"`
	AloneCPUKnown    float64 `col:"alone_cpu_known" doc:"of these, those whose processor time is known"`
	AloneComputing   float64 `col:"alone_computing" doc:"of those, the ones that took more of it too"`
	Starts           float64 `col:"starts" doc:"executors, by phase, whose first tasks can be held against later ones on their machine"`
	SlowStarts       float64 `col:"slow_starts" doc:"of these, those whose first tasks are slow"`
	WorkPrior        float64 `col:"work_prior" doc:"elasticity"`
	WorkPrecision    float64 `col:"work_precision" doc:"one over its variance"`
	SpillPrior       float64 `col:"spill_prior" unit:"s" doc:"seconds per spilled byte"`
	SpillPrecision   float64 `col:"spill_precision" doc:"one over its variance; 0: nothing was known"`
	SigmaPrior       float64 `col:"sigma_prior" doc:"scatter of ln(duration)"`
	AloneProbability float64 `col:"alone_probability" unit:"probability" doc:"that an attempt is slow by itself, of all applications"`
	AloneMean        float64 `col:"alone_mean" doc:"mean ln(factor) of those that are"`
	AloneVariance    float64 `col:"alone_variance" doc:"variance of that"`
	ComputingShare   float64 `col:"computing_share" unit:"probability" doc:"that one of them takes as much more processor time"`
	SlowStart        float64 `col:"slow_start" unit:"probability" doc:"that the first tasks of an executor are slow"`
	MachinesVariance float64 `col:"machines_variance" doc:"variance of ln(factor) between machines"`
}

// QueryFinding is what a slow phase means in terms of its query: the operator, and the keys whose rows came together.
type QueryFinding struct {
	QueryID    Key           `col:"query_id" key:"queries" doc:"the query"`
	Kind       FindingKind   `col:"kind" doc:"what was found"`
	PhaseID    Null[Key]     `col:"phase_id" key:"phases" doc:"the phase with the slow tasks; NULL for what is no skew"`
	AttemptID  Null[Key]     `col:"attempt_id" key:"attempts" doc:"the worst of them"`
	NodeID     Key           `col:"node_id" key:"plan_nodes" doc:"the exchange that its rows came through, or the scan that read them; a broadcast that is too large; else the join"`
	OperatorID Null[Key]     `col:"operator_id" key:"plan_nodes" doc:"the join, aggregate, window or sort that needs the exchange; NULL where there is none"`
	Operator   string        `col:"operator" doc:"what that is called; of a scan or a bare exchange, itself"`
	Keys       Null[string]  `col:"keys" doc:"the columns that rows came together by; which value of them is heavy no log says"`
	Side       Null[Side]    `col:"side" doc:"of a join: the input that the rows belong to; NULL where the log does not say"`
	Tables     Null[string]  `col:"tables" doc:"what that input scans"`
	Other      Null[string]  `col:"other" doc:"of a join: what its other input scans"`
	Task       Null[int64]   `col:"task" doc:"the partition; NULL where adaptive execution coalesced partitions, since its number then means nothing"`
	Rows       Null[float64] `col:"rows" unit:"records" doc:"rows that the worst attempt read, NULL where its bytes are what is skewed; of an exploding join, those that it gave"`
	Ratio      Null[float64] `col:"ratio" unit:"ratio" doc:"those, or its bytes, over the median of its phase; of an exploding join, over the rows of its larger input"`
	Bytes      Null[float64] `col:"bytes" unit:"bytes" doc:"bytes that the worst attempt read, where not its rows are skewed; of a small side that was shuffled, or a large one that was broadcast: its size as Spark measured it"`
	Tasks      int64         `col:"tasks" doc:"slow tasks of the phase that it is true of; of a split, the parts"`
	Partitions Null[int64]   `col:"partitions" doc:"of a split: the skewed partitions that were split"`
	Seconds    Null[float64] `col:"seconds" unit:"s" doc:"what their data took the worst of them longer than the median"`
	QueryS     Null[float64] `col:"query_s" unit:"s" doc:"how long the query took"`
	SavesS     Null[float64] `col:"saves_s" unit:"s" doc:"how much earlier the phase would have ended with its skewed partitions split so that none had more than twice the median, replayed on as many slots"`
	SplitInto  Null[int64]   `col:"split_into" doc:"into how many parts that splits the worst"`
	Remedy     Null[Remedy]  `col:"remedy" doc:"what would help; NULL where adaptive execution did it"`
	Apply      Null[string]  `col:"apply" doc:"the lines that do it, with the settings that the query's session had in mind; NULL where the statement has to be written otherwise"`
	WhyNot     Null[string]  `col:"why_not" doc:"why what is usually advised would not help here"`
	Exchange   string        `col:"exchange" doc:"fingerprint of the exchange or scan, and its keys: the same in every run of the plan"`
}

// JobCost is what a cause cost a job: its completion time with that cause's excess removed, replayed.
type JobCost struct {
	JobID    Key           `col:"job_id" key:"jobs" doc:"the job"`
	Cause    Cause         `col:"cause" doc:"the cause removed"`
	SumS     float64       `col:"sum_s" unit:"s" doc:"excess of all its outliers due to the cause, over all slots"`
	CostS    Null[float64] `col:"cost_s" unit:"s" doc:"how much earlier the job would have ended without it"`
	CostLow  Null[float64] `col:"cost_low" unit:"s" doc:"lower end of the 95 % interval"`
	CostHigh Null[float64] `col:"cost_high" unit:"s" doc:"upper end of the 95 % interval"`
	Together Null[float64] `col:"together_s" unit:"s" doc:"how much earlier the job would have ended without any of its causes, the same on all its rows: the costs sum to less where causes hide behind one another, to more where the slots that one frees are those that another would"`
	Note     Null[string]  `col:"note" doc:"why a figure is NULL, or what it assumes"`
}

// WhatifRun is one replay of one job under one policy and seed.
type WhatifRun struct {
	RunID         int64         `col:"run_id" doc:"number of the replay"`
	Policy        string        `col:"policy" doc:"name of the policy"`
	Parameters    string        `col:"parameters" unit:"JSON" doc:"its parameters"`
	Seed          int64         `col:"seed" doc:"seed of the draws"`
	ApplicationID Key           `col:"application_id" key:"applications" doc:"the application"`
	JobID         Key           `col:"job_id" key:"jobs" doc:"the job"`
	ObservedS     Null[float64] `col:"observed_s" unit:"s" doc:"completion time in the log"`
	ReplayS       Null[float64] `col:"replay_s" unit:"s" doc:"completion time replayed with policy none and the same seed"`
	PredictedS    Null[float64] `col:"predicted_s" unit:"s" doc:"completion time replayed with the policy"`
	Copies        int64         `col:"copies" doc:"copies launched"`
	Wins          int64         `col:"wins" doc:"copies that finished first"`
	Kills         int64         `col:"kills" doc:"attempts killed"`
	WastedSlotS   float64       `col:"wasted_slot_s" unit:"s" doc:"slot time of attempts whose result was not used"`
	TotalSlotS    float64       `col:"total_slot_s" unit:"s" doc:"slot time of all attempts"`
}

// WhatifSaving is what a policy saves, paired with policy none over the seeds.
type WhatifSaving struct {
	Policy         string        `col:"policy" doc:"name of the policy"`
	Parameters     string        `col:"parameters" unit:"JSON" doc:"its parameters"`
	JobID          Null[Key]     `col:"job_id" key:"jobs" doc:"the job; NULL = all of them"`
	SavingS        Null[float64] `col:"saving_s" unit:"s" doc:"mean of replay − predicted over the seeds"`
	SavingLow      Null[float64] `col:"saving_low" unit:"s" doc:"lower end of the 95 % interval that the saving of another run lies in; NULL where one seed does not tell"`
	SavingHigh     Null[float64] `col:"saving_high" unit:"s" doc:"upper end of that interval"`
	SavingShare    Null[float64] `col:"saving_share" unit:"fraction" doc:"saving / replayed completion time"`
	SlotTimeChange Null[float64] `col:"slot_time_change" unit:"fraction" doc:"change of the slot time used"`
	Verdict        SavingVerdict `col:"verdict" doc:"what the saving comes to: saves, costs time, changes nothing, no clear effect where the interval holds 0, cannot tell where the replay misses the log by more, the interval is not known or most attempts have no end in the log"`
	Assumptions    string        `col:"assumptions" unit:"JSON" doc:"what the figure rests on, the replay error among it"`
}

// SimulateRun is one run of a workload under a scheduler, a policy and a seed.
type SimulateRun struct {
	RunID            int64         `col:"run_id" doc:"number of the run"`
	Workload         string        `col:"workload" doc:"name of the workload"`
	Scheduler        string        `col:"scheduler" doc:"name of the scheduler, with the options that were given"`
	SchedulerOptions string        `col:"scheduler_options" unit:"JSON" doc:"all its options"`
	Policy           string        `col:"policy" doc:"name of the straggler policy"`
	PolicyOptions    string        `col:"policy_options" unit:"JSON" doc:"its options"`
	Seed             int64         `col:"seed" doc:"seed of the draws; the same seed is the same jobs under all schedulers"`
	Jobs             int64         `col:"jobs" doc:"jobs"`
	Tasks            int64         `col:"tasks" doc:"tasks of all jobs"`
	EndedJobs        Null[int64]   `col:"ended_jobs" doc:"jobs that had ended by the instant that the workload counts until; NULL where it names none"`
	MakespanS        float64       `col:"makespan_s" unit:"s" doc:"from the first submission to the last end"`
	MeanS            float64       `col:"mean_s" unit:"s" doc:"mean completion time of the jobs"`
	MedianS          float64       `col:"median_s" unit:"s" doc:"median completion time"`
	P95S             float64       `col:"p95_s" unit:"s" doc:"95th percentile of the completion times"`
	NodeLocal        Null[float64] `col:"node_local" unit:"fraction" doc:"share of the attempts with input on some machine that ran on one; NULL where there are none"`
	RackLocal        Null[float64] `col:"rack_local" unit:"fraction" doc:"share that ran in a rack with their input, on the machine itself among them"`
	RemoteBytes      int64         `col:"remote_bytes" unit:"bytes" doc:"input read from other machines"`
	CrossRackBytes   int64         `col:"cross_rack_bytes" unit:"bytes" doc:"input and outputs of earlier phases read from other racks"`
	Copies           int64         `col:"copies" doc:"copies that the policy launched"`
	Kills            int64         `col:"kills" doc:"attempts killed, by the scheduler, the policy or a faster copy"`
	WastedSlotS      float64       `col:"wasted_slot_s" unit:"s" doc:"slot time of attempts that were killed"`
	TotalSlotS       float64       `col:"total_slot_s" unit:"s" doc:"slot time of all attempts"`
}

// SimulateJob is a job of a run.
type SimulateJob struct {
	RunID       int64         `col:"run_id" doc:"the run"`
	Job         int64         `col:"job" doc:"number of the job in the run; the same number and seed is the same job"`
	Name        string        `col:"name" doc:"name of the job, or of its bin"`
	Queue       string        `col:"queue" doc:"queue or pool"`
	Tasks       int64         `col:"tasks" doc:"its tasks"`
	SubmitS     float64       `col:"submit_s" unit:"s" doc:"submission, from the start of the run"`
	TookS       float64       `col:"took_s" unit:"s" doc:"completion time"`
	NodeLocal   Null[float64] `col:"node_local" unit:"fraction" doc:"share of its attempts with input on some machine that ran on one; NULL where there are none"`
	RackLocal   Null[float64] `col:"rack_local" unit:"fraction" doc:"share that ran in a rack with their input"`
	Copies      int64         `col:"copies" doc:"copies that the policy launched"`
	Kills       int64         `col:"kills" doc:"attempts killed"`
	WastedSlotS float64       `col:"wasted_slot_s" unit:"s" doc:"slot time of attempts that were killed"`
	TotalSlotS  float64       `col:"total_slot_s" unit:"s" doc:"slot time of all attempts"`
}

// SimulateSample is a figure at an instant of a run.
type SimulateSample struct {
	RunID int64   `col:"run_id" doc:"the run"`
	TimeS float64 `col:"time_s" unit:"s" doc:"the instant, from the start of the run"`
	What  string  `col:"what" doc:"map_slots, reduce_slots: in use; waiting: tasks without a slot; uplinks, downlinks: mean load of the racks' links as a share of what they carry"`
	Queue string  `col:"queue" doc:"queue or pool; empty for what belongs to none"`
	Value float64 `col:"value" doc:"the figure"`
}
