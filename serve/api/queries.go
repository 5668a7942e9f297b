package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"straggler/report/prose"
	"straggler/schema"
	"straggler/serve/catalog"
)

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

var executionStatuses = map[schema.RunStatus]string{schema.RunSucceeded: "COMPLETED", schema.RunFailed: "FAILED",
	schema.RunKilled: "FAILED", schema.RunRunning: "RUNNING"}

// executions lists queries of an application, with their plans unless details is false.
func (api *API) executions(r *http.Request) ([]sparkExecution, error) {
	offset, length, err := pageOf(r)
	if err != nil {
		return nil, err
	}
	return api.executionsOf(r, fmt.Sprintf("LIMIT %d OFFSET %d", length, offset))
}

func (api *API) executionsOf(r *http.Request, page string) ([]sparkExecution, error) {
	a, err := api.native(r)
	if err != nil {
		return nil, err
	}
	rows, err := catalog.Read[executionRow](r.Context(), api.c, strings.ReplaceAll(sqlOf("queries", a.ApplicationID), "{page}", page))
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
			x := sparkExecution{ID: sparkID(row.NativeID, row.QueryID), Status: executionStatuses[row.Status],
				Description: row.Description.V, Submission: optionalTime(row.Start), Running: []int64{}, Succeeded: []int64{}, Failed: []int64{},
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
	return out, catalog.Each(r.Context(), api.c, sqlOf("plans", a.ApplicationID), func(n *nodeRow) error {
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

// execution returns the query with Spark's id.
func (api *API) execution(r *http.Request) (sparkExecution, error) {
	all, err := api.executionsOf(r, "")
	if err != nil {
		return sparkExecution{}, err
	}
	return byID(r, "execution", "query", all, func(x *sparkExecution) int64 { return x.ID })
}
