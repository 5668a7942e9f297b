package schema

// The rows of the log tables: what ingest writes. A field's tag names its column; `unit`, `key` and `doc` describe it.
// A plain field is never NULL, a Null field may be.

// Application is one run of a program: a Spark application attempt, a Hadoop job, a workflow.
type Application struct {
	ApplicationID    Key          `col:"application_id" key:"primary" doc:"key of the application"`
	NativeID         string       `col:"native_id" doc:"the framework's own id"`
	Name             Null[string] `col:"name" doc:"the user's name for it"`
	User             Null[string] `col:"user" doc:"who ran it"`
	Queue            Null[string] `col:"queue" doc:"queue or pool it ran in"`
	Framework        string       `col:"framework" doc:"spark, mapreduce, tez, …"`
	FrameworkVersion Null[string] `col:"framework_version" doc:"version as the log writes it"`
	StartTime        Null[Time]   `col:"start_time" doc:"when it started"`
	FinishTime       Null[Time]   `col:"finish_time" doc:"when it ended; NULL when the log stops before"`
	Status           RunStatus    `col:"status" doc:"how it ended"`
	SourceFile       string       `col:"source_file" doc:"the file or directory it was read from"`
	Complete         bool         `col:"complete" doc:"the log holds the application from start to end"`
	TimeOrigin       string       `col:"time_origin" doc:"what the instants count from: epoch, or trace where the log hides its date (then 1970 is the trace's start)"`
}

// Setting is a configuration value that the log carries; secrets are never kept.
type Setting struct {
	ApplicationID Key    `col:"application_id" key:"applications" doc:"the application it belongs to"`
	Name          string `col:"name" doc:"name of the setting, such as spark.speculation"`
	Value         string `col:"value" doc:"its value as the log writes it"`
}

// Caveat is something a reader must know before trusting an application's rows.
type Caveat struct {
	ApplicationID Key         `col:"application_id" key:"applications" doc:"the application it is about"`
	Code          string      `col:"code" doc:"short stable name, such as log_incomplete, ends_without_start, compacted, no_rack"`
	Count         Null[int64] `col:"count" doc:"how many rows or events are concerned"`
	Detail        string      `col:"detail" doc:"the caveat in one sentence"`
}

// Job is a unit of work that a user waits for.
type Job struct {
	JobID         Key          `col:"job_id" key:"primary" doc:"key of the job"`
	ApplicationID Key          `col:"application_id" key:"applications" doc:"the application it belongs to"`
	NativeID      string       `col:"native_id" doc:"the framework's own id, such as Spark's Job ID"`
	Name          Null[string] `col:"name" doc:"description or call site"`
	SubmitTime    Null[Time]   `col:"submit_time" doc:"when it was submitted"`
	StartTime     Null[Time]   `col:"start_time" doc:"when its first attempt started"`
	FinishTime    Null[Time]   `col:"finish_time" doc:"when it ended"`
	Status        RunStatus    `col:"status" doc:"how it ended"`
}

// Phase is a set of tasks that do the same to different data: a Spark stage attempt, the maps of a Hadoop job.
type Phase struct {
	PhaseID    Key          `col:"phase_id" key:"primary" doc:"key of the phase"`
	JobID      Key          `col:"job_id" key:"jobs" doc:"the job it belongs to; a stage shared by several belongs to the first"`
	NativeID   string       `col:"native_id" doc:"the framework's own id, such as Spark's Stage ID"`
	Attempt    int32        `col:"attempt" doc:"re-submission number, 0 for the first"`
	Name       Null[string] `col:"name" doc:"name, often with the call site"`
	Kind       string       `col:"kind" doc:"map, reduce, shuffle_map, result, …"`
	TaskCount  Null[int64]  `col:"task_count" doc:"tasks as planned"`
	SubmitTime Null[Time]   `col:"submit_time" doc:"when it was submitted"`
	StartTime  Null[Time]   `col:"start_time" doc:"when its first attempt started"`
	FinishTime Null[Time]   `col:"finish_time" doc:"when its last attempt ended, which may be after the framework called it complete"`
	Status     RunStatus    `col:"status" doc:"how it ended; skipped when it was planned and never submitted"`
	Recompute  bool         `col:"recompute" doc:"it regenerates outputs that were lost"`
	Gang       bool         `col:"gang" doc:"its tasks are not independent"`
}

