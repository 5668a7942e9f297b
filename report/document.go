package report

import (
	"straggler/schema"
)

// PaperFigure is a point of one of the papers' figures, drawn from a store.
type PaperFigure struct {
	Figure string               `col:"figure" doc:"paper and number, such as mantri-2a"`
	Title  string               `col:"title" doc:"what it shows"`
	Series string               `col:"series" doc:"which of its lines"`
	X      float64              `col:"x"`
	Y      schema.Null[float64] `col:"y"`
	N      schema.Null[int64]   `col:"n" doc:"what y is a share of"`
	Note   string               `col:"note" doc:"of a figure that cannot be drawn: what the store lacks"`
}

// Document is a report. Rows carry the names of columns in their `col` tags; the JSON rendering uses them as they are.
// NULL stays NULL, and the note next to it says why.
type Document struct {
	Store     string         `col:"store" doc:"directory of the store; empty where it was temporary"`
	Headline  Headline       `col:"headline"`
	Trust     Trust          `col:"trust"`
	Cost      Cost           `col:"cost"`
	SlowRuns  List[SlowRun]  `col:"slow_runs" doc:"applications that took longer than earlier runs of their program, by the time more"`
	SlowHours List[SlowHour] `col:"slow_hours" doc:"programs whose runs take longer at some hours of the day than at others, the most certain first"`
	Queries   List[Query]    `col:"queries" doc:"queries of Spark SQL, worst first, by the seconds that their jobs lost"`
	Phases    List[Phase]    `col:"phases" doc:"worst first, by the seconds they cost their job"`
	Timelines []Timeline     `col:"timelines"`
	Outliers  List[Outlier]  `col:"outliers" doc:"worst first, by the seconds they cost their job"`
	Machines  Machines       `col:"machines"`
	Skew      List[SkewRow]  `col:"skew" doc:"tasks that were slow because of their input, recurring ones first"`
	Chains    List[Chain]    `col:"chains" doc:"lost outputs and their recomputation"`
	Whatif    Whatif         `col:"whatif"`
	Advice    []Advice       `col:"advice"`
	Papers    []PaperFigure  `col:"papers" doc:"the papers’ figures on this store, from Options.Papers"`
}

// List is the top of a longer list, with the query for all of it.
type List[R any] struct {
	Rows  []R    `col:"rows"`
	Total int64  `col:"total" doc:"number of rows, of which len(rows) are here"`
	SQL   string `col:"sql" doc:"query for all rows"`
	Note  string `col:"note" doc:"why there are no rows, or what is left out"`
}

// More returns the number of rows that the list leaves out.
func (l List[R]) More() int64 { return max(0, l.Total-int64(len(l.Rows))) }

// Headline is the report in three sentences.
type Headline struct {
	Verdict string `col:"verdict" doc:"what stragglers cost, in one sentence"`
	Why     string `col:"why" doc:"the largest causes, in one sentence"`
	Trust   string `col:"trust" doc:"how reliable that is, in one sentence"`
	Sound   bool   `col:"sound" doc:"logs complete, nothing rejected"`
}

// Trust describes what was read and how reliable it is.
type Trust struct {
	Counts       Counts              `col:"counts"`
	Ingests      List[Ingest]        `col:"ingests"`
	LogBytes     schema.Null[int64]  `col:"log_bytes" unit:"bytes" doc:"size of all logs of the store; NULL in a document on some of its applications"`
	Applications List[Application]   `col:"applications"`
	Caveats      List[Caveat]        `col:"caveats"`
	Rejects      List[schema.Reject] `col:"rejects"`
	Assumptions  []string            `col:"assumptions" doc:"assumptions of the figures in this report"`
}

// Counts is how much was read.
type Counts struct {
	Applications int64                    `col:"applications"`
	Incomplete   int64                    `col:"incomplete" doc:"applications whose log is incomplete"`
	Jobs         int64                    `col:"jobs"`
	Phases       int64                    `col:"phases" doc:"phases that ran"`
	Skipped      int64                    `col:"skipped" doc:"phases that were planned and never submitted"`
	Attempts     int64                    `col:"attempts"`
	Machines     int64                    `col:"machines"`
	Listed       int64                    `col:"listed" doc:"machines that a topology or the trace of a cluster lists, whether they ran anything or not"`
	Rejects      int64                    `col:"rejects"`
	Outliers     int64                    `col:"outliers" doc:"attempts that at least one rule calls slow and that have an attribution"`
	FirstStart   schema.Null[schema.Time] `col:"first_start" doc:"when the first application started; NULL in a document on a part of one"`
	LastFinish   schema.Null[schema.Time] `col:"last_finish" doc:"when the last application ended, of those whose end the log has; NULL likewise"`
	StartTime    schema.Null[schema.Time] `col:"start_time" doc:"when the first attempt started"`
	FinishTime   schema.Null[schema.Time] `col:"finish_time" doc:"when the last attempt ended"`
	TaskS        schema.Null[float64]     `col:"task_s" unit:"s" doc:"sum of the durations of all attempts"`
}

