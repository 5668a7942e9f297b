// Package perfetto takes the tables of a store and writes their timeline as a Chrome trace, which ui.perfetto.dev and
// chrome://tracing open: a process for each machine, a thread for each slot, a slice for each attempt whose category is
// its cause. The phases are a process of their own.
//
// Start with Write.
package perfetto

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"

	"straggler/engine"
	"straggler/report"
	"straggler/report/prose"
	"straggler/report/slots"
	"straggler/schema"
	"straggler/selection"
)

//go:embed trace.sql
var attemptsSQL string

//go:embed trace_phases.sql
var phasesSQL string

// Write writes the timeline as a Chrome trace. The rows are streamed from the engine: the file grows with the store, the
// memory does not. app is the native id or name of an application, empty for all.
func Write(ctx context.Context, w io.Writer, eng engine.Engine, apps selection.Applications) error {
	t := &traceWriter{w: bufio.NewWriter(w)}
	if err := t.trace(ctx, eng, apps); err != nil {
		return fmt.Errorf("report: writing a trace: %w", err)
	}
	return t.w.Flush()
}

// traceWriter writes events; errors of the writer stick to the buffer.
type traceWriter struct {
	w       *bufio.Writer
	started bool
	pid     int
	threads int // of the current process that have a name
	slots   slots.Slots
	origin  schema.Time
}

func (t *traceWriter) trace(ctx context.Context, eng engine.Engine, apps selection.Applications) error {
	if err := report.SelectApplications(ctx, eng, apps); err != nil {
		return err
	}
	t.w.WriteString(`{"displayTimeUnit":"ms","traceEvents":[`)
	if err := t.phases(ctx, eng); err != nil {
		return err
	}
	if err := t.attempts(ctx, eng); err != nil {
		return err
	}
	t.w.WriteString("\n]}\n")
	return nil
}

func (t *traceWriter) phases(ctx context.Context, eng engine.Engine) error {
	for r, err := range engine.ReadParts[phaseRow](ctx, eng, "report_trace_phases", phasesSQL) {
		if err != nil {
			return fmt.Errorf("trace_phases.sql: %w", err)
		}
		if t.pid == 0 {
			if err := t.process("phases", r.StartTime); err != nil {
				return err
			}
		}
		e := &traceEvent{Name: report.PhaseShort(r.Phase, r.PhaseAttempt) + prose.After(" ", prose.MaybeName(r.PhaseName)), Cat: "phase",
			Args: &traceArgs{Application: prose.Name(r.Application), Job: prose.Name(r.Job), LostS: pointer(r.LostS)}}
		if err := t.slice(e, r.StartTime, schema.Some(r.FinishTime)); err != nil {
			return err
		}
	}
	return nil
}

// phaseRow is a row of trace_phases.sql.
type phaseRow struct {
	Application  string               `col:"application"`
	Job          string               `col:"job"`
	Phase        string               `col:"phase"`
	PhaseAttempt int32                `col:"phase_attempt"`
	PhaseName    schema.Null[string]  `col:"phase_name"`
	StartTime    schema.Time          `col:"start_time"`
	FinishTime   schema.Time          `col:"finish_time"`
	LostS        schema.Null[float64] `col:"lost_s"`
}

func (t *traceWriter) attempts(ctx context.Context, eng engine.Engine) error {
	machine, first := "", true
	for r, err := range engine.ReadParts[attemptRow](ctx, eng, "report_trace", attemptsSQL) {
		if err != nil {
			return fmt.Errorf("trace.sql: %w", err)
		}
		if first || r.Machine != machine {
			title := "machine unknown"
			if r.Machine != "" {
				title = prose.Name(r.Machine)
			}
			if err := t.process(title, r.StartTime); err != nil {
				return err
			}
			machine, first = r.Machine, false
		}
		e := &traceEvent{Name: fmt.Sprintf("phase %s task %d.%d", report.PhaseShort(r.Phase, r.PhaseAttempt), r.Task, r.Number), Cat: "ordinary",
			Args: &traceArgs{AttemptID: fmt.Sprint(r.AttemptID), NativeID: prose.Name(r.NativeID), Job: prose.Name(r.Job),
				Executor: prose.MaybeName(r.Executor), Status: string(r.Status),
				Cause: string(r.Cause.V), ExcessS: pointer(r.ExcessS), InputBytes: pointer(r.InputBytes), Speculative: r.Speculative, Recompute: r.Recompute}}
		if r.Cause.OK {
			e.Cat = string(r.Cause.V)
		}
		if err := t.slice(e, r.StartTime, r.FinishTime); err != nil {
			return err
		}
	}
	return nil
}