// Edge is a dependency between two phases of a job.
type Edge struct {
	JobID     Key     `col:"job_id" key:"jobs" doc:"the job both belong to"`
	FromPhase Key     `col:"from_phase" key:"phases" doc:"the phase whose output is read"`
	ToPhase   Key     `col:"to_phase" key:"phases" doc:"the phase that reads it"`
	Pattern   Pattern `col:"pattern" doc:"which outputs feed which tasks"`
	Barrier   bool    `col:"barrier" doc:"to_phase starts only when from_phase has ended"`
}

// Attempt is one execution of a task.
type Attempt struct {
	AttemptID         Key            `col:"attempt_id" key:"primary" doc:"key of the attempt"`
	PhaseID           Key            `col:"phase_id" key:"phases" doc:"the phase it belongs to"`
	JobID             Key            `col:"job_id" key:"jobs" doc:"the job it belongs to"`
	ApplicationID     Key            `col:"application_id" key:"applications" doc:"the application it belongs to"`
	Task              int64          `col:"task" doc:"index of the task in its phase: the partition where the log says it"`
	Number            int32          `col:"number" doc:"attempt of that task, 0 for the first"`
	NativeID          string         `col:"native_id" doc:"the framework's own id, such as Spark's Task ID"`
	Machine           Null[string]   `col:"machine" doc:"host it ran on"`
	Rack              Null[string]   `col:"rack" doc:"rack of the machine"`
	Executor          Null[string]   `col:"executor" doc:"executor or container on the machine"`
	QueuedTime        Null[Time]     `col:"queued_time" doc:"when it became ready to run"`
	StartTime         Null[Time]     `col:"start_time" doc:"when it was launched"`
	FinishTime        Null[Time]     `col:"finish_time" doc:"when it ended"`
	DurationS         Null[float64]  `col:"duration_s" unit:"s" doc:"finish − start"`
	Status            AttemptStatus  `col:"status" doc:"how it ended"`
	Reason            Null[string]   `col:"reason" doc:"why it failed or was killed, shortened"`
	Speculative       Null[bool]     `col:"speculative" doc:"a copy of a running task"`
	Recompute         bool           `col:"recompute" doc:"regenerates an output that was lost"`
	Locality          Null[Locality] `col:"locality" doc:"how far from its data it ran"`
	InputBytes        Null[int64]    `col:"input_bytes" unit:"bytes" doc:"bytes read, from storage and from other phases"`
	LocalBytes        Null[int64]    `col:"local_bytes" unit:"bytes" doc:"part of input_bytes read from its own machine"`
	RemoteBytes       Null[int64]    `col:"remote_bytes" unit:"bytes" doc:"part of input_bytes read from other machines"`
	CrossRackBytes    Null[int64]    `col:"cross_rack_bytes" unit:"bytes" doc:"part of input_bytes read from other racks"`
	InputRecords      Null[int64]    `col:"input_records" unit:"records" doc:"records read, from storage and from other phases"`
	OutputBytes       Null[int64]    `col:"output_bytes" unit:"bytes" doc:"bytes written to storage"`
	ShuffleWriteBytes Null[int64]    `col:"shuffle_write_bytes" unit:"bytes" doc:"bytes written for later phases"`
	SpillBytes        Null[int64]    `col:"spill_bytes" unit:"bytes" doc:"bytes spilled to disk"`
	CPUS              Null[float64]  `col:"cpu_s" unit:"s" doc:"processor time"`
	GCS               Null[float64]  `col:"gc_s" unit:"s" doc:"garbage collection of its process while it ran"`
	FetchWaitS        Null[float64]  `col:"fetch_wait_s" unit:"s" doc:"blocked on blocks from other machines"`
	SchedulerDelayS   Null[float64]  `col:"scheduler_delay_s" unit:"s" doc:"between launch and run, and run and finish, as the framework's own pages define it"`
	DeserializeS      Null[float64]  `col:"deserialize_s" unit:"s" doc:"deserialising the task"`
	ResultS           Null[float64]  `col:"result_s" unit:"s" doc:"serialising the result and fetching it"`
	PeakMemoryBytes   Null[int64]    `col:"peak_memory_bytes" unit:"bytes" doc:"most memory held"`
	Quality           Quality        `col:"quality" unit:"bit mask" doc:"1 partial, 2 bytes estimated, 4 rack unknown, 8 time synthetic, 16 task is not the partition, 32 time repaired, 64 metrics missing, 128 gang member"`
}

