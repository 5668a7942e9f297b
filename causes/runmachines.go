package causes

import (
	"cmp"
	"context"
	_ "embed"
	"maps"
	"math"
	"slices"

	"straggler/causes/fit"
	"straggler/causes/machines"
	"straggler/engine"
	"straggler/schema"
	"straggler/stats"
	"straggler/store"
)

//go:embed run_machines.sql
var runMachinesSQL string

//go:embed run_losses.sql
var runLossesSQL string

// The machines of each run are judged while its attempts are read for attribution, in this process or by copies of the program.
// The results of run_machines.sql and history_attempts.sql for a phase follow from its attempts and the history of its stage,
// so those queries are needed only on a cluster that cannot run copies. TestRunsByQuery compares the two.

// usualStage holds the usual values for the stage of a phase.
type usualStage struct {
	Phase     schema.Key           `col:"phase_id"`
	Seconds   float64              `col:"usual_s"`
	Within    float64              `col:"within_run"`
	WorkRatio schema.Null[float64] `col:"work_ratio"`
	CPUS      schema.Null[float64] `col:"usual_cpu_s"`
	WaitS     schema.Null[float64] `col:"usual_wait_s"`
	Bytes     schema.Null[float64] `col:"usual_input_bytes"`
	Records   schema.Null[float64] `col:"usual_input_records"`
}

const usualSQL = `SELECT phase_id, usual_s, within_run, work_ratio, usual_cpu_s, usual_wait_s, usual_input_bytes, usual_input_records
FROM stage_history WHERE usual_s IS NOT NULL`

// openRuns holds runs of which some phases have been read; a run is judged when all have been.
type openRuns struct {
	r      *run
	tx     *store.Tx
	losses map[schema.Key]map[string]int64
	last   map[schema.Key]schema.Key // last phase of each run whose stage has earlier runs
	open   map[schema.Key][]runPhase // phase by phase
}

// runPhase is a phase of a run.
type runPhase struct {
	*phaseRow
	runTimes
}

// runTimes holds the times of machines, and of slow attempts, in a phase.
type runTimes struct {
	parts []machinePart
	late  []lateAttempt
}

// machinePart summarises the tasks of a phase on one machine by medians; NaN if unknown.
type machinePart struct {
	machine                                   int64
	tasks, slow                               int64 // slow: longer than usual
	duration, processor, wait, bytes, records float64
	start, finish                             schema.Time
	tick                                      float64 // resolution of the clock, if the log has whole seconds
}

// lateAttempt is an attempt that is slower than usual.
type lateAttempt struct {
	attempt                           schema.Key
	machine                           int64   // -1 unknown
	duration, excess, processor, wait float64 // seconds; NaN unknown
}

// openRuns reads the usual values for the phases to process.
func (r *run) openRuns(ctx context.Context, tx *store.Tx) (*openRuns, error) {
	o := &openRuns{r: r, tx: tx, last: map[schema.Key]schema.Key{}, open: map[schema.Key][]runPhase{}}
	for u, err := range engine.ReadParts[usualStage](ctx, r.eng, "causes_usual", usualSQL, r.seen...) {
		if err != nil {
			return nil, err
		}
		if p := r.phase(u.Phase); p != nil && p.work != nothing && p.Attempts > 0 {
			usual := *u
			p.usual, r.history = &usual, true
			o.last[p.Application] = max(o.last[p.Application], p.ID)
		}
	}
	var err error
	o.losses, err = r.runLosses(ctx)
	return o, err
}

// take adds the times of a phase, in the order of the phases, and judges the run after its last phase.
func (o *openRuns) take(p *phaseRow, t *runTimes) error {
	if p.usual == nil {
		return nil
	}
	run := append(o.open[p.Application], runPhase{p, *t})
	if o.last[p.Application] > p.ID {
		o.open[p.Application] = run
		return nil
	}
	delete(o.open, p.Application)
	return o.judge(p.Application, run)
}

// judge writes machine_health and history_attributions of a run.
func (o *openRuns) judge(application schema.Key, run []runPhase) error {
	n := 0
	for i := range run {
		n += len(run[i].parts)
	}
	parts := make([]machines.RunPart, 0, n)
	for i := range run {
		p := &run[i]
		for k := range p.parts {
			parts = append(parts, p.parts[k].of(p.phaseRow, o.r.machines))
		}
		p.parts = nil
	}
	judged, err := o.r.judgeRun(o.tx, application, parts, o.losses[application])
	if err != nil {
		return err
	}
	w := historyWriter{r: o.r, tx: o.tx}
	for i := range run {
		for _, l := range run[i].late {
			usual := run[i].usual
			a := usualAttempt{Application: application, Attempt: l.attempt, Phase: run[i].ID, DurationS: l.duration,
				ExcessS: l.excess, CPUS: known(l.processor),
				WaitS: known(l.wait), WorkRatio: usual.WorkRatio, UsualCPUS: usual.CPUS, UsualWaitS: usual.WaitS}
			if l.machine >= 0 {
				a.Machine = o.r.machines[l.machine]
			}
			if err := w.add(&a, judged); err != nil {
				return err
			}
		}
	}
	return w.flush()
}

// of combines the part with the usual values of its stage.
func (m *machinePart) of(p *phaseRow, names []string) machines.RunPart {
	u := p.usual
	return machines.RunPart{Application: p.Application, Phase: p.ID, Machine: names[m.machine], Tasks: m.tasks, Slow: m.slow, MedianS: m.duration,
		CPUS: known(m.processor), WaitS: known(m.wait), InputBytes: known(m.bytes), Records: known(m.records), Start: m.start, Finish: m.finish, TickS: m.tick,
		UsualS: u.Seconds, Within: u.Within, UsualCPUS: u.CPUS, UsualWaitS: u.WaitS, UsualBytes: u.Bytes, UsualRecords: u.Records}
}

