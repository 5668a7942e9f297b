package generate

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"

	"straggler/schema"
	"straggler/schema/synth"
)

// labelShare is the share of an attempt's base time that a cause must have added for the attempt to be labelled with it. A
// label says that a cause was active, not that the attempt is an outlier.
const labelShare = 0.25

// truthJSON is the truth of one application, in the layout of the labelled logs.
type truthJSON struct {
	Name        string                `json:"name"`
	Scenario    string                `json:"scenario"`
	AppID       string                `json:"app_id"`
	Spark       string                `json:"spark_version"`
	Seed        uint64                `json:"seed"`
	Speculation bool                  `json:"speculation"`
	Slots       int                   `json:"slots"`
	Machines    map[string]machineDoc `json:"machines"`
	Jobs        []*jobDoc             `json:"jobs"`
	Labels      []labelDoc            `json:"labels"`

	jobs map[schema.Key]*jobDoc
}

type machineDoc struct {
	Factor     float64 `json:"factor"`
	Generation float64 `json:"generation"`
	Flaky      bool    `json:"flaky,omitempty"`
	Faults     string  `json:"faults,omitempty"`
}

type jobDoc struct {
	ID       int64      `json:"job_id"`
	Name     string     `json:"name"`
	Makespan float64    `json:"makespan_s"`
	Stages   []stageDoc `json:"stages"`
}

type stageDoc struct {
	ID    int64  `json:"stage_id"`
	Name  string `json:"name"`
	Tasks int64  `json:"tasks"`
}

type labelDoc struct {
	Cause        schema.Cause `json:"cause"`
	Mechanism    string       `json:"mechanism"`
	StageID      int64        `json:"stage_id"`
	StageAttempt int32        `json:"stage_attempt"`
	Partition    int64        `json:"partition"`
	Attempt      int32        `json:"attempt"`
	Host         string       `json:"host"`
	Strength     float64      `json:"strength"` // time with the cause ÷ base time
}

func newTruth(o *synth.Options) *truthJSON {
	t := &truthJSON{Name: o.Scenario, Scenario: o.Scenario, Spark: "3.5.6", Seed: o.Seed, Speculation: o.Speculation != nil,
		Slots: o.Cluster.Machines * o.Cluster.Slots, Machines: map[string]machineDoc{}, Labels: []labelDoc{},
		jobs: map[schema.Key]*jobDoc{}}
	for _, m := range synth.Machines(o) {
		doc := machineDoc{Factor: m.Factor, Generation: m.Generation, Flaky: m.Flaky}
		switch {
		case m.Factor != 1:
			doc.Faults = string(schema.BadMachine)
		case m.Downlink != 1 || m.Uplink != 1:
			doc.Faults = string(schema.Network)
		case m.GC:
			doc.Faults = string(schema.GC)
		}
		t.Machines[m.Machine] = doc
	}
	return t
}

// event records what the truth needs of an event.
func (t *truthJSON) event(e *synth.Event) {
	switch e.Kind {
	case synth.ApplicationStarted:
		t.AppID = e.Application.NativeID
	case synth.JobStarted:
		j := &jobDoc{ID: number10(e.Job.NativeID), Name: e.Job.Name.V}
		for _, p := range e.Plan {
			j.Stages = append(j.Stages, stageDoc{number10(p.Phase.NativeID), p.Phase.Name.V, p.Phase.TaskCount.V})
		}
		t.Jobs = append(t.Jobs, j)
		t.jobs[e.Job.JobID] = j
	case synth.JobEnded:
		t.jobs[e.Job.JobID].Makespan = e.Job.FinishTime.V.Sub(e.Job.SubmitTime.V)
	case synth.AttemptEnded:
		t.label(e)
	}
}

func (t *truthJSON) label(e *synth.Event) {
	a, base := e.Attempt, e.Truth.BaseS
	for i, c := range synth.Causes {
		s := e.Truth.By[i]
		if s < labelShare*base || s <= 0 {
			continue
		}
		l := labelDoc{Cause: c, Mechanism: "synth", StageID: number10(e.Phase.NativeID), StageAttempt: e.Phase.Attempt, Partition: a.Task,
			Attempt: a.Number, Host: a.Machine.V}
		if base > 0 {
			l.Strength = (base + s) / base
		}
		t.Labels = append(t.Labels, l)
	}
}

func number10(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64) // written by synth
	return n
}

func (t *truthJSON) write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(t)
}

// truthCSV writes the truth of attempts: attempt_id, base_s, cut_s, and the seconds of each cause.
type truthCSV struct {
	w   *bufio.Writer
	buf []byte
}

func newTruthCSV(w io.Writer) *truthCSV {
	if w == nil {
		return &truthCSV{}
	}
	c := &truthCSV{w: bufio.NewWriterSize(w, 1<<20)}
	c.w.WriteString("attempt_id,base_s,cut_s")
	for _, cause := range synth.Causes {
		c.w.WriteString("," + string(cause))
	}
	c.w.WriteByte('\n')
	return c
}

func (c *truthCSV) write(rows []synth.AttemptTruth) error {
	if c.w == nil {
		return nil
	}
	for i := range rows {
		r := &rows[i]
		c.buf = strconv.AppendInt(c.buf[:0], r.AttemptID, 10)
		for _, v := range append([]float64{r.BaseS, r.CutS}, r.By[:]...) {
			c.buf = append(c.buf, ',')
			if v != 0 {
				c.buf = strconv.AppendFloat(c.buf, v, 'g', -1, 64)
			} else {
				c.buf = append(c.buf, '0')
			}
		}
		c.buf = append(c.buf, '\n')
		if _, err := c.w.Write(c.buf); err != nil {
			return err
		}
	}
	return nil
}

func (c *truthCSV) flush() error {
	if c.w == nil {
		return nil
	}
	return c.w.Flush()
}
