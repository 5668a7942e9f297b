package api

import (
	"fmt"
	"net/http"
	"strconv"

	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
	"straggler/serve/catalog"
)

// sparkJob is JobData.
type sparkJob struct {
	JobID          int64    `json:"jobId"`
	Name           string   `json:"name"`
	Submission     *string  `json:"submissionTime,omitempty"`
	Completion     *string  `json:"completionTime,omitempty"`
	StageIDs       []int64  `json:"stageIds"`
	Status         string   `json:"status"`
	NumTasks       int64    `json:"numTasks"`
	NumCompleted   int64    `json:"numCompletedTasks"`
	NumFailed      int64    `json:"numFailedTasks"`
	NumKilled      int64    `json:"numKilledTasks"`
	NumActive      int64    `json:"numActiveTasks"`
	StagesDone     int64    `json:"numCompletedStages"`
	StagesSkipped  int64    `json:"numSkippedStages"`
	StagesFailed   int64    `json:"numFailedStages"`
	StagesActive   int64    `json:"numActiveStages"`
	StragglerKey   string   `json:"stragglerKey"`
	StragglerLostS *float64 `json:"stragglerPhasesLostS,omitempty"`
}

type stageRow struct {
	JobID        schema.Key                    `col:"job_id"`
	Job          string                        `col:"job"`
	JobName      schema.Null[string]           `col:"job_name"`
	JobStatus    schema.RunStatus              `col:"job_status"`
	JobSubmit    schema.Null[schema.Time]      `col:"job_submit"`
	JobFinish    schema.Null[schema.Time]      `col:"job_finish"`
	PhaseID      schema.Null[schema.Key]       `col:"phase_id"`
	Phase        schema.Null[string]           `col:"phase"`
	Attempt      schema.Null[int32]            `col:"attempt"`
	Name         schema.Null[string]           `col:"name"`
	Status       schema.Null[schema.RunStatus] `col:"status"`
	TaskCount    schema.Null[int64]            `col:"task_count"`
	Submit       schema.Null[schema.Time]      `col:"submit_time"`
	Start        schema.Null[schema.Time]      `col:"start_time"`
	Finish       schema.Null[schema.Time]      `col:"finish_time"`
	Completed    int64                         `col:"completed"`
	Failed       int64                         `col:"failed"`
	Killed       int64                         `col:"killed"`
	Active       int64                         `col:"active"`
	OutputBytes  schema.Null[int64]            `col:"output_bytes"`
	SpillBytes   schema.Null[int64]            `col:"spill_bytes"`
	CPUS         schema.Null[float64]          `col:"cpu_s"`
	GCS          schema.Null[float64]          `col:"gc_s"`
	DeserializeS schema.Null[float64]          `col:"deserialize_s"`
	FetchWaitS   schema.Null[float64]          `col:"fetch_wait_s"`
	ShuffleWrite schema.Null[int64]            `col:"shuffle_write_bytes"`
	LostS        schema.Null[float64]          `col:"lost_s"`
}

// stageRows returns the stages of the request's application, with their jobs.
func (api *API) stageRows(r *http.Request) ([]stageRow, error) {
	a, err := api.native(r)
	if err != nil {
		return nil, err
	}
	return catalog.Read[stageRow](r.Context(), api.c, sqlOf("stages", a.ApplicationID))
}

// sparkID returns a native id as a number or, if it is not one, the key, by which a client can request the row too.
func sparkID(native string, key schema.Key) int64 {
	n, err := strconv.ParseInt(native, 10, 64)
	if err != nil {
		return key
	}
	return n
}

var jobStatuses = map[schema.RunStatus]string{schema.RunSucceeded: "SUCCEEDED", schema.RunFailed: "FAILED",
	schema.RunKilled: "FAILED", schema.RunRunning: "RUNNING"}

