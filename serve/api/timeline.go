package api

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"straggler/report"
	"straggler/report/html"
	"straggler/report/prose"
	"straggler/schema"
	"straggler/serve/timeline"
)

// timelineAnswer is a timeline.View.
type timelineAnswer struct {
	StartTime *string           `json:"startTime,omitempty"`
	LengthS   float64           `json:"lengthS"`
	FromS     float64           `json:"fromS"`
	ToS       float64           `json:"toS"`
	BinS      float64           `json:"binS"` // 0 where each attempt is drawn
	Attempts  int64             `json:"attempts"`
	Total     int64             `json:"machinesTotal"`
	Skip      int64             `json:"machinesSkipped"`
	Machines  []timelineMachine `json:"machines"`
	Phases    []timelinePhase   `json:"phases"`
}

type timelineMachine struct {
	Name  string         `json:"name"`
	Slots int            `json:"slots"` // most attempts at once
	Busy  []float64      `json:"busy"`  // attempts at once by bin
	Marks []timelineMark `json:"marks"`
}

type timelineMark struct {
	Key       string   `json:"key"` // of the page of the attempt
	FromS     float64  `json:"fromS"`
	ToS       float64  `json:"toS"`
	Slot      int      `json:"slot"`
	N         int64    `json:"n"` // attempts of its kind that it stands for
	Ordinary  bool     `json:"ordinary"`
	Cause     string   `json:"cause"`
	Letter    string   `json:"letter"`
	Status    string   `json:"status"`
	Copy      bool     `json:"copy"`
	Retry     bool     `json:"retry"`
	Recompute bool     `json:"recompute"`
	Open      bool     `json:"open"`
	ExcessS   *float64 `json:"excessS,omitempty"`
	Title     string   `json:"title"`
}

type timelinePhase struct {
	Key   string  `json:"key"`
	Name  string  `json:"name"`
	FromS float64 `json:"fromS"`
	ToS   float64 `json:"toS"`
}

func (api *API) timeline(r *http.Request) (timelineAnswer, error) {
	a, err := api.native(r)
	if err != nil {
		return timelineAnswer{}, err
	}
	window := timeline.Window{Application: a.ApplicationID}
	for _, p := range []struct {
		name string
		to   *float64
	}{{"from", &window.From}, {"to", &window.To}} {
		if text := r.FormValue(p.name); text != "" {
			if *p.to, err = strconv.ParseFloat(text, 64); err != nil || math.IsNaN(*p.to) || *p.to < 0 {
				return timelineAnswer{}, fmt.Errorf("%w: %s is a number of seconds", ErrParameter, p.name)
			}
		}
	}
	if text := r.FormValue("of"); text != "" {
		if window.Of, err = strconv.ParseInt(text, 10, 64); err != nil {
			return timelineAnswer{}, fmt.Errorf("%w: of is the key of a job or a phase", ErrParameter)
		}
	}
	if text := r.FormValue("skip"); text != "" {
		if window.Skip, err = strconv.Atoi(text); err != nil || window.Skip < 0 {
			return timelineAnswer{}, fmt.Errorf("%w: skip is a number", ErrParameter)
		}
	}
	v, err := timeline.Look(r.Context(), api.c, window)
	if errors.Is(err, timeline.ErrWindow) {
		return timelineAnswer{}, fmt.Errorf("%w: %w", ErrParameter, err)
	}
	if err != nil {
		return timelineAnswer{}, err
	}
	return newTimelineAnswer(v, window.Skip), nil
}

func newTimelineAnswer(v *timeline.View, skip int) timelineAnswer {
	t := timelineAnswer{LengthS: v.LengthS, FromS: v.From, ToS: v.To, BinS: v.BinS, Attempts: v.Attempts, Total: v.Total,
		Skip: int64(skip), Machines: []timelineMachine{}, Phases: []timelinePhase{}}
	if len(v.Machines) > 0 {
		t.StartTime = optionalTime(schema.Some(v.Start))
	}
	for _, p := range v.Phases {
		t.Phases = append(t.Phases, timelinePhase{strconv.FormatInt(p.Key, 10), p.Name, p.From, p.To})
	}
	for i := range v.Machines {
		m := &v.Machines[i]
		row := timelineMachine{Name: prose.Name(m.Name), Slots: m.Slots, Busy: []float64{}, Marks: []timelineMark{}}
		for _, b := range m.Busy {
			row.Busy = append(row.Busy, math.Round(b*1000)/1000)
		}
		for k := range m.Marks {
			x := &m.Marks[k]
			mark := timelineMark{Key: strconv.FormatInt(x.AttemptID, 10), FromS: x.FromS, ToS: x.ToS, Slot: x.Slot, N: x.N,
				Ordinary: x.Ordinary, Cause: string(x.Cause), Status: string(x.Status),
				Copy: x.Copy, Retry: x.Retry, Recompute: x.Recompute, Open: x.Open, ExcessS: pointer(x.ExcessS), Title: html.MarkTitle(&x.Mark, m.Name)}
			if x.Cause != "" {
				mark.Letter = report.InfoOf(x.Cause).Letter
			}
			if x.N > 1 {
				mark.Title += " · and " + prose.Count(x.N-1) + " more of its kind near it"
			}
			row.Marks = append(row.Marks, mark)
		}
		t.Machines = append(t.Machines, row)
	}
	return t
}