func known(x float64) (v schema.Null[float64]) {
	if !math.IsNaN(x) {
		v = schema.Some(x)
	}
	return v
}

// runTimer computes runTimes. It must not be used concurrently.
type runTimer struct {
	order  []uint64 // machine and index of each timed task
	late   []lateAttempt
	values []float64
}

// times computes what run_machines.sql and history_attempts.sql select for a phase.
func (w *runTimer) times(f *fit.Phase) (t runTimes) {
	w.order, w.late = w.order[:0], w.late[:0]
	for i := range f.Tasks {
		a := &f.Tasks[i]
		if a.Timed {
			w.order = append(w.order, uint64(a.Machine)<<32|uint64(i))
		}
		if a.Beyond > 0 && a.Duration > a.Beyond {
			w.late = append(w.late, lateAttempt{a.Attempt, a.Machine, a.Duration, a.Beyond, a.CPU, a.Wait})
		}
	}
	t.late = slices.Clone(w.late)
	slices.Sort(w.order)
	ran := 0
	for i, k := range w.order {
		if i == 0 || k>>32 != w.order[i-1]>>32 {
			ran++
		}
	}
	t.parts = make([]machinePart, 0, ran)
	for len(w.order) > 0 {
		machine, n := w.order[0]>>32, 1
		for n < len(w.order) && w.order[n]>>32 == machine {
			n++
		}
		t.parts = append(t.parts, w.part(f, int64(machine), w.order[:n]))
		w.order = w.order[n:]
	}
	return t
}

// part summarises the tasks on one machine.
func (w *runTimer) part(f *fit.Phase, machine int64, own []uint64) machinePart {
	m := machinePart{machine: machine, tasks: int64(len(own)), tick: 1, start: math.MaxInt64, finish: math.MinInt64}
	for _, k := range own {
		a := &f.Tasks[uint32(k)]
		start, finish := a.Start.V, a.Start.V.Add(a.Duration) // exact: a duration is finish − start
		m.start, m.finish = min(m.start, start), max(m.finish, finish)
		if start%1e6 != 0 || finish%1e6 != 0 {
			m.tick = 0
		}
		if !math.IsNaN(a.Beyond) {
			m.slow++
		}
	}
	median := func(value func(*fit.Task) float64) float64 {
		w.values = w.values[:0]
		for _, k := range own {
			if v := value(&f.Tasks[uint32(k)]); !math.IsNaN(v) {
				w.values = append(w.values, v)
			}
		}
		return stats.Median(w.values)
	}
	m.duration = median(func(a *fit.Task) float64 { return a.Duration })
	m.processor, m.wait = median(func(a *fit.Task) float64 { return a.CPU }), median(func(a *fit.Task) float64 { return a.Wait })
	m.bytes, m.records = median(func(a *fit.Task) float64 { return a.Bytes }), median(func(a *fit.Task) float64 { return a.Records })
	return m
}

// runLosses counts the outputs lost on each machine, by application.
func (r *run) runLosses(ctx context.Context) (map[schema.Key]map[string]int64, error) {
	type loss struct {
		Application schema.Key `col:"application_id"`
		Machine     string     `col:"machine"`
		Losses      int64      `col:"losses"`
	}
	losses := map[schema.Key]map[string]int64{}
	for l, err := range engine.ReadParts[loss](ctx, r.eng, "causes_run_losses", runLossesSQL, r.seen...) {
		if err != nil {
			return nil, err
		}
		if losses[l.Application] == nil {
			losses[l.Application] = map[string]int64{}
		}
		losses[l.Application][l.Machine] = l.Losses
	}
	return losses, nil
}

// judgeRun judges the machines of a run by its parts and writes the rows of machine_health for the run.
func (r *run) judgeRun(tx *store.Tx, application schema.Key, parts []machines.RunPart, losses map[string]int64) (*machines.RunJudgement, error) {
	if len(parts) == 0 {
		return nil, nil
	}
	slices.SortFunc(parts, func(a, b machines.RunPart) int {
		return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Phase, b.Phase))
	})
	j := machines.JudgeRun(parts, losses, r.o.FalseShare, r.model.Outliers.Probability)
	err := store.Append(tx, r.part.inputOf("applications", application), j.Rows)
	j.Rows = nil
	return &j, err
}

// runHealth judges the machines of runs by queries, unless they were judged as attempts were read.
func (r *run) runHealth(ctx context.Context, tx *store.Tx) error {
	if r.runsJudged {
		return nil
	}
	losses, err := r.runLosses(ctx)
	if err != nil {
		return err
	}
	parts := map[schema.Key][]machines.RunPart{}
	for p, err := range engine.ReadParts[machines.RunPart](ctx, r.eng, "causes_run_machines", runMachinesSQL, r.seen...) {
		if err != nil {
			return err
		}
		parts[p.Application] = append(parts[p.Application], *p)
	}
	judged := map[schema.Key]*machines.RunJudgement{}
	for _, application := range slices.Sorted(maps.Keys(parts)) {
		if judged[application], err = r.judgeRun(tx, application, parts[application], losses[application]); err != nil {
			return err
		}
	}
	return r.againstHistory(ctx, tx, judged)
}