// attemptRow is a row of trace.sql.
type attemptRow struct {
	AttemptID    schema.Key                `col:"attempt_id"`
	Machine      string                    `col:"machine"`
	Executor     schema.Null[string]       `col:"executor"`
	Task         int64                     `col:"task"`
	Number       int32                     `col:"number"`
	NativeID     string                    `col:"native_id"`
	StartTime    schema.Time               `col:"start_time"`
	FinishTime   schema.Null[schema.Time]  `col:"finish_time"`
	Status       schema.AttemptStatus      `col:"status"`
	Speculative  bool                      `col:"speculative"`
	Recompute    bool                      `col:"recompute"`
	InputBytes   schema.Null[int64]        `col:"input_bytes"`
	Phase        string                    `col:"phase"`
	PhaseAttempt int32                     `col:"phase_attempt"`
	Job          string                    `col:"job"`
	Cause        schema.Null[schema.Cause] `col:"cause"`
	ExcessS      schema.Null[float64]      `col:"excess_s"`
}

// process starts a process of the trace, all of whose slots are free.
func (t *traceWriter) process(title string, origin schema.Time) error {
	t.pid++
	t.threads, t.slots, t.origin = 0, slots.Slots{}, origin
	return t.event(&traceEvent{Name: "process_name", Ph: "M", Pid: t.pid, Args: &traceArgs{Name: title}})
}

// slice writes an event on the first free slot. Starts must not decrease within a process.
func (t *traceWriter) slice(e *traceEvent, start schema.Time, finish schema.Null[schema.Time]) error {
	end := start
	if finish.OK && finish.V > start {
		end = finish.V
	}
	slot := t.slots.Take(start.Sub(t.origin), end.Sub(t.origin)) + 1
	for ; t.threads < slot; t.threads++ {
		if err := t.event(&traceEvent{Name: "thread_name", Ph: "M", Pid: t.pid, Tid: t.threads + 1,
			Args: &traceArgs{Name: fmt.Sprintf("slot %d", t.threads+1)}}); err != nil {
			return err
		}
	}
	e.Ph, e.Pid, e.Tid, e.Ts = "X", t.pid, slot, int64(start)
	dur := int64(end - start)
	e.Dur = &dur
	return t.event(e)
}

func (t *traceWriter) event(e *traceEvent) error {
	if t.started {
		t.w.WriteByte(',')
	}
	t.started = true
	t.w.WriteByte('\n')
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = t.w.Write(data)
	return err
}

// traceEvent is an event of the Chrome trace format; ts and dur are microseconds.
type traceEvent struct {
	Name string     `json:"name"`
	Ph   string     `json:"ph"`
	Cat  string     `json:"cat,omitempty"`
	Pid  int        `json:"pid"`
	Tid  int        `json:"tid"`
	Ts   int64      `json:"ts"`
	Dur  *int64     `json:"dur,omitempty"`
	Args *traceArgs `json:"args,omitempty"`
}

type traceArgs struct {
	Name        string   `json:"name,omitempty"`
	AttemptID   string   `json:"attempt_id,omitempty"` // a text: viewers keep 53 bits of a number
	NativeID    string   `json:"native_id,omitempty"`
	Job         string   `json:"job,omitempty"`
	Application string   `json:"application,omitempty"`
	Executor    string   `json:"executor,omitempty"`
	Status      string   `json:"status,omitempty"`
	Cause       string   `json:"cause,omitempty"`
	ExcessS     *float64 `json:"excess_s,omitempty"`
	LostS       *float64 `json:"lost_s,omitempty"`
	InputBytes  *int64   `json:"input_bytes,omitempty"`
	Speculative bool     `json:"speculative,omitempty"`
	Recompute   bool     `json:"recompute,omitempty"`
}

// pointer returns nil for an unknown value, which encoding/json omits.
func pointer[T any](v schema.Null[T]) *T {
	if !v.OK {
		return nil
	}
	return &v.V
}
