package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"straggler/schema"
	"straggler/serve/catalog"
)

// pageOf returns the requested part of a list.
func pageOf(r *http.Request) (offset, length int, err error) {
	length = taskLength
	for _, p := range []struct {
		name string
		to   *int
	}{{"offset", &offset}, {"length", &length}} {
		if text := r.FormValue(p.name); text != "" {
			if *p.to, err = strconv.Atoi(text); err != nil || *p.to < 0 || *p.to > 1<<40 {
				return 0, 0, fmt.Errorf("%w: %s is a number", ErrParameter, p.name)
			}
		}
	}
	return offset, min(length, mostTasks), nil
}

// sparkTask is TaskData.
type sparkTask struct {
	TaskID       int64   `json:"taskId"`
	Index        int64   `json:"index"`
	Attempt      int32   `json:"attempt"`
	PartitionID  int64   `json:"partitionId"`
	LaunchTime   *string `json:"launchTime,omitempty"`
	Duration     *int64  `json:"duration,omitempty"`
	ExecutorID   string  `json:"executorId"`
	Host         string  `json:"host"`
	Status       string  `json:"status"`
	Locality     string  `json:"taskLocality"`
	Speculative  bool    `json:"speculative"`
	ErrorMessage *string `json:"errorMessage,omitempty"`
	Delay        *int64  `json:"schedulerDelay,omitempty"`
	Metrics      struct {
		Deserialize *int64 `json:"executorDeserializeTime,omitempty"`
		CPU         *int64 `json:"executorCpuTime,omitempty"` // ns
		GC          *int64 `json:"jvmGcTime,omitempty"`
		Spilled     *int64 `json:"diskBytesSpilled,omitempty"`
		Memory      *int64 `json:"peakExecutionMemory,omitempty"`
	} `json:"taskMetrics"`
	StragglerKey string   `json:"stragglerKey"`
	Cause        *string  `json:"stragglerCause,omitempty"`
	ExcessS      *float64 `json:"stragglerExcessS,omitempty"`
}

type taskRow struct {
	AttemptID   schema.Key               `col:"attempt_id"`
	NativeID    string                   `col:"native_id"`
	Task        int64                    `col:"task"`
	Number      int32                    `col:"number"`
	StartTime   schema.Null[schema.Time] `col:"start_time"`
	DurationS   schema.Null[float64]     `col:"duration_s"`
	Executor    schema.Null[string]      `col:"executor"`
	Machine     schema.Null[string]      `col:"machine"`
	Status      schema.AttemptStatus     `col:"status"`
	Locality    schema.Null[string]      `col:"locality"`
	Speculative schema.Null[bool]        `col:"speculative"`
	Reason      schema.Null[string]      `col:"reason"`
	DelayS      schema.Null[float64]     `col:"scheduler_delay_s"`
	DeserialS   schema.Null[float64]     `col:"deserialize_s"`
	CPUS        schema.Null[float64]     `col:"cpu_s"`
	GCS         schema.Null[float64]     `col:"gc_s"`
	SpillBytes  schema.Null[int64]       `col:"spill_bytes"`
	PeakBytes   schema.Null[int64]       `col:"peak_memory_bytes"`
	Cause       schema.Null[string]      `col:"cause"`
	ExcessS     schema.Null[float64]     `col:"excess_s"`
}

// The sort orders of taskList and its default length, as in Spark.
var taskOrders = map[string]string{"": "t.attempt_id", "ID": "t.attempt_id", "RUNTIME": "t.duration_s DESC",
	"-RUNTIME": "t.duration_s DESC", "DECREASING_RUNTIME": "t.duration_s DESC",
	// a + that is not escaped is a space
	"+RUNTIME": "t.duration_s", " RUNTIME": "t.duration_s", "INCREASING_RUNTIME": "t.duration_s"}

// taskStatuses maps Spark's task statuses to those of attempts.
var taskStatuses = map[string]string{"running": "('running')", "success": "('success')", "failed": "('failed', 'lost')",
	"killed": "('killed')", "pending": "('')", "unknown": "('unknown')"}

const (
	taskLength = 20
	mostTasks  = 10_000
)

