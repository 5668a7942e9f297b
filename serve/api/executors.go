package api

import (
	"net/http"

	"straggler/schema"
	"straggler/serve/catalog"
)

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

// executors lists the executors that the application had at its end, or all it ever had.
func (api *API) executors(all bool) func(*http.Request) ([]sparkExecutor, error) {
	return func(r *http.Request) ([]sparkExecutor, error) {
		a, err := api.native(r)
		if err != nil {
			return nil, err
		}
		rows, err := catalog.Read[executorRow](r.Context(), api.c, sqlOf("executors", a.ApplicationID))
		if err != nil {
			return nil, err
		}
		out := []sparkExecutor{}
		for _, row := range rows {
			if row.Removed.OK && !all {
				continue
			}
			e := sparkExecutor{ID: row.Executor, HostPort: row.Machine, IsActive: !row.Removed.OK, TotalCores: whole(row.Cores, 1),
				MaxTasks: pointer(row.Slots), ActiveTasks: row.Active, FailedTasks: row.Failed,
				CompletedTasks: row.Completed, TotalTasks: row.Total, TotalDuration: int64(row.DurationS*1000 + 0.5),
				TotalGCTime: whole(row.GCS, 1000), TotalShuffleWrite: pointer(row.ShuffleWrite), AddTime: optionalTime(row.Added),
				RemoveTime: optionalTime(row.Removed)}
			out = append(out, e)
		}
		return out, nil
	}
}

// whole returns a value in another unit, rounded, or nil if it is unknown.
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

func (api *API) environment(r *http.Request) (e sparkEnvironment, err error) {
	a, err := api.native(r)
	if err != nil {
		return e, err
	}
	e.SparkProperties = [][]string{}
	err = catalog.Each(r.Context(), api.c, sqlOf("settings", a.ApplicationID), func(row *struct {
		Name  string `col:"name"`
		Value string `col:"value"`
	}) error {
		e.SparkProperties = append(e.SparkProperties, []string{row.Name, row.Value})
		return nil
	})
	return e, err
}
