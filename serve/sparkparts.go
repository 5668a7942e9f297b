package serve

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"straggler/report/prose"
	"straggler/schema"
	"straggler/serve/catalog"
)

// What Spark's API says of an application besides its jobs, stages and tasks: its executors, settings and queries, and quantiles
// over the tasks of a stage.

// sparkExecutor is ExecutorSummary.
type sparkExecutor struct {
	ID                string  `json:"id"`
	HostPort          string  `json:"hostPort"` // the host: logs of stages do not say the port
	IsActive          bool    `json:"isActive"`
	TotalCores        *int64  `json:"totalCores,omitempty"`
	MaxTasks          *int64  `json:"maxTasks,omitempty"`
	ActiveTasks       int64   `json:"activeTasks"`
	FailedTasks       int64   `json:"failedTasks"`
	CompletedTasks    int64   `json:"completedTasks"`
	TotalTasks        int64   `json:"totalTasks"`
	TotalDuration     int64   `json:"totalDuration"` // ms
	TotalGCTime       *int64  `json:"totalGCTime,omitempty"`
	TotalShuffleWrite *int64  `json:"totalShuffleWrite,omitempty"`
	AddTime           *string `json:"addTime,omitempty"`
	RemoveTime        *string `json:"removeTime,omitempty"`
}

type executorRow struct {
	Executor     string                   `col:"executor"`
	Machine      string                   `col:"machine"`
	Cores        schema.Null[float64]     `col:"cores"`
	Slots        schema.Null[int64]       `col:"slots"`
	Added        schema.Null[schema.Time] `col:"added_time"`
	Removed      schema.Null[schema.Time] `col:"removed_time"`
	Active       int64                    `col:"active"`
	Failed       int64                    `col:"failed"`
	Completed    int64                    `col:"completed"`
	Total        int64                    `col:"total"`
	DurationS    float64                  `col:"duration_s"`
	GCS          schema.Null[float64]     `col:"gc_s"`
	ShuffleWrite schema.Null[int64]       `col:"shuffle_write_bytes"`
}

// executorsAPI lists the executors that the application had at its end, and with all those that it lost.
func (s *Server) executorsAPI(all bool) func(*http.Request) ([]sparkExecutor, error) {
	return func(r *http.Request) ([]sparkExecutor, error) {
		a, err := s.native(r)
		if err != nil {
			return nil, err
		}
		rows, err := catalog.Read[executorRow](r.Context(), s.c, sqlOf("api_executors", a.ApplicationID))
		if err != nil {
			return nil, err
		}
		out := []sparkExecutor{}
		for _, row := range rows {
			if row.Removed.OK && !all {
				continue
			}
			e := sparkExecutor{ID: row.Executor, HostPort: row.Machine, IsActive: !row.Removed.OK, TotalCores: whole(row.Cores, 1), MaxTasks: pointer(row.Slots), ActiveTasks: row.Active, FailedTasks: row.Failed,
				CompletedTasks: row.Completed, TotalTasks: row.Total, TotalDuration: int64(row.DurationS*1000 + 0.5), TotalGCTime: whole(row.GCS, 1000), TotalShuffleWrite: pointer(row.ShuffleWrite), AddTime: optionalTime(row.Added), RemoveTime: optionalTime(row.Removed)}
			out = append(out, e)
		}
		return out, nil
	}
}

// whole is a value in another unit, rounded; nil for an unknown one.
func whole(v schema.Null[float64], unit float64) *int64 {
	if !v.OK {
		return nil
	}
	n := int64(v.V*unit + 0.5)
	return &n
}

// sparkEnvironment is ApplicationEnvironmentInfo.
type sparkEnvironment struct {
	SparkProperties [][]string `json:"sparkProperties"`
}

func (s *Server) environmentAPI(r *http.Request) (e sparkEnvironment, err error) {
	a, err := s.native(r)
	if err != nil {
		return e, err
	}
	e.SparkProperties = [][]string{}
	err = catalog.Each(r.Context(), s.c, sqlOf("api_settings", a.ApplicationID), func(row *struct {
		Name  string `col:"name"`
		Value string `col:"value"`
	}) error {
		e.SparkProperties = append(e.SparkProperties, []string{row.Name, row.Value})
		return nil
	})
	return e, err
}

