package schema

// The rows of the log tables, which ingest writes. The tag `col` of a field names its column; `unit`, `key` and `doc`
// describe it. A field of type Null may be NULL, any other may not.

// Application is one run of a program: a Spark application attempt, a Hadoop job, a workflow.
type Application struct {
	ApplicationID    Key          `col:"application_id" key:"primary" doc:"key of the application"`
	NativeID         string       `col:"native_id" doc:"the framework's own id"`
	Name             Null[string] `col:"name" doc:"name given by the user"`
	User             Null[string] `col:"user" doc:"user who ran it"`
	Queue            Null[string] `col:"queue" doc:"scheduler queue or pool"`
	Framework        string       `col:"framework" doc:"spark, mapreduce, tez, …"`
	FrameworkVersion Null[string] `col:"framework_version" doc:"version as written in the log"`
	StartTime        Null[Time]   `col:"start_time" doc:"start time"`
	FinishTime       Null[Time]   `col:"finish_time" doc:"end time; NULL if the log stops earlier"`
	Status           RunStatus    `col:"status" doc:"how it ended"`
	SourceFile       string       `col:"source_file" doc:"file or directory that it was read from"`
	Complete         bool         `col:"complete" doc:"the log covers the application from start to end"`
	TimeOrigin       string       `col:"time_origin" doc:"origin of its times: epoch, or trace if the log hides the date (times then count from 1970)"`
}

// Setting is a configuration value that the log carries; secrets are never kept.
type Setting struct {
	ApplicationID Key    `col:"application_id" key:"applications" doc:"the application it belongs to"`
	Name          string `col:"name" doc:"name of the setting, such as spark.speculation"`
	Value         string `col:"value" doc:"value as written in the log"`
}

// Caveat is something to know before trusting an application's rows.
type Caveat struct {
	ApplicationID Key         `col:"application_id" key:"applications" doc:"the application concerned"`
	Code          string      `col:"code" doc:"short stable name, such as log_incomplete, ends_without_start, compacted, no_rack"`
	Count         Null[int64] `col:"count" doc:"number of rows or events concerned"`
	Detail        string      `col:"detail" doc:"the caveat in one sentence"`
}

// Job is a unit of work that a user waits for.
type Job struct {
	JobID         Key          `col:"job_id" key:"primary" doc:"key of the job"`
	ApplicationID Key          `col:"application_id" key:"applications" doc:"the application it belongs to"`
	NativeID      string       `col:"native_id" doc:"the framework's own id, such as Spark's Job ID"`
	Name          Null[string] `col:"name" doc:"description or call site"`
	SubmitTime    Null[Time]   `col:"submit_time" doc:"submission time"`
	StartTime     Null[Time]   `col:"start_time" doc:"start of its first attempt"`
	FinishTime    Null[Time]   `col:"finish_time" doc:"end time"`
	Status        RunStatus    `col:"status" doc:"how it ended"`
}

// Phase is a set of tasks that do the same work on different data: a Spark stage attempt, the maps of a Hadoop job.
type Phase struct {
	PhaseID    Key          `col:"phase_id" key:"primary" doc:"key of the phase"`
	JobID      Key          `col:"job_id" key:"jobs" doc:"the job it belongs to; the first one if several jobs share the stage"`
	NativeID   string       `col:"native_id" doc:"the framework's own id, such as Spark's Stage ID"`
	Attempt    int32        `col:"attempt" doc:"number of the resubmission, 0 for the first submission"`
	Name       Null[string] `col:"name" doc:"name, often including the call site"`
	Kind       string       `col:"kind" doc:"map, reduce, shuffle_map, result, …"`
	TaskCount  Null[int64]  `col:"task_count" doc:"planned number of tasks"`
	SubmitTime Null[Time]   `col:"submit_time" doc:"submission time"`
	StartTime  Null[Time]   `col:"start_time" doc:"start of its first attempt"`
	FinishTime Null[Time]   `col:"finish_time" doc:"end of its last attempt, which may be after the framework reported the phase as complete"`
	Status     RunStatus    `col:"status" doc:"how it ended; skipped if it was planned but never submitted"`
	Recompute  bool         `col:"recompute" doc:"it recomputes lost outputs"`
	Gang       bool         `col:"gang" doc:"its tasks run together and wait for one another, so they are not independent"`
}

// Edge is a dependency between two phases of a job.
type Edge struct {
	JobID     Key     `col:"job_id" key:"jobs" doc:"the job that both phases belong to"`
	FromPhase Key     `col:"from_phase" key:"phases" doc:"the phase that writes the output"`
	ToPhase   Key     `col:"to_phase" key:"phases" doc:"the phase that reads it"`
	Pattern   Pattern `col:"pattern" doc:"which outputs feed which tasks"`
	Barrier   bool    `col:"barrier" doc:"to_phase starts only after from_phase has ended"`
}