// tasks returns a part of the tasks of a stage attempt.
func (api *API) tasks(r *http.Request) ([]sparkTask, error) {
	k, err := api.stageKey(r)
	if err != nil {
		return nil, err
	}
	offset, length, err := pageOf(r)
	if err != nil {
		return nil, err
	}
	by, ok := taskOrders[strings.ToUpper(r.FormValue("sortBy"))]
	if !ok {
		return nil, fmt.Errorf("%w: sortBy is ID, +runtime or -runtime", ErrParameter)
	}
	var where []string
	for _, status := range r.URL.Query()["status"] {
		is, ok := taskStatuses[strings.ToLower(status)]
		if !ok {
			return nil, fmt.Errorf("%w: status is one of running, success, failed, killed, pending, unknown", ErrParameter)
		}
		where = append(where, "t.status IN "+is)
	}
	sql := sqlOf("tasks", k)
	if len(where) > 0 {
		sql += "\nWHERE " + strings.Join(where, " OR ")
	}
	sql += fmt.Sprintf("\nORDER BY %s NULLS LAST, t.attempt_id\nLIMIT %d OFFSET %d", by, length, offset)
	rows, err := catalog.Read[taskRow](r.Context(), api.c, sql)
	if err != nil {
		return nil, err
	}
	out := []sparkTask{}
	for _, row := range rows {
		t := sparkTask{TaskID: sparkID(row.NativeID, row.AttemptID), Index: row.Task, PartitionID: row.Task, Attempt: row.Number,
			LaunchTime: optionalTime(row.StartTime), ExecutorID: row.Executor.V, Host: row.Machine.V, Status: strings.ToUpper(string(row.Status)),
			Locality: strings.ToUpper(row.Locality.V), Speculative: row.Speculative.V, ErrorMessage: pointer(row.Reason),
			StragglerKey: strconv.FormatInt(row.AttemptID, 10), Cause: pointer(row.Cause), ExcessS: pointer(row.ExcessS)}
		t.Duration, t.Delay = whole(row.DurationS, 1000), whole(row.DelayS, 1000)
		m := &t.Metrics
		m.Deserialize, m.CPU, m.GC = whole(row.DeserialS, 1000), whole(row.CPUS, 1e9), whole(row.GCS, 1000)
		m.Spilled, m.Memory = pointer(row.SpillBytes), pointer(row.PeakBytes)
		out = append(out, t)
	}
	return out, nil
}

// sparkSummary is TaskMetricDistributions; unknown values are omitted.
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

// mostQuantiles bounds the quantiles of a request.
const mostQuantiles = 50

// summary returns quantiles over the tasks of a stage attempt.
func (api *API) summary(r *http.Request) (sparkSummary, error) {
	var sum sparkSummary
	text := r.FormValue("quantiles")
	if text == "" {
		text = "0.05,0.25,0.5,0.75,0.95"
	}
	var values []string
	for i, part := range strings.Split(text, ",") {
		q, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(q >= 0 && q <= 1) || i == mostQuantiles {
			return sum, fmt.Errorf("%w: quantiles are at most %d numbers from 0 to 1, such as 0.25,0.5,0.75", ErrParameter, mostQuantiles)
		}
		sum.Quantiles = append(sum.Quantiles, q)
		values = append(values, fmt.Sprintf("(%d, CAST(%s AS DOUBLE))", i, strconv.FormatFloat(q, 'g', -1, 64)))
	}
	k, err := api.stageKey(r)
	if err != nil {
		return sum, err
	}
	by := map[string][]float64{}
	err = catalog.Each(r.Context(), api.c, strings.ReplaceAll(sqlOf("summary", k), "{quantiles}", strings.Join(values, ", ")), func(row *struct {
		Metric string  `col:"metric"`
		X      float64 `col:"x"`
	}) error {
		by[row.Metric] = append(by[row.Metric], row.X)
		return nil
	})
	sum.Duration, sum.CPU, sum.GC, sum.Delay = by["duration"], by["executorCpuTime"], by["jvmGcTime"], by["schedulerDelay"]
	sum.Deserialize, sum.Memory, sum.Spilled = by["executorDeserializeTime"], by["peakExecutionMemory"], by["diskBytesSpilled"]
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
