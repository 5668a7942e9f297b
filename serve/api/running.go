package api

import (
	"net/http"
	"slices"

	"straggler/report/prose"
	"straggler/schema"
)

// runningAnswer is a running application, for programs.
type runningAnswer struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"`
	Started *string       `json:"startTime,omitempty"`
	Where   string        `json:"where"`
	Now     *string       `json:"now,omitempty"` // by the cluster's clock; left out while nothing was heard of it
	Trouble *string       `json:"trouble,omitempty"`
	Stages  []runningStep `json:"stages"`
	Slow    []runningTask `json:"slowTasks"`
}

type runningStep struct {
	Stage   string   `json:"stage"`
	Attempt int32    `json:"attempt"`
	Tasks   int64    `json:"tasks"`
	Done    int      `json:"done"`
	Running int      `json:"running"`
	MedianS *float64 `json:"medianS,omitempty"`
}

type runningTask struct {
	Stage        string   `json:"stage"`
	StageAttempt int32    `json:"stageAttempt"`
	Task         int64    `json:"task"`
	Attempt      int32    `json:"attempt"`
	Host         string   `json:"host"`
	ElapsedS     float64  `json:"elapsedS"`
	MedianS      float64  `json:"medianS"`
	LeftS        *float64 `json:"leftS,omitempty"`
	Cause        string   `json:"cause"`
	Confidence   *float64 `json:"confidence,omitempty"`
	CopyHelps    string   `json:"copyHelps"`
	Advice       string   `json:"advice"`
	Policies     []string `json:"policies"` // that would have acted
}

func (api *API) running(*http.Request) ([]runningAnswer, error) {
	out := []runningAnswer{}
	if api.board == nil {
		return out, nil
	}
	for _, a := range api.board.Applications() {
		x := runningAnswer{ID: a.ID, Name: a.Name.Or(a.ID), Started: optionalTime(a.Started), Where: a.Where, Stages: []runningStep{}, Slow: []runningTask{}}
		if !a.Seen.IsZero() {
			x.Now = optionalTime(schema.Some(a.Frame.Now))
		}
		if a.Trouble != nil {
			text := prose.Clean(a.Trouble.Error(), prose.TextRunes)
			x.Trouble = &text
		}
		for i := range a.Frame.Stages {
			st := &a.Frame.Stages[i]
			x.Stages = append(x.Stages, runningStep{st.Stage, st.Attempt, st.Tasks, st.Done, st.Running, pointer(st.MedianS)})
		}
		for i := range a.Frame.Slow {
			t := &a.Frame.Slow[i]
			task := runningTask{Stage: t.Stage, StageAttempt: t.StageTry, Task: t.Task, Attempt: t.Number, Host: t.Machine,
				ElapsedS: t.ElapsedS, MedianS: t.MedianS, Cause: string(t.Cause), Confidence: pointer(t.Confidence),
				CopyHelps: string(t.Copy.Helps), Advice: t.Copy.Advice, Policies: []string{}}
			if prose.Finite(t.LeftS) {
				task.LeftS = &t.LeftS
			}
			for _, d := range a.Would(t) {
				if !slices.Contains(task.Policies, d.Policy) {
					task.Policies = append(task.Policies, d.Policy)
				}
			}
			x.Slow = append(x.Slow, task)
		}
		out = append(out, x)
	}
	return out, nil
}