// Machine is a machine, or one executor on it, for as long as it was there.
type Machine struct {
	ApplicationID Null[Key]     `col:"application_id" key:"applications" doc:"the application whose log says so; NULL when the trace is of the whole cluster"`
	Machine       string        `col:"machine" doc:"host name"`
	Executor      Null[string]  `col:"executor" doc:"the executor the slots belong to; NULL for the machine as a whole"`
	Rack          Null[string]  `col:"rack" doc:"rack or failure domain"`
	Slots         Null[int64]   `col:"slots" doc:"tasks it can run at once"`
	Cores         Null[float64] `col:"cores" doc:"processor cores, or the fraction of the largest machine where the trace hides the number"`
	MemoryBytes   Null[int64]   `col:"memory_bytes" unit:"bytes" doc:"memory"`
	Platform      Null[string]  `col:"platform" doc:"hardware or role"`
	AddedTime     Null[Time]    `col:"added_time" doc:"when it joined"`
	RemovedTime   Null[Time]    `col:"removed_time" doc:"when it left; NULL when it stayed"`
}

// MachineUsage is a sample of a machine's load.
type MachineUsage struct {
	Machine string        `col:"machine" doc:"host name"`
	Time    Time          `col:"time" doc:"start of the window"`
	WindowS Null[float64] `col:"window_s" unit:"s" doc:"length of the window"`
	CPU     Null[float64] `col:"cpu" unit:"fraction" doc:"processor load, 0 to 1"`
	Memory  Null[float64] `col:"memory" unit:"fraction" doc:"memory in use, 0 to 1"`
	Disk    Null[float64] `col:"disk" unit:"fraction" doc:"disk load, 0 to 1"`
	Network Null[float64] `col:"network" unit:"fraction" doc:"network load, 0 to 1"`
}

// Progress is a sample of how far an attempt had got.
type Progress struct {
	AttemptID Key            `col:"attempt_id" key:"attempts" doc:"the attempt"`
	Time      Time           `col:"time" doc:"when"`
	Progress  float64        `col:"progress" unit:"fraction" doc:"0 to 1"`
	BytesRead Null[int64]    `col:"bytes_read" unit:"bytes" doc:"input read by then"`
	Source    ProgressSource `col:"source" doc:"where the number comes from"`
}

// Loss is an output that was finished and then lost.
type Loss struct {
	PhaseID      Key          `col:"phase_id" key:"phases" doc:"the phase whose output was lost"`
	Task         int64        `col:"task" doc:"the task whose output was lost"`
	AttemptID    Null[Key]    `col:"attempt_id" key:"attempts" doc:"the attempt that had made it"`
	Machine      Null[string] `col:"machine" doc:"where the output was"`
	Time         Null[Time]   `col:"time" doc:"when the loss was noticed"`
	DetectedBy   Null[Key]    `col:"detected_by" key:"attempts" doc:"the attempt that failed to read it; NULL when it was noticed because the machine ended"`
	RecomputedBy Null[Key]    `col:"recomputed_by" key:"attempts" doc:"the attempt that made it again"`
}

// Transfer is data a task read from one place.
type Transfer struct {
	PhaseID       Key          `col:"phase_id" key:"phases" doc:"the phase that reads"`
	Task          int64        `col:"task" doc:"the task that reads"`
	SourceMachine Null[string] `col:"source_machine" doc:"where the data lay"`
	SourceRack    Null[string] `col:"source_rack" doc:"rack where the data lay"`
	Bytes         int64        `col:"bytes" unit:"bytes" doc:"how much"`
}