// Attempt is one execution of a task.
type Attempt struct {
	AttemptID         Key            `col:"attempt_id" key:"primary" doc:"key of the attempt"`
	PhaseID           Key            `col:"phase_id" key:"phases" doc:"the phase it belongs to"`
	JobID             Key            `col:"job_id" key:"jobs" doc:"the job it belongs to"`
	ApplicationID     Key            `col:"application_id" key:"applications" doc:"the application it belongs to"`
	Task              int64          `col:"task" doc:"index of the task in its phase; the partition, if the log gives it"`
	Number            int32          `col:"number" doc:"number of the attempt of that task, 0 for the first"`
	NativeID          string         `col:"native_id" doc:"the framework's own id, such as Spark's Task ID"`
	Machine           Null[string]   `col:"machine" doc:"host it ran on"`
	Rack              Null[string]   `col:"rack" doc:"rack of the machine"`
	Executor          Null[string]   `col:"executor" doc:"executor or container on the machine"`
	QueuedTime        Null[Time]     `col:"queued_time" doc:"time at which it became ready to run"`
	StartTime         Null[Time]     `col:"start_time" doc:"launch time"`
	FinishTime        Null[Time]     `col:"finish_time" doc:"end time"`
	DurationS         Null[float64]  `col:"duration_s" unit:"s" doc:"finish − start"`
	Status            AttemptStatus  `col:"status" doc:"how it ended"`
	Reason            Null[string]   `col:"reason" doc:"why it failed or was killed, abbreviated"`
	Speculative       Null[bool]     `col:"speculative" doc:"it is a copy of a running task"`
	Recompute         bool           `col:"recompute" doc:"it recomputes a lost output"`
	Locality          Null[Locality] `col:"locality" doc:"distance between the attempt and its data"`
	InputBytes        Null[int64]    `col:"input_bytes" unit:"bytes" doc:"bytes read, from storage and from other phases"`
	LocalBytes        Null[int64]    `col:"local_bytes" unit:"bytes" doc:"part of input_bytes read from the attempt's own machine"`
	RemoteBytes       Null[int64]    `col:"remote_bytes" unit:"bytes" doc:"part of input_bytes read from other machines"`
	CrossRackBytes    Null[int64]    `col:"cross_rack_bytes" unit:"bytes" doc:"part of input_bytes read from other racks"`
	InputRecords      Null[int64]    `col:"input_records" unit:"records" doc:"records read, from storage and from other phases"`
	OutputBytes       Null[int64]    `col:"output_bytes" unit:"bytes" doc:"bytes written to storage"`
	ShuffleWriteBytes Null[int64]    `col:"shuffle_write_bytes" unit:"bytes" doc:"bytes written for later phases"`
	SpillBytes        Null[int64]    `col:"spill_bytes" unit:"bytes" doc:"bytes spilled to disk"`
	CPUS              Null[float64]  `col:"cpu_s" unit:"s" doc:"processor time"`
	GCS               Null[float64]  `col:"gc_s" unit:"s" doc:"garbage collection in its process while it ran"`
	FetchWaitS        Null[float64]  `col:"fetch_wait_s" unit:"s" doc:"time waiting for blocks from other machines"`
	SchedulerDelayS   Null[float64]  `col:"scheduler_delay_s" unit:"s" doc:"time from launch to run and from the end of the run to finish, as the framework's own UI defines it"`
	DeserializeS      Null[float64]  `col:"deserialize_s" unit:"s" doc:"time deserializing the task"`
	ResultS           Null[float64]  `col:"result_s" unit:"s" doc:"time serializing and fetching the result"`
	PeakMemoryBytes   Null[int64]    `col:"peak_memory_bytes" unit:"bytes" doc:"peak memory"`
	Quality           Quality        `col:"quality" unit:"bit mask" doc:"1 partial, 2 bytes estimated, 4 rack unknown, 8 synthetic times, 16 task is not the partition, 32 time repaired, 64 metrics missing, 128 gang member"`
}