func (api *API) jobs(r *http.Request) ([]sparkJob, error) {
	rows, err := api.stageRows(r)
	if err != nil {
		return nil, err
	}
	out := []sparkJob{}
	var last schema.Key
	for i := range rows {
		row := &rows[i]
		if len(out) == 0 || row.JobID != last {
			last = row.JobID
			status := jobStatuses[row.JobStatus]
			if status == "" {
				status = "UNKNOWN"
			}
			out = append(out, sparkJob{JobID: sparkID(row.Job, row.JobID), Name: row.JobName.V,
				Submission: optionalTime(row.JobSubmit), Completion: optionalTime(row.JobFinish), StageIDs: []int64{},
				Status: status, StragglerKey: strconv.FormatInt(row.JobID, 10)})
		}
		out[len(out)-1].add(row)
	}
	picked := []sparkJob{}
	for _, j := range out {
		matches, err := ofStatus(r, j.Status, "running", "succeeded", "failed", "unknown")
		if err != nil {
			return nil, err
		}
		if matches {
			picked = append(picked, j)
		}
	}
	return picked, nil
}

// add adds a stage to its job.
func (j *sparkJob) add(r *stageRow) {
	if !r.PhaseID.OK {
		return
	}
	if id := sparkID(r.Phase.V, r.PhaseID.V); len(j.StageIDs) == 0 || j.StageIDs[len(j.StageIDs)-1] != id {
		j.StageIDs = append(j.StageIDs, id)
		j.NumTasks += r.TaskCount.V
	}
	j.NumCompleted, j.NumFailed, j.NumKilled, j.NumActive = j.NumCompleted+r.Completed, j.NumFailed+r.Failed, j.NumKilled+r.Killed, j.NumActive+r.Active
	switch stageStatus(r) {
	case "COMPLETE":
		j.StagesDone++
	case "SKIPPED":
		j.StagesSkipped++
	case "FAILED":
		j.StagesFailed++
	case "ACTIVE":
		j.StagesActive++
	}
	if r.LostS.OK {
		sum := r.LostS.V
		if j.StragglerLostS != nil {
			sum += *j.StragglerLostS
		}
		j.StragglerLostS = &sum
	}
}

func stageStatus(r *stageRow) string {
	switch r.Status.V {
	case schema.RunSucceeded:
		return "COMPLETE"
	case schema.RunFailed, schema.RunKilled:
		return "FAILED"
	case schema.RunSkipped:
		return "SKIPPED"
	case schema.RunRunning:
		return "ACTIVE"
	}
	return "PENDING"
}

// job returns the job with Spark's id.
func (api *API) job(r *http.Request) (sparkJob, error) {
	all, err := api.jobs(r)
	if err != nil {
		return sparkJob{}, err
	}
	return byID(r, "job", "job", all, func(j *sparkJob) int64 { return j.JobID })
}

// byID finds the element whose Spark id is in a part of the request's path.
func byID[T any](r *http.Request, part, what string, all []T, id func(*T) int64) (found T, err error) {
	for i := range all {
		if strconv.FormatInt(id(&all[i]), 10) == r.PathValue(part) {
			return all[i], nil
		}
	}
	return found, fmt.Errorf("%w: unknown %s: %s", report.ErrNoRow, what, prose.Clean(r.PathValue(part), 40))
}