// Query is one execution of Spark SQL: an action on a DataFrame, a statement, or one that such an execution started.
type Query struct {
	QueryID            Key          `col:"query_id" key:"primary" doc:"key of the query"`
	ApplicationID      Key          `col:"application_id" key:"applications" doc:"the application it belongs to"`
	NativeID           string       `col:"native_id" doc:"the framework's own id, such as Spark's execution id"`
	RootID             Null[Key]    `col:"root_id" key:"queries" doc:"the query that started it, such as a write whose source is computed first; NULL where none did"`
	Description        Null[string] `col:"description" doc:"what the user called it, or its call site; without the literals of SQL unless they were asked for"`
	StartTime          Null[Time]   `col:"start_time" doc:"when it started"`
	FinishTime         Null[Time]   `col:"finish_time" doc:"when it ended"`
	Status             RunStatus    `col:"status" doc:"how it ended"`
	Adaptive           Null[bool]   `col:"adaptive" doc:"it was planned again while it ran; NULL where the log has no plan"`
	FinalPlan          Null[bool]   `col:"final_plan" doc:"the plan called final is known to be the one that ran to the end"`
	Operators          Null[int64]  `col:"operators" doc:"operators of its final plan, those that were not kept among them"`
	PlanFingerprint    Null[string] `col:"plan_fingerprint" doc:"the same for the same final plan, whatever the ids, literals, sizes and numbers of partitions in it"`
	InitialFingerprint Null[string] `col:"initial_fingerprint" doc:"the same of the plan as it was made before it ran"`
	Shape              Null[string] `col:"shape" doc:"the same for plans that scan the same tables and join and group by the same keys, however they do it"`
}

// QuerySetting is a setting of a query's session that differs from the application's.
type QuerySetting struct {
	QueryID Key    `col:"query_id" key:"queries" doc:"the query"`
	Name    string `col:"name" doc:"name of the setting"`
	Value   string `col:"value" doc:"its value as the log writes it; secrets are never kept"`
}

// QueryJob is a job that a query ran.
type QueryJob struct {
	QueryID Key `col:"query_id" key:"queries" doc:"the query"`
	JobID   Key `col:"job_id" key:"jobs" doc:"the job"`
}

// PlanNode is an operator of a query's physical plan.
type PlanNode struct {
	NodeID      Key          `col:"node_id" key:"primary" doc:"key of the operator"`
	QueryID     Key          `col:"query_id" key:"queries" doc:"the query"`
	Plan        PlanStage    `col:"plan" doc:"which of the query's plans it is of: as made before it ran, or as it ran; both are there where nothing was changed"`
	Position    int32        `col:"position" doc:"its place in the plan, from 0, its parent before it"`
	ParentID    Null[Key]    `col:"parent_id" key:"plan_nodes" doc:"the operator that reads what it makes; NULL at the top"`
	ReusesID    Null[Key]    `col:"reuses_id" key:"plan_nodes" doc:"of a reused exchange: the one whose output it reads again; what ran below that stands there only"`
	Kind        NodeKind     `col:"kind" doc:"what it does"`
	Operator    string       `col:"operator" doc:"its name in Spark, whatever engine runs it"`
	Engine      Native       `col:"engine" doc:"the engine that runs it"`
	Detail      Null[string] `col:"detail" doc:"its arguments without the ids of expressions and, unless they were asked for, without literals"`
	Keys        Null[string] `col:"keys" doc:"of a join: the left keys; of an aggregate or window: the grouping keys; of a sort: what it sorts by; of an exchange: what it partitions by"`
	RightKeys   Null[string] `col:"right_keys" doc:"of a join: the right keys"`
	JoinType    Null[string] `col:"join_type" doc:"of a join: Inner, LeftOuter, …"`
	BuildSide   Null[Side]   `col:"build_side" doc:"of a hash join: the input that is held in memory"`
	Side        Null[Side]   `col:"side" doc:"which input of the nearest join above it feeds"`
	Source      Null[string] `col:"source" doc:"of a scan: the table, or the last name of the path"`
	Path        Null[string] `col:"path" doc:"of a scan: where the files lie"`
	Tables      Null[string] `col:"tables" doc:"the sources of all scans below it, but for those of subqueries"`
	Partitions  Null[int64]  `col:"partitions" doc:"of an exchange: how many partitions it was planned with"`
	Coalesced   bool         `col:"coalesced" doc:"of a shuffle read of adaptive execution: it reads several partitions as one"`
	Split       bool         `col:"split" doc:"of a shuffle read of adaptive execution, or a join: it reads skewed partitions in parts"`
	Codegen     Null[int32]  `col:"codegen" doc:"the generated function it is fused into, by its number in the plan"`
	Fingerprint string       `col:"fingerprint" doc:"the same for the same operator over the same operators, whatever the ids and literals"`
}