// Ingest is one committed ingest; how long it took is left out, so that the same logs give the same report.
type Ingest struct {
	IngestID    string `col:"ingest_id"`
	Files       int64  `col:"files"`
	Bytes       int64  `col:"bytes" unit:"bytes"`
	RowsIn      int64  `col:"rows_in"`
	RowsOut     int64  `col:"rows_out"`
	Rejects     int64  `col:"rejects"`
	Format      string `col:"format"`
	ToolVersion string `col:"tool_version"`
}

// Application is an application with what it lost.
type Application struct {
	ApplicationRow
	Loss Loss `col:"loss"`
}

// TookS returns how long it ran, in seconds, or NULL if unknown, or if according to the log it ended before it started.
func (a *Application) TookS() schema.Null[float64] {
	if !a.StartTime.OK || !a.FinishTime.OK || a.FinishTime.V < a.StartTime.V {
		return schema.Null[float64]{}
	}
	return schema.Some(a.FinishTime.V.Sub(a.StartTime.V))
}

// ApplicationRow is a row of applications.sql.
type ApplicationRow struct {
	ApplicationID    schema.Key               `col:"application_id"`
	NativeID         string                   `col:"native_id"`
	Name             schema.Null[string]      `col:"name"`
	User             schema.Null[string]      `col:"user"`
	Framework        string                   `col:"framework"`
	FrameworkVersion schema.Null[string]      `col:"framework_version"`
	StartTime        schema.Null[schema.Time] `col:"start_time"`
	FinishTime       schema.Null[schema.Time] `col:"finish_time"`
	Status           schema.RunStatus         `col:"status"`
	SourceFile       string                   `col:"source_file"`
	Complete         bool                     `col:"complete"`
	TimeOrigin       string                   `col:"time_origin"`
	Jobs             int64                    `col:"jobs"`
	Attempts         int64                    `col:"attempts"`
}

// Caveat is a caveat with the applications that carry it.
type Caveat struct {
	Code         string             `col:"code"`
	Applications int64              `col:"applications" doc:"applications that carry it"`
	Count        schema.Null[int64] `col:"count" doc:"rows or events concerned, over all of them"`
	Detail       string             `col:"detail" doc:"as the log of the application that it concerns most has it"`
}

// Cost is the time that stragglers cost.
type Cost struct {
	Loss      Loss                 `col:"loss" doc:"over all jobs"`
	Causes    []CauseCost          `col:"causes" doc:"over all jobs, in the order of schema.Cause"`
	TogetherS schema.Null[float64] `col:"together_s" unit:"s" doc:"how much earlier jobs would have ended without any cause, replayed (job_costs)"`
	Jobs      List[Job]            `col:"jobs" doc:"worst first"`
}

// Loss is the time that jobs lost to late tasks.
type Loss struct {
	CompletionS schema.Null[float64] `col:"completion_s" unit:"s" doc:"submission to finish, summed over the jobs that have both"`
	LostS       schema.Null[float64] `col:"lost_s" unit:"s" doc:"how much earlier the jobs would have ended had slow tasks taken their phase's median and had no output been lost and recomputed; see cost.go"`
	LostShare   schema.Null[float64] `col:"lost_share" unit:"fraction" doc:"lost_s / completion_s"`
	ExcessS     float64              `col:"excess_s" unit:"s" doc:"sum of the excess of all outliers, over all slots"`
	Outliers    int64                `col:"outliers"`
	Parts       []LostPart           `col:"parts" doc:"lost_s by cause; sums to it"`
	Note        string               `col:"note" doc:"why a figure is NULL"`
}

// LostPart is the part of the lost time due to one cause. The empty cause stands for tasks that ended late without being
// outliers: they started late, or were only a little slower than the median.
type LostPart struct {
	Cause schema.Cause `col:"cause"`
	LostS float64      `col:"lost_s" unit:"s"`
}