// sparkExecution is ExecutionData.
type sparkExecution struct {
	ID          int64       `json:"id"`
	Status      string      `json:"status"`
	Description string      `json:"description"`
	Submission  *string     `json:"submissionTime,omitempty"`
	Duration    *int64      `json:"duration,omitempty"`
	Running     []int64     `json:"runningJobIds"`
	Succeeded   []int64     `json:"successJobIds"`
	Failed      []int64     `json:"failedJobIds"`
	Nodes       []sparkNode `json:"nodes"`
	Edges       []sparkEdge `json:"edges"`
	Key         string      `json:"stragglerKey"`
}

type sparkNode struct {
	ID      int64  `json:"nodeId"`
	Name    string `json:"nodeName"`
	Codegen *int32 `json:"wholeStageCodegenId,omitempty"`
}

type sparkEdge struct {
	From int64 `json:"fromId"`
	To   int64 `json:"toId"`
}

type executionRow struct {
	QueryID     schema.Key                    `col:"query_id"`
	NativeID    string                        `col:"native_id"`
	Description schema.Null[string]           `col:"description"`
	Status      schema.RunStatus              `col:"status"`
	Start       schema.Null[schema.Time]      `col:"start_time"`
	Finish      schema.Null[schema.Time]      `col:"finish_time"`
	JobID       schema.Null[schema.Key]       `col:"job_id"`
	Job         schema.Null[string]           `col:"job"`
	JobStatus   schema.Null[schema.RunStatus] `col:"job_status"`
}

type nodeRow struct {
	QueryID  schema.Key         `col:"query_id"`
	Position int32              `col:"position"`
	Operator string             `col:"operator"`
	Codegen  schema.Null[int32] `col:"codegen"`
	Parent   schema.Null[int32] `col:"parent"`
}

var executionStatuses = map[schema.RunStatus]string{schema.RunSucceeded: "COMPLETED", schema.RunFailed: "FAILED", schema.RunKilled: "FAILED", schema.RunRunning: "RUNNING"}

// executionsAPI lists queries of an application, with their plans unless details is false.
func (s *Server) executionsAPI(r *http.Request) ([]sparkExecution, error) {
	offset, length, err := pageOf(r)
	if err != nil {
		return nil, err
	}
	return s.executions(r, fmt.Sprintf("LIMIT %d OFFSET %d", length, offset))
}

func (s *Server) executions(r *http.Request, page string) ([]sparkExecution, error) {
	a, err := s.native(r)
	if err != nil {
		return nil, err
	}
	rows, err := catalog.Read[executionRow](r.Context(), s.c, strings.ReplaceAll(sqlOf("api_queries", a.ApplicationID), "{page}", page))
	if err != nil {
		return nil, err
	}
	out := []sparkExecution{}
	at := map[schema.Key]int{}
	for i := range rows {
		row := &rows[i]
		k, known := at[row.QueryID]
		if !known {
			k, at[row.QueryID] = len(out), len(out)
			x := sparkExecution{ID: sparkID(row.NativeID, row.QueryID), Status: executionStatuses[row.Status], Description: row.Description.V, Submission: optionalTime(row.Start), Running: []int64{}, Succeeded: []int64{}, Failed: []int64{},
				Nodes: []sparkNode{}, Edges: []sparkEdge{}, Key: strconv.FormatInt(row.QueryID, 10)}
			if x.Status == "" {
				x.Status = "UNKNOWN"
			}
			if row.Start.OK && row.Finish.OK {
				x.Duration = whole(schema.Some(row.Finish.V.Sub(row.Start.V)), 1000)
			}
			out = append(out, x)
		}
		switch x := &out[k]; {
		case !row.Job.OK:
		case row.JobStatus.V == schema.RunSucceeded:
			x.Succeeded = append(x.Succeeded, sparkID(row.Job.V, row.JobID.V))
		case row.JobStatus.V == schema.RunRunning:
			x.Running = append(x.Running, sparkID(row.Job.V, row.JobID.V))
		default:
			x.Failed = append(x.Failed, sparkID(row.Job.V, row.JobID.V))
		}
	}
	if r.FormValue("details") == "false" {
		return out, nil
	}
	return out, catalog.Each(r.Context(), s.c, sqlOf("api_plans", a.ApplicationID), func(n *nodeRow) error {
		k, ok := at[n.QueryID]
		if !ok {
			return nil
		}
		x := &out[k]
		x.Nodes = append(x.Nodes, sparkNode{int64(n.Position), prose.Clean(n.Operator, prose.NameRunes), pointer(n.Codegen)})
		if n.Parent.OK {
			x.Edges = append(x.Edges, sparkEdge{int64(n.Position), int64(n.Parent.V)})
		}
		return nil
	})
}