// sparkStage is StageData.
type sparkStage struct {
	Status       string   `json:"status"`
	StageID      int64    `json:"stageId"`
	AttemptID    int32    `json:"attemptId"`
	NumTasks     int64    `json:"numTasks"`
	NumActive    int64    `json:"numActiveTasks"`
	NumComplete  int64    `json:"numCompleteTasks"`
	NumFailed    int64    `json:"numFailedTasks"`
	NumKilled    int64    `json:"numKilledTasks"`
	Submission   *string  `json:"submissionTime,omitempty"`
	FirstLaunch  *string  `json:"firstTaskLaunchedTime,omitempty"`
	Completion   *string  `json:"completionTime,omitempty"`
	OutputBytes  *int64   `json:"outputBytes,omitempty"`
	ShuffleWrite *int64   `json:"shuffleWriteBytes,omitempty"`
	Spilled      *int64   `json:"diskBytesSpilled,omitempty"`
	CPU          *int64   `json:"executorCpuTime,omitempty"` // ns; the other times are ms
	GC           *int64   `json:"jvmGcTime,omitempty"`
	Deserialize  *int64   `json:"executorDeserializeTime,omitempty"`
	FetchWait    *int64   `json:"shuffleFetchWaitTime,omitempty"`
	Name         string   `json:"name"`
	StragglerKey string   `json:"stragglerKey"`
	LostS        *float64 `json:"stragglerLostS,omitempty"`
}

func (api *API) stages(r *http.Request) ([]sparkStage, error) {
	all, err := api.stagesAt(r)
	if err != nil {
		return nil, err
	}
	out := []sparkStage{}
	for _, st := range all {
		matches, err := ofStatus(r, st.Status, "active", "complete", "pending", "skipped", "failed")
		if err != nil {
			return nil, err
		}
		if matches {
			out = append(out, st)
		}
	}
	if len(out) == 0 && r.PathValue("stage") != "" {
		return nil, fmt.Errorf("%w: unknown stage: %s", report.ErrNoRow, prose.Clean(r.PathValue("stage"), 40))
	}
	return out, nil
}

// stagesAt returns the attempts of the stage in the request's path.
func (api *API) stagesAt(r *http.Request) ([]sparkStage, error) {
	rows, err := api.stageRows(r)
	if err != nil {
		return nil, err
	}
	out := []sparkStage{}
	stage, attempt := r.PathValue("stage"), r.PathValue("attempt")
	for i := range rows {
		row := &rows[i]
		id := sparkID(row.Phase.V, row.PhaseID.V)
		if !row.PhaseID.OK || stage != "" && strconv.FormatInt(id, 10) != stage || attempt != "" && strconv.Itoa(int(row.Attempt.V)) != attempt {
			continue
		}
		st := sparkStage{Status: stageStatus(row), StageID: id, AttemptID: row.Attempt.V, NumTasks: row.TaskCount.V,
			NumActive: row.Active, NumComplete: row.Completed, NumFailed: row.Failed, NumKilled: row.Killed,
			Submission: optionalTime(row.Submit), FirstLaunch: optionalTime(row.Start), Completion: optionalTime(row.Finish),
			OutputBytes: pointer(row.OutputBytes), ShuffleWrite: pointer(row.ShuffleWrite),
			Spilled: pointer(row.SpillBytes), CPU: whole(row.CPUS, 1e9), GC: whole(row.GCS, 1000),
			Deserialize: whole(row.DeserializeS, 1000), FetchWait: whole(row.FetchWaitS, 1000), Name: row.Name.V,
			StragglerKey: strconv.FormatInt(row.PhaseID.V, 10), LostS: pointer(row.LostS)}
		out = append(out, st)
	}
	return out, nil
}

// stageKey returns the key of the stage attempt in the request's path.
func (api *API) stageKey(r *http.Request) (schema.Key, error) {
	all, err := api.stagesAt(r)
	if err != nil {
		return 0, err
	}
	if len(all) == 0 {
		return 0, fmt.Errorf("%w: unknown stage: %s", report.ErrNoRow, prose.Clean(r.PathValue("stage"), 40))
	}
	return strconv.ParseInt(all[0].StragglerKey, 10, 64)
}

func pointer[T any](v schema.Null[T]) *T {
	if !v.OK {
		return nil
	}
	return &v.V
}

// stage returns one attempt of a stage.
func (api *API) stage(r *http.Request) (sparkStage, error) {
	all, err := api.stages(r)
	if err != nil {
		return sparkStage{}, err
	}
	return all[0], nil
}