// NodeMetric is what an operator of a final plan counted, summed over its tasks.
type NodeMetric struct {
	QueryID Key        `col:"query_id" key:"queries" doc:"the query"`
	NodeID  Null[Key]  `col:"node_id" key:"plan_nodes" doc:"the operator; NULL where the log names the metric of a subquery without its operator"`
	Name    string     `col:"name" doc:"the metric as Spark calls it, such as number of output rows"`
	Value   float64    `col:"value" doc:"sum over all tasks, or what the driver said"`
	Unit    MetricUnit `col:"unit" doc:"what it is counted in"`
	Driver  bool       `col:"driver" doc:"the driver measured it, and no task"`
}

// NodePhase says that an operator ran in a phase.
type NodePhase struct {
	QueryID Key       `col:"query_id" key:"queries" doc:"the query"`
	NodeID  Key       `col:"node_id" key:"plan_nodes" doc:"the operator"`
	PhaseID Key       `col:"phase_id" key:"phases" doc:"the phase"`
	Role    NodeRole  `col:"role" doc:"what of the operator ran there: an exchange is written in one phase and read in another"`
	Basis   NodeBasis `col:"basis" doc:"how that is known"`
}

// NodeAttempt is what one attempt counted for an operator. Only the attempts of a phase that read most or ran longest have
// rows.
type NodeAttempt struct {
	AttemptID Key        `col:"attempt_id" key:"attempts" doc:"the attempt"`
	NodeID    Key        `col:"node_id" key:"plan_nodes" doc:"the operator"`
	Name      string     `col:"name" doc:"the metric as Spark calls it"`
	Value     float64    `col:"value" doc:"what the attempt added to it"`
	Unit      MetricUnit `col:"unit" doc:"what it is counted in"`
}

// Reject is a record that could not be used.
type Reject struct {
	SourceFile string      `col:"source_file" doc:"the file it stands in"`
	Line       Null[int64] `col:"line" doc:"line, from 1; NULL in files without lines"`
	ByteOffset int64       `col:"byte_offset" unit:"bytes" doc:"where the record starts in the decompressed file"`
	Reason     string      `col:"reason" doc:"why it was rejected and what to do"`
	Sample     string      `col:"sample" doc:"its first 200 bytes, made printable"`
}

// Ingest is one committed ingest.
type Ingest struct {
	IngestID    string  `col:"ingest_id" key:"primary" doc:"id of the commit"`
	Files       int64   `col:"files" doc:"files read"`
	Bytes       int64   `col:"bytes" unit:"bytes" doc:"uncompressed bytes read"`
	RowsIn      int64   `col:"rows_in" doc:"records read: lines, events, datums"`
	RowsOut     int64   `col:"rows_out" doc:"records decoded: used, or knowingly skipped; rows_in = rows_out + rejects"`
	Rejects     int64   `col:"rejects" doc:"records that could not be used"`
	Format      string  `col:"format" doc:"formats recognised, comma separated"`
	ToolVersion string  `col:"tool_version" doc:"version of straggler"`
	Seconds     float64 `col:"seconds" unit:"s" doc:"time the ingest took"`
}