// executionAPI is one query by Spark's id.
func (s *Server) executionAPI(r *http.Request) (sparkExecution, error) {
	all, err := s.executions(r, "")
	if err != nil {
		return sparkExecution{}, err
	}
	return byID(r, "execution", "query", all, func(x *sparkExecution) int64 { return x.ID })
}

// sparkSummary is TaskMetricDistributions; what the log does not say is left out.
type sparkSummary struct {
	Quantiles    []float64     `json:"quantiles"`
	Duration     []float64     `json:"duration,omitempty"`
	CPU          []float64     `json:"executorCpuTime,omitempty"`
	GC           []float64     `json:"jvmGcTime,omitempty"`
	Deserialize  []float64     `json:"executorDeserializeTime,omitempty"`
	Delay        []float64     `json:"schedulerDelay,omitempty"`
	Memory       []float64     `json:"peakExecutionMemory,omitempty"`
	Spilled      []float64     `json:"diskBytesSpilled,omitempty"`
	Output       *sparkOutput  `json:"outputMetrics,omitempty"`
	ShuffleRead  *sparkFetched `json:"shuffleReadMetrics,omitempty"`
	ShuffleWrite *sparkWritten `json:"shuffleWriteMetrics,omitempty"`
}

type sparkOutput struct {
	Bytes []float64 `json:"bytesWritten"`
}

type sparkFetched struct {
	Wait []float64 `json:"fetchWaitTime"`
}

type sparkWritten struct {
	Bytes []float64 `json:"writeBytes"`
}

// mostQuantiles bounds those that may be asked for.
const mostQuantiles = 50

// summaryAPI gives quantiles over the tasks of an attempt of a stage.
func (s *Server) summaryAPI(r *http.Request) (sparkSummary, error) {
	var sum sparkSummary
	text := r.FormValue("quantiles")
	if text == "" {
		text = "0.05,0.25,0.5,0.75,0.95"
	}
	var values []string
	for i, part := range strings.Split(text, ",") {
		q, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(q >= 0 && q <= 1) || i == mostQuantiles {
			return sum, fmt.Errorf("%w: quantiles are at most %d numbers from 0 to 1, such as 0.25,0.5,0.75", errParameter, mostQuantiles)
		}
		sum.Quantiles = append(sum.Quantiles, q)
		values = append(values, fmt.Sprintf("(%d, CAST(%s AS DOUBLE))", i, strconv.FormatFloat(q, 'g', -1, 64)))
	}
	k, err := s.stageKey(r)
	if err != nil {
		return sum, err
	}
	by := map[string][]float64{}
	err = catalog.Each(r.Context(), s.c, strings.ReplaceAll(sqlOf("api_summary", k), "{quantiles}", strings.Join(values, ", ")), func(row *struct {
		Metric string  `col:"metric"`
		X      float64 `col:"x"`
	}) error {
		by[row.Metric] = append(by[row.Metric], row.X)
		return nil
	})
	sum.Duration, sum.CPU, sum.GC, sum.Deserialize, sum.Delay, sum.Memory, sum.Spilled = by["duration"], by["executorCpuTime"], by["jvmGcTime"], by["executorDeserializeTime"], by["schedulerDelay"], by["peakExecutionMemory"], by["diskBytesSpilled"]
	if x := by["bytesWritten"]; x != nil {
		sum.Output = &sparkOutput{x}
	}
	if x := by["fetchWaitTime"]; x != nil {
		sum.ShuffleRead = &sparkFetched{x}
	}
	if x := by["writeBytes"]; x != nil {
		sum.ShuffleWrite = &sparkWritten{x}
	}
	return sum, err
}

// sparkVersion is VersionInfo: the release of Spark whose API this one has the shape of.
type sparkVersion struct {
	Spark string `json:"spark"`
}

func (s *Server) versionAPI(*http.Request) (sparkVersion, error) { return sparkVersion{"3.5.6"}, nil }
