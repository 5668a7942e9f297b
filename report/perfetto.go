package report

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"straggler/schema"
	"straggler/store"
)

// Perfetto writes the timeline as a Chrome trace, which Perfetto and chrome://tracing open: a process a machine, a
// thread a slot, a slice an attempt whose category is its cause; the phases are a process of their own. Rows are
// streamed from the engine, so its size is that of the store and its memory is not.
func Perfetto(ctx context.Context, w io.Writer, eng store.Engine, o Options) error {
	b := &builder{ctx: ctx, eng: eng, o: o}
	if err := b.choose(); err != nil {
		return fmt.Errorf("report: writing a trace: %w", err)
	}
	t := &traceWriter{w: bufio.NewWriter(w)}
	t.w.WriteString(`{"displayTimeUnit":"ms","traceEvents":[`)
	if err := t.phases(b); err != nil {
		return fmt.Errorf("report: writing a trace: %w", err)
	}
	if err := t.attempts(b); err != nil {
		return fmt.Errorf("report: writing a trace: %w", err)
	}
	t.w.WriteString("\n]}\n")
	return t.w.Flush()
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

// traceWriter writes events; errors of the writer stick to the buffer.
type traceWriter struct {
	w       *bufio.Writer
	any     bool
	pid     int
	threads int // named of the process at hand
	slots   slots
	origin  schema.Time
}

func (t *traceWriter) event(e *traceEvent) error {
	if t.any {
		t.w.WriteByte(',')
	}
	t.any = true
	t.w.WriteByte('\n')
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = t.w.Write(data)
	return err
}

// process starts a new one, whose slots are all free.
func (t *traceWriter) process(title string, origin schema.Time) error {
	t.pid++
	t.threads, t.slots, t.origin = 0, slots{}, origin
	return t.event(&traceEvent{Name: "process_name", Ph: "M", Pid: t.pid, Args: &traceArgs{Name: title}})
}

// slice writes an event on the first free slot. Starts must not decrease within a process.
func (t *traceWriter) slice(e *traceEvent, start schema.Time, finish schema.Null[schema.Time]) error {
	end := start
	if finish.OK && finish.V > start {
		end = finish.V
	}
	slot := t.slots.take(start.Sub(t.origin), end.Sub(t.origin)) + 1
	for ; t.threads < slot; t.threads++ {
		if err := t.event(&traceEvent{Name: "thread_name", Ph: "M", Pid: t.pid, Tid: t.threads + 1, Args: &traceArgs{Name: fmt.Sprintf("slot %d", t.threads+1)}}); err != nil {
			return err
		}
	}
	e.Ph, e.Pid, e.Tid, e.Ts = "X", t.pid, slot, int64(start)
	dur := int64(end - start)
	e.Dur = &dur
	return t.event(e)
}

func (t *traceWriter) phases(b *builder) error {
	return read(b, "trace_phases", func(r *struct {
		Application  string               `col:"application"`
		Job          string               `col:"job"`
		Phase        string               `col:"phase"`
		PhaseAttempt int32                `col:"phase_attempt"`
		PhaseName    schema.Null[string]  `col:"phase_name"`
		StartTime    schema.Time          `col:"start_time"`
		FinishTime   schema.Time          `col:"finish_time"`
		LostS        schema.Null[float64] `col:"lost_s"`
	}) error {
		if t.pid == 0 {
			if err := t.process("phases", r.StartTime); err != nil {
				return err
			}
		}
		e := &traceEvent{Name: phaseShort(r.Phase, r.PhaseAttempt) + after(" ", named(r.PhaseName)), Cat: "phase",
			Args: &traceArgs{Application: name(r.Application), Job: name(r.Job), LostS: pointer(r.LostS)}}
		return t.slice(e, r.StartTime, schema.Some(r.FinishTime))
	})
}

func (t *traceWriter) attempts(b *builder) error {
	machine, first := "", true
	return read(b, "trace", func(r *struct {
		AttemptID   schema.Key                `col:"attempt_id"`
		Machine     string                    `col:"machine"`
		Executor    schema.Null[string]       `col:"executor"`
		Task        int64                     `col:"task"`
		Number      int32                     `col:"number"`
		NativeID    string                    `col:"native_id"`
		StartTime   schema.Time               `col:"start_time"`
		FinishTime  schema.Null[schema.Time]  `col:"finish_time"`
		Status      schema.AttemptStatus      `col:"status"`
		Speculative bool                      `col:"speculative"`
		Recompute   bool                      `col:"recompute"`
		InputBytes  schema.Null[int64]        `col:"input_bytes"`
		Phase       string                    `col:"phase"`
		PhaseNo     int32                     `col:"phase_attempt"`
		Job         string                    `col:"job"`
		Cause       schema.Null[schema.Cause] `col:"cause"`
		ExcessS     schema.Null[float64]      `col:"excess_s"`
	}) error {
		if first || r.Machine != machine {
			title := "machine unknown"
			if r.Machine != "" {
				title = name(r.Machine)
			}
			if err := t.process(title, r.StartTime); err != nil {
				return err
			}
			machine, first = r.Machine, false
		}
		e := &traceEvent{Name: fmt.Sprintf("phase %s task %d.%d", phaseShort(r.Phase, r.PhaseNo), r.Task, r.Number), Cat: "ordinary",
			Args: &traceArgs{AttemptID: fmt.Sprint(r.AttemptID), NativeID: name(r.NativeID), Job: name(r.Job), Executor: named(r.Executor), Status: string(r.Status),
				Cause: string(r.Cause.V), ExcessS: pointer(r.ExcessS), InputBytes: pointer(r.InputBytes), Speculative: r.Speculative, Recompute: r.Recompute}}
		if r.Cause.OK {
			e.Cat = string(r.Cause.V)
		}
		return t.slice(e, r.StartTime, r.FinishTime)
	})
}

// pointer is how encoding/json leaves out what is unknown.
func pointer[T any](v schema.Null[T]) *T {
	if !v.OK {
		return nil
	}
	return &v.V
}