// Machine is a machine, or one executor on it, during the time it was present.
type Machine struct {
	ApplicationID Null[Key]     `col:"application_id" key:"applications" doc:"the application whose log names it; NULL for a trace of the whole cluster"`
	Machine       string        `col:"machine" doc:"host name"`
	Executor      Null[string]  `col:"executor" doc:"the executor that the slots belong to; NULL for the machine as a whole"`
	Rack          Null[string]  `col:"rack" doc:"rack or failure domain"`
	Slots         Null[int64]   `col:"slots" doc:"number of tasks it can run at once"`
	Cores         Null[float64] `col:"cores" doc:"processor cores; if the trace hides the number, the fraction of the largest machine"`
	MemoryBytes   Null[int64]   `col:"memory_bytes" unit:"bytes" doc:"memory"`
	Platform      Null[string]  `col:"platform" doc:"hardware or role"`
	AddedTime     Null[Time]    `col:"added_time" doc:"when it was added"`
	RemovedTime   Null[Time]    `col:"removed_time" doc:"when it was removed; NULL if it stayed"`
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

// Progress is a sample of the progress of an attempt.
type Progress struct {
	AttemptID Key            `col:"attempt_id" key:"attempts" doc:"the attempt"`
	Time      Time           `col:"time" doc:"time of the sample"`
	Progress  float64        `col:"progress" unit:"fraction" doc:"progress, 0 to 1"`
	BytesRead Null[int64]    `col:"bytes_read" unit:"bytes" doc:"input bytes read so far"`
	Source    ProgressSource `col:"source" doc:"where the number comes from"`
}

// Loss is an output that was completed and then lost.
type Loss struct {
	PhaseID      Key          `col:"phase_id" key:"phases" doc:"the phase whose output was lost"`
	Task         int64        `col:"task" doc:"the task whose output was lost"`
	AttemptID    Null[Key]    `col:"attempt_id" key:"attempts" doc:"the attempt that had produced it"`
	Machine      Null[string] `col:"machine" doc:"the machine that held the output"`
	Time         Null[Time]   `col:"time" doc:"when the loss was noticed"`
	DetectedBy   Null[Key]    `col:"detected_by" key:"attempts" doc:"the attempt that failed to read it; NULL if it was noticed because the machine went away"`
	RecomputedBy Null[Key]    `col:"recomputed_by" key:"attempts" doc:"the attempt that recomputed it"`
}

// Transfer is the data that a task read from one machine.
type Transfer struct {
	PhaseID       Key          `col:"phase_id" key:"phases" doc:"the phase that reads the data"`
	Task          int64        `col:"task" doc:"the task that reads the data"`
	SourceMachine Null[string] `col:"source_machine" doc:"the machine that held the data"`
	SourceRack    Null[string] `col:"source_rack" doc:"the rack of that machine"`
	Bytes         int64        `col:"bytes" unit:"bytes" doc:"bytes read"`
}

// Query is one execution of Spark SQL: an action on a DataFrame, a statement, or an execution started by another one.
type Query struct {
	QueryID            Key          `col:"query_id" key:"primary" doc:"key of the query"`
	ApplicationID      Key          `col:"application_id" key:"applications" doc:"the application it belongs to"`
	NativeID           string       `col:"native_id" doc:"the framework's own id, such as Spark's execution id"`
	RootID             Null[Key]    `col:"root_id" key:"queries" doc:"the query that started it, such as a write whose source is computed first; NULL if none did"`
	Description        Null[string] `col:"description" doc:"description given by the user, or the call site; SQL literals are dropped unless --keep-literals was given"`
	StartTime          Null[Time]   `col:"start_time" doc:"start time"`
	FinishTime         Null[Time]   `col:"finish_time" doc:"end time"`
	Status             RunStatus    `col:"status" doc:"how it ended"`
	Adaptive           Null[bool]   `col:"adaptive" doc:"it was replanned while it ran; NULL if the log has no plan"`
	FinalPlan          Null[bool]   `col:"final_plan" doc:"the plan marked final is known to be the one that ran to the end"`
	Operators          Null[int64]  `col:"operators" doc:"number of operators in its final plan, including those not kept as rows"`
	PlanFingerprint    Null[string] `col:"plan_fingerprint" doc:"hash of the final plan, independent of ids, literals, sizes and numbers of partitions"`
	InitialFingerprint Null[string] `col:"initial_fingerprint" doc:"the same hash of the initial plan"`
	Shape              Null[string] `col:"shape" doc:"hash that is equal for plans that scan the same tables and join and group by the same keys, whatever operators they use"`
}

// QuerySetting is a setting of a query's session that differs from the application's.
type QuerySetting struct {
	QueryID Key    `col:"query_id" key:"queries" doc:"the query"`
	Name    string `col:"name" doc:"name of the setting"`
	Value   string `col:"value" doc:"value as written in the log; secrets are never kept"`
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
	Plan        PlanStage    `col:"plan" doc:"which plan of the query it belongs to: initial, as planned before the query ran, or final, as it ran; an unchanged plan has both"`
	Position    int32        `col:"position" doc:"position in the plan, from 0; parents come before their children"`
	ParentID    Null[Key]    `col:"parent_id" key:"plan_nodes" doc:"the operator that reads its output; NULL for the root"`
	ReusesID    Null[Key]    `col:"reuses_id" key:"plan_nodes" doc:"for a reused exchange, the exchange whose output it reads again; the operators below are listed under that one only"`
	Kind        NodeKind     `col:"kind" doc:"what kind of operator it is"`
	Operator    string       `col:"operator" doc:"Spark's name for the operator, whatever engine runs it"`
	Engine      Native       `col:"engine" doc:"the engine that runs it"`
	Detail      Null[string] `col:"detail" doc:"its arguments without expression ids and, unless --keep-literals was given, without literals"`
	Keys        Null[string] `col:"keys" doc:"for a join, the left keys; for an aggregate or window, the grouping keys; for a sort, the sort keys; for an exchange, the partitioning keys"`
	RightKeys   Null[string] `col:"right_keys" doc:"for a join, the right keys"`
	JoinType    Null[string] `col:"join_type" doc:"for a join: Inner, LeftOuter, …"`
	BuildSide   Null[Side]   `col:"build_side" doc:"for a hash join, the side that is held in memory"`
	Side        Null[Side]   `col:"side" doc:"the side of the nearest join above that it feeds"`
	Source      Null[string] `col:"source" doc:"for a scan, the table, or the last component of the path"`
	Path        Null[string] `col:"path" doc:"for a scan, the location of the files"`
	Tables      Null[string] `col:"tables" doc:"the sources of all scans below it, except those of subqueries"`
	Partitions  Null[int64]  `col:"partitions" doc:"for an exchange, the planned number of partitions"`
	Coalesced   bool         `col:"coalesced" doc:"for a shuffle read of adaptive execution: it reads several partitions as one"`
	Split       bool         `col:"split" doc:"for a shuffle read of adaptive execution or a join: it reads skewed partitions in parts"`
	Codegen     Null[int32]  `col:"codegen" doc:"number of the generated function that it is fused into"`
	Fingerprint string       `col:"fingerprint" doc:"hash of the operator and those below it, independent of ids and literals"`
}

// NodeMetric is a metric of an operator of a final plan, summed over its tasks.
type NodeMetric struct {
	QueryID Key        `col:"query_id" key:"queries" doc:"the query"`
	NodeID  Null[Key]  `col:"node_id" key:"plan_nodes" doc:"the operator; NULL if the log does not name the operator, as for metrics of a subquery"`
	Name    string     `col:"name" doc:"Spark's name for the metric, such as number of output rows"`
	Value   float64    `col:"value" doc:"sum over all tasks, or the driver's value"`
	Unit    MetricUnit `col:"unit" doc:"unit of the value"`
	Driver  bool       `col:"driver" doc:"it was measured by the driver and not by tasks"`
}

// NodePhase is an operator that ran in a phase.
type NodePhase struct {
	QueryID Key       `col:"query_id" key:"queries" doc:"the query"`
	NodeID  Key       `col:"node_id" key:"plan_nodes" doc:"the operator"`
	PhaseID Key       `col:"phase_id" key:"phases" doc:"the phase"`
	Role    NodeRole  `col:"role" doc:"what the operator did in the phase: an exchange is written in one phase and read in another"`
	Basis   NodeBasis `col:"basis" doc:"how this is known"`
}

// NodeAttempt is a metric of an operator in one attempt. Only the attempts of a phase that read most or ran longest have
// rows.
type NodeAttempt struct {
	AttemptID Key        `col:"attempt_id" key:"attempts" doc:"the attempt"`
	NodeID    Key        `col:"node_id" key:"plan_nodes" doc:"the operator"`
	Name      string     `col:"name" doc:"Spark's name for the metric"`
	Value     float64    `col:"value" doc:"the attempt's contribution"`
	Unit      MetricUnit `col:"unit" doc:"unit of the value"`
}

// Reject is a record that could not be used.
type Reject struct {
	SourceFile string      `col:"source_file" doc:"the file that contains it"`
	Line       Null[int64] `col:"line" doc:"line number, from 1; NULL in files without lines"`
	ByteOffset int64       `col:"byte_offset" unit:"bytes" doc:"offset of the record in the decompressed file"`
	Reason     string      `col:"reason" doc:"why it was rejected, and what to do"`
	Sample     string      `col:"sample" doc:"its first 200 bytes, in printable form"`
}

// Ingest is one committed ingest.
type Ingest struct {
	IngestID    string  `col:"ingest_id" key:"primary" doc:"id of the commit"`
	Files       int64   `col:"files" doc:"number of files read"`
	Bytes       int64   `col:"bytes" unit:"bytes" doc:"uncompressed bytes read"`
	RowsIn      int64   `col:"rows_in" doc:"records read: lines, events, datums"`
	RowsOut     int64   `col:"rows_out" doc:"records decoded: used, or skipped on purpose; rows_in = rows_out + rejects"`
	Rejects     int64   `col:"rejects" doc:"records that could not be used"`
	Format      string  `col:"format" doc:"recognised formats, separated by commas"`
	ToolVersion string  `col:"tool_version" doc:"version of straggler"`
	Seconds     float64 `col:"seconds" unit:"s" doc:"duration of the ingest"`
}