// CauseCost is what one cause cost.
type CauseCost struct {
	Cause    schema.Cause         `col:"cause"`
	Outliers int64                `col:"outliers" doc:"outliers whose verdict it is"`
	SumS     float64              `col:"sum_s" unit:"s" doc:"sum of attributions.seconds, over all slots"`
	LostS    schema.Null[float64] `col:"lost_s" unit:"s" doc:"its part of the time that jobs lost"`
	CostS    schema.Null[float64] `col:"cost_s" unit:"s" doc:"how much earlier jobs would have ended without it, replayed (job_costs)"`
	CostLow  schema.Null[float64] `col:"cost_low" unit:"s" doc:"sum of the lower ends of the jobs' 95 % intervals"`
	CostHigh schema.Null[float64] `col:"cost_high" unit:"s" doc:"sum of the upper ends"`
}

// Job is a job with what it lost.
type Job struct {
	JobRow
	Loss Loss `col:"loss"`
}

// JobRow is a row of jobs.sql.
type JobRow struct {
	JobID         schema.Key               `col:"job_id"`
	ApplicationID schema.Key               `col:"application_id"`
	Application   string                   `col:"application" doc:"its application's native id"`
	NativeID      string                   `col:"native_id"`
	Name          schema.Null[string]      `col:"name"`
	SubmitTime    schema.Null[schema.Time] `col:"submit_time"`
	StartTime     schema.Null[schema.Time] `col:"start_time"`
	FinishTime    schema.Null[schema.Time] `col:"finish_time"`
	Status        schema.RunStatus         `col:"status"`
	Phases        int64                    `col:"phases" doc:"phases that ran"`
	Tasks         int64                    `col:"tasks"`
}

// Phase is a phase, how its tasks compare, and what that cost.
type Phase struct {
	PhaseRow
	EarlierS schema.Null[float64] `col:"earlier_s" unit:"s" doc:"how much earlier it would have ended: lost_s, or more where its tasks waited for slots that slow ones held; all of a recomputation"`
	CostS    schema.Null[float64] `col:"cost_s" unit:"s" doc:"its part of earlier_s that its job lost; 0 when it is not on the critical path, NULL when earlier_s is"`
	Critical bool                 `col:"critical" doc:"on its job's critical path"`
	Parts    []LostPart           `col:"parts" doc:"cost_s by cause"`
	Spread   Spread               `col:"spread"`
}

// PhaseRow is a row of phases.sql.
type PhaseRow struct {
	PhaseID       schema.Key                `col:"phase_id"`
	JobID         schema.Key                `col:"job_id"`
	ApplicationID schema.Key                `col:"application_id"`
	Application   string                    `col:"application" doc:"its application's native id"`
	Job           string                    `col:"job" doc:"its job's native id"`
	NativeID      string                    `col:"native_id"`
	Attempt       int32                     `col:"attempt"`
	Name          schema.Null[string]       `col:"name"`
	Kind          string                    `col:"kind"`
	Recompute     bool                      `col:"recompute"`
	StartTime     schema.Null[schema.Time]  `col:"start_time"`
	FinishTime    schema.Null[schema.Time]  `col:"finish_time"`
	Tasks         int64                     `col:"tasks"`
	Attempts      int64                     `col:"attempts"`
	Succeeded     int64                     `col:"succeeded"`
	MedianS       schema.Null[float64]      `col:"median_s" unit:"s"`
	P95S          schema.Null[float64]      `col:"p95_s" unit:"s"`
	MaxS          schema.Null[float64]      `col:"max_s" unit:"s"`
	SlowdownRatio schema.Null[float64]      `col:"slowdown_ratio" unit:"ratio"`
	SlowdownBasis schema.Null[schema.Basis] `col:"slowdown_basis"`
	Stragglers    schema.Null[int64]        `col:"stragglers"`
	Outliers      schema.Null[int64]        `col:"outliers"`
	LostS         schema.Null[float64]      `col:"lost_s" unit:"s"`
	ModelR2       schema.Null[float64]      `col:"model_r2" unit:"fraction"`
	ModelN        schema.Null[int64]        `col:"model_n"`
	Note          schema.Null[string]       `col:"note"`
}

