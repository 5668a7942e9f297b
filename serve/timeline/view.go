package timeline

import (
	"context"
	"errors"
	"fmt"
	"math"

	"straggler/report"
	"straggler/schema"
	"straggler/serve/catalog"
)

// Bounds of a view. A bin is at least as wide as a pixel of the screen; more than mostBars bars cannot be distinguished.
const (
	mostMachines = 32
	busyBins     = 480
	markBins     = 240
	mostBars     = 2500
	mostPhases   = 200
	leastSpan    = 1000 // microseconds
)

// Window is the time to show, in seconds after the first attempt of an application. With To = 0 it ends with the application.
type Window struct {
	Application schema.Key
	From, To    float64
	Of          schema.Key // a job or a phase: instead of From and To, the time around it; 0 for none
	Skip        int        // machines that are left out first, in the order of their excess
}

// ErrWindow is returned for an invalid window.
var ErrWindow = errors.New("no such window of time")

// View is the content of a picture of a window.
type View struct {
	Start    schema.Time // of the first attempt
	LengthS  float64     // of the whole timeline
	From, To float64     // seconds after Start
	BinS     float64     // width of a bin; 0 where each attempt is drawn
	Attempts int64       // in the window, on the machines that are shown
	Machines []Machine   // the most excess first
	Total    int64       // machines of the application
	Phases   []Span      // the longest ones, in the order of their starts
}

// Machine is a row of a picture.
type Machine struct {
	Name  string
	Slots int       // the most attempts at once, in the window
	Busy  []float64 // attempts that ran at once in each bin, on average; nil where each attempt is drawn
	Marks []Mark    // in the order of their starts
}

// Mark is an attempt drawn by itself, or the worst of several of one kind in the same bin.
type Mark struct {
	report.Mark
	Slot     int   // from 1; 0 where the attempts are in bins
	N        int64 // attempts that it stands for
	Ordinary bool  // no outlier, copy, retry, recomputation or failure
}

// Span is the time of a phase in seconds after the start.
type Span struct {
	Key      schema.Key
	Name     string
	From, To float64
}

// Look returns the view of a window.
func Look(ctx context.Context, c *catalog.Catalog, w Window) (*View, error) {
	return look(ctx, c, w, mostBars)
}

// look returns the view of a window, with each attempt by itself if there are at most bars.
func look(ctx context.Context, c *catalog.Catalog, w Window, bars int64) (*View, error) {
	if math.IsNaN(w.From) || math.IsInf(w.From, 0) || math.IsNaN(w.To) || math.IsInf(w.To, 0) || w.From < 0 || w.To < 0 ||
		w.To != 0 && w.To <= w.From || w.Skip < 0 {
		return nil, fmt.Errorf("%w: from %v to %v seconds", ErrWindow, w.From, w.To)
	}
	l := looker{ctx: ctx, c: c, bars: bars, s: span{application: w.Application, skip: w.Skip, bins: busyBins}}
	if err := l.machines(); err != nil || len(l.v.Machines) == 0 {
		return &l.v, err
	}
	if w.Of != 0 {
		if err := l.around(&w); err != nil {
			return nil, fmt.Errorf("timeline: %w", err)
		}
	}
	l.window(w)
	for _, step := range []func() error{l.phases, l.busy, l.marks} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("timeline: %w", err)
		}
	}
	return &l.v, nil
}

type looker struct {
	ctx   context.Context
	c     *catalog.Catalog
	s     span
	v     View
	at    map[string]*Machine
	bars  int64
	count int64 // attempts of the machines shown, in the window or not
}

// machines finds the machines to show and the length of the timeline.
func (l *looker) machines() error {
	rows, err := catalog.Read[struct {
		Machine  string `col:"machine"`
		Attempts int64  `col:"attempts"`
		Total    int64  `col:"total"`
		Start    int64  `col:"start_us"`
		End      int64  `col:"end_us"`
	}](l.ctx, l.c, l.s.sql("machines"))
	if err != nil {
		return fmt.Errorf("timeline: machines: %w", err)
	}
	l.at = make(map[string]*Machine, len(rows))
	l.v.Machines = make([]Machine, len(rows))
	for i, r := range rows {
		l.v.Total, l.s.from, l.s.end = r.Total, r.Start, r.End
		l.v.Machines[i].Name = r.Machine
		l.at[r.Machine] = &l.v.Machines[i]
		l.s.machines = append(l.s.machines, r.Machine)
		l.count += r.Attempts
	}
	l.v.Start = schema.Time(l.s.from)
	l.v.LengthS = float64(l.s.end-l.s.from) / 1e6
	return nil
}

// around sets a window to the time of a job or a phase, with a tenth more on both sides. Keys of jobs and phases never coincide.
func (l *looker) around(w *Window) error {
	sql := fmt.Sprintf("SELECT min(unix_micros(start_time)) AS start_us, max(unix_micros(finish_time)) AS finish_us FROM phases WHERE phase_id = %d OR job_id = %[1]d", w.Of)
	rows, err := catalog.Read[struct {
		Start  schema.Null[int64] `col:"start_us"`
		Finish schema.Null[int64] `col:"finish_us"`
	}](l.ctx, l.c, sql)
	if err != nil || len(rows) == 0 || !rows[0].Start.OK || !rows[0].Finish.OK {
		return err
	}
	from, to := l.seconds(rows[0].Start.V), l.seconds(rows[0].Finish.V)
	w.From, w.To = max(0, from-(to-from)/10), max(0, to+(to-from)/10)
	if w.To <= w.From {
		w.From, w.To = 0, 0
	}
	return nil
}