// Spread is the distribution of the durations of a phase's tasks.
type Spread struct {
	N        int64   `col:"n"`
	MinS     float64 `col:"min_s" unit:"s"`
	P25S     float64 `col:"p25_s" unit:"s"`
	MedianS  float64 `col:"median_s" unit:"s"`
	P75S     float64 `col:"p75_s" unit:"s"`
	P95S     float64 `col:"p95_s" unit:"s"`
	MaxS     float64 `col:"max_s" unit:"s"`
	Bins     []int64 `col:"bins" doc:"tasks by duration in equal bins from 0 to max_s; empty where all tasks are points"`
	Points   []Point `col:"points" doc:"all tasks of a small phase, the slowest outliers of a large one"`
	Outliers int64   `col:"outliers" doc:"all outliers, drawn or not"`
}

// Point is one task in a spread.
type Point struct {
	AttemptID schema.Key          `col:"attempt_id"`
	Task      int64               `col:"task"`
	DurationS float64             `col:"duration_s" unit:"s"`
	Machine   schema.Null[string] `col:"machine"`
	Cause     schema.Cause        `col:"cause" doc:"verdict; empty where it is no outlier"`
}

// Outlier is a slow attempt with its evidence.
type Outlier struct {
	OutlierRow
	CostS      schema.Null[float64] `col:"cost_s" unit:"s" doc:"its share of the time that its job lost; shares sum to it. NULL when what its phase lost, or when it ran, is unknown"`
	AloneS     schema.Null[float64] `col:"alone_s" unit:"s" doc:"how much earlier its phase would have ended had it alone taken the median"`
	Critical   bool                 `col:"critical"`
	Cause      schema.Cause         `col:"cause" doc:"verdict"`
	Confidence schema.Null[float64] `col:"confidence" unit:"probability"`
	Words      string               `col:"words" doc:"the evidence in a sentence"`
	Causes     []Attribution        `col:"causes" doc:"where its excess went; sums to excess_s"`
	SQL        string               `col:"sql" doc:"shows it"`
}

// OutlierRow is a row of outliers.sql.
type OutlierRow struct {
	AttemptID     schema.Key               `col:"attempt_id"`
	PhaseID       schema.Key               `col:"phase_id"`
	JobID         schema.Key               `col:"job_id"`
	ApplicationID schema.Key               `col:"application_id"`
	Application   string                   `col:"application" doc:"native id"`
	Job           string                   `col:"job" doc:"native id"`
	Phase         string                   `col:"phase" doc:"native id"`
	PhaseAttempt  int32                    `col:"phase_attempt"`
	PhaseName     schema.Null[string]      `col:"phase_name"`
	Task          int64                    `col:"task"`
	Number        int32                    `col:"number"`
	NativeID      string                   `col:"native_id"`
	Machine       schema.Null[string]      `col:"machine"`
	Executor      schema.Null[string]      `col:"executor"`
	StartTime     schema.Null[schema.Time] `col:"start_time"`
	DurationS     schema.Null[float64]     `col:"duration_s" unit:"s"`
	MedianS       schema.Null[float64]     `col:"median_s" unit:"s" doc:"of its phase"`
	Ratio         schema.Null[float64]     `col:"ratio" unit:"ratio" doc:"duration / median"`
	ExcessS       schema.Null[float64]     `col:"excess_s" unit:"s"`
	Speculative   schema.Null[bool]        `col:"speculative"`
	Recompute     bool                     `col:"recompute"`
	Status        schema.AttemptStatus     `col:"status"`
	InputBytes    schema.Null[int64]       `col:"input_bytes" unit:"bytes"`
	PhaseLostS    schema.Null[float64]     `col:"phase_lost_s" unit:"s" doc:"phase_stats.lost_s"`
	PhaseTimed    bool                     `col:"phase_timed" doc:"the log says when its phase ran"`
	StoredInput   schema.Null[bool]        `col:"stored_input" doc:"its phase reads none of the other phases; NULL where the log has no edge from or to it"`
}

// Attribution is one part of an outlier's excess.
type Attribution struct {
	AttributionRow
	Words string `col:"words"`
}

// AttributionRow is a row of attributions.sql.
type AttributionRow struct {
	AttemptID  schema.Key           `col:"attempt_id"`
	Cause      schema.Cause         `col:"cause"`
	Seconds    float64              `col:"seconds" unit:"s"`
	Share      schema.Null[float64] `col:"share" unit:"fraction"`
	Rank       int32                `col:"rank"`
	Confidence schema.Null[float64] `col:"confidence" unit:"probability"`
	Evidence   string               `col:"evidence" unit:"JSON"`
}