// window limits a window to the timeline.
func (l *looker) window(w Window) {
	start, length := l.s.from, l.v.LengthS
	if w.To == 0 || w.To > length {
		w.To = length
	}
	from, to := int64(min(w.From, length)*1e6), int64(math.Ceil(w.To*1e6))
	if to-from < leastSpan {
		from = max(0, min(from, to-leastSpan))
		to = from + leastSpan
	}
	l.s.from, l.s.to = start+from, start+to
	l.v.From, l.v.To = float64(from)/1e6, float64(to)/1e6
}

// seconds converts an instant to seconds after the start.
func (l *looker) seconds(us int64) float64 { return float64(us-int64(l.v.Start)) / 1e6 }

func (l *looker) phases() error {
	rows, err := catalog.Read[struct {
		PhaseID schema.Key `col:"phase_id"`
		Phase   string     `col:"phase"`
		Attempt int32      `col:"attempt"`
		Start   int64      `col:"start_us"`
		Finish  int64      `col:"finish_us"`
	}](l.ctx, l.c, l.s.sql("phases"))
	for _, r := range rows {
		l.v.Phases = append(l.v.Phases, Span{r.PhaseID, report.PhaseShort(r.Phase, r.Attempt), l.seconds(r.Start), l.seconds(r.Finish)})
	}
	return err
}

// busy counts the attempts in the window, and how many ran at once in each bin.
func (l *looker) busy() error {
	rows, err := catalog.Read[struct {
		Machine string `col:"machine"`
		Bin     int64  `col:"bin"`
		Busy    int64  `col:"busy_us"`
		Step    int64  `col:"step"`
		N       int64  `col:"n"`
	}](l.ctx, l.c, l.s.sql("bins"))
	if err != nil {
		return err
	}
	width := l.s.width()
	l.v.BinS = float64(width) / 1e6
	bins := (l.s.to - l.s.from + width - 1) / width
	for i := range l.v.Machines {
		l.v.Machines[i].Busy = make([]float64, bins)
	}
	whole, machine, filled := int64(0), "", int64(0)
	fill := func(to int64) { // attempts that run through bins without an end or a start
		for m := l.at[machine]; m != nil && filled < min(to, bins); filled++ {
			m.Busy[filled] += float64(whole)
		}
	}
	for _, r := range rows {
		if r.Machine != machine {
			fill(bins)
			whole, machine, filled = 0, r.Machine, 0
		}
		fill(r.Bin)
		whole += r.Step
		l.v.Attempts += r.N
		if m := l.at[machine]; m != nil && r.Bin < bins {
			m.Busy[r.Bin] += float64(r.Busy) / float64(width)
		}
	}
	fill(bins)
	for i := range l.v.Machines {
		m := &l.v.Machines[i]
		for _, b := range m.Busy {
			m.Slots = max(m.Slots, int(math.Ceil(b-1e-9)))
		}
	}
	return nil
}

// marks adds the attempts of the window: all of them on their slots if they are few, else the outliers, copies, retries and
// failures.
func (l *looker) marks() error {
	file := "marks"
	if l.v.Attempts <= l.bars {
		file, l.v.BinS = "attempts", 0
	}
	s := l.s
	s.bins = markBins
	rows, err := catalog.Read[attemptRow](l.ctx, l.c, s.sql(file))
	if err != nil {
		return err
	}
	slots := map[schema.Key]int{}
	if l.v.BinS == 0 {
		if slots, err = l.slots(); err != nil {
			return err
		}
		for i := range l.v.Machines {
			l.v.Machines[i].Busy, l.v.Machines[i].Slots = nil, 0
		}
	}
	for i := range rows {
		r := &rows[i]
		m := l.at[r.Machine]
		if m == nil {
			continue
		}
		mark := Mark{N: r.N, Slot: slots[r.AttemptID], Ordinary: r.Kind == 0,
			Mark: report.Mark{AttemptID: r.AttemptID, Phase: report.PhaseShort(r.Phase, r.PhaseAttempt), Task: r.Task,
				Number: r.Number, FromS: l.seconds(r.Start), ToS: l.seconds(r.Finish), Open: r.Open, Status: r.Status,
				Copy: r.Speculative, Retry: r.Number > 0 && !r.Speculative,
				Recompute: r.Recompute, Cause: r.Cause.V, ExcessS: r.ExcessS}}
		m.Slots = max(m.Slots, mark.Slot)
		m.Marks = append(m.Marks, mark)
	}
	return nil
}

// attemptRow is a row of attempts.sql and marks.sql.
type attemptRow struct {
	AttemptID    schema.Key                `col:"attempt_id"`
	Machine      string                    `col:"machine"`
	Task         int64                     `col:"task"`
	Number       int32                     `col:"number"`
	Start        int64                     `col:"start_us"`
	Finish       int64                     `col:"finish_us"`
	Open         bool                      `col:"open"`
	Status       schema.AttemptStatus      `col:"status"`
	Speculative  bool                      `col:"speculative"`
	Recompute    bool                      `col:"recompute"`
	Phase        string                    `col:"phase"`
	PhaseAttempt int32                     `col:"phase_attempt"`
	Cause        schema.Null[schema.Cause] `col:"cause"`
	ExcessS      schema.Null[float64]      `col:"excess_s"`
	Kind         int64                     `col:"kind"`
	N            int64                     `col:"n"`
}
