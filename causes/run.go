package causes

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"straggler/causes/fit"
	"straggler/causes/jobcost"
	"straggler/causes/machines"
	"straggler/causes/model"
	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

//go:embed phases.sql
var phasesSQL string

//go:embed outliers.sql
var outliersSQL string

//go:embed tasks.sql
var tasksSQL string

//go:embed executors.sql
var executorsSQL string

//go:embed losses.sql
var lossesSQL string

const machinesSQL = `SELECT m.machine, row_number() OVER (ORDER BY m.machine NULLS LAST) - 1 AS number, coalesce(m.rack, d.rack) AS rack
FROM (SELECT machine, max(rack) AS rack FROM attempts WHERE machine IS NOT NULL GROUP BY machine) AS m
  LEFT JOIN (SELECT machine, max(rack) AS rack FROM machines GROUP BY machine) AS d ON d.machine = m.machine`

// Options say how to attribute. The zero Options works.
type Options struct {
	WindowS       float64 // windows of time in which a machine's speed is judged; 0: an hour, longer for traces of many weeks
	FalseShare    float64 // share of the machines called slow that may be healthy (false discovery rate); 0: 0.05
	ChunkAttempts int64   // attempts held in memory at once; 0: 500 000. A phase is never divided
	Workers       int     // 0: one a core
	Tool          string  // version of straggler, for the commit
}

// ErrNotDetected is wrapped by the error about a store whose outliers nobody has looked for.
var ErrNotDetected = errors.New("the outliers have not been detected")

// Summary says what was found.
type Summary struct {
	Phases, Outliers int64
	ExcessS          float64 // of all outliers
	Causes           []CauseSummary
	Machines         int64 // judged
	Slow, Flaky      int64 // machines called so in at least one window
	FalseShare       float64
	Commit           store.Commit
}

// CauseSummary says what one cause did in the whole store.
type CauseSummary struct {
	Cause    schema.Cause
	Verdicts int64   // outliers that it is the verdict of
	Seconds  float64 // of excess, over all outliers
}

// Run attributes the outliers of a store and commits attributions, machine_health, skew_repeats and job_costs, in
// place of those of an earlier run.
func Run(ctx context.Context, st *store.Store, eng engine.Engine, o Options) (Summary, error) {
	r, err := newRun(ctx, eng, o)
	if err != nil {
		return Summary{}, fmt.Errorf("causes: %w", err)
	}
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Causes, Tool: o.Tool})
	if err != nil {
		return Summary{}, fmt.Errorf("causes: %w", err)
	}
	if err := r.all(ctx, tx); err != nil {
		return Summary{}, fmt.Errorf("causes: %w", errors.Join(err, tx.Abort()))
	}
	if r.summary.Commit, err = tx.Commit(ctx); err != nil {
		return Summary{}, fmt.Errorf("causes: %w", err)
	}
	return r.summary, nil
}

// run is one Run.
type run struct {
	eng      engine.Engine
	o        Options
	phases   []phaseRow
	machines []string
	racks    []string // of machines; "" unknown
	blank    []string // columns of attempts that the store has no value of, each with what stands for it
	model    *model.Model
	losses   *losses
	saved    []jobcost.Saving
	summary  Summary
	byCause  map[schema.Cause]*CauseSummary
	slowHere map[machines.Window]int64 // outliers by machine and window
	repeats  repeats
}

// phaseRow is a row of phases.sql.
type phaseRow struct {
	ID          schema.Key               `col:"phase_id"`
	Job         schema.Key               `col:"job_id"`
	Application schema.Key               `col:"application_id"`
	Native      string                   `col:"native_id"`
	Name        string                   `col:"signature"`
	Start       schema.Null[schema.Time] `col:"start_time"`
	Finish      schema.Null[schema.Time] `col:"finish_time"`
	Number      int32                    `col:"attempt"`
	Attempts    int64                    `col:"attempts"`
	Outliers    int64                    `col:"outliers"`
	signature   uint64
}

func newRun(ctx context.Context, eng engine.Engine, o Options) (*run, error) {
	if o.ChunkAttempts <= 0 {
		o.ChunkAttempts = 500_000
	}
	if o.FalseShare <= 0 {
		o.FalseShare = 0.05
	}
	r := &run{eng: eng, o: o, byCause: map[schema.Cause]*CauseSummary{}, slowHere: map[machines.Window]int64{}}
	if err := eng.Materialize(ctx, "causes_machines", machinesSQL); err != nil {
		return nil, err
	}
	if err := eng.Materialize(ctx, "causes_outliers", outliersSQL); err != nil {
		return nil, err
	}
	overlap := strconv.FormatFloat(fit.LaunchOverlap, 'e', -1, 64)
	if err := eng.Materialize(ctx, "causes_executors", strings.ReplaceAll(executorsSQL, "{overlap}", overlap)); err != nil {
		return nil, err
	}
	if err := r.detected(ctx); err != nil {
		return nil, err
	}
	type machine struct {
		Name string              `col:"machine"`
		Rack schema.Null[string] `col:"rack"`
	}
	for m, err := range engine.Read[machine](ctx, eng, "SELECT machine, rack FROM causes_machines ORDER BY number NULLS LAST") {
		if err != nil {
			return nil, err
		}
		r.machines = append(r.machines, m.Name)
		r.racks = append(r.racks, m.Rack.V)
	}
	for p, err := range engine.Read[phaseRow](ctx, eng, phasesSQL) {
		if err != nil {
			return nil, err
		}
		q := *p
		q.signature, q.Name = signature(q.Name), ""
		r.phases = append(r.phases, q)
	}
	if r.o.WindowS <= 0 {
		r.o.WindowS = r.windowLength()
	}
	return r, r.findBlank(ctx)
}

// detected fails when there are phases and detect has not looked at them.
func (r *run) detected(ctx context.Context) error {
	type counts struct {
		Phases int64 `col:"phases"`
		Stats  int64 `col:"stats"`
	}
	const sql = "SELECT p.n AS phases, s.n AS stats FROM (SELECT count(*) AS n FROM phases) AS p CROSS JOIN (SELECT count(*) AS n FROM phase_stats) AS s"
	for c, err := range engine.Read[counts](ctx, r.eng, sql) {
		if err != nil {
			return err
		}
		if c.Phases > 0 && c.Stats == 0 {
			return fmt.Errorf("%w: run straggler detect on the store first", ErrNotDetected)
		}
	}
	return nil
}

// windowLength is an hour, or longer so that no machine has more than 1 000 windows.
func (r *run) windowLength() float64 {
	var from, to schema.Null[schema.Time]
	for i := range r.phases {
		if p := &r.phases[i]; p.Start.OK && p.Finish.OK {
			if !from.OK || p.Start.V < from.V {
				from = p.Start
			}
			if !to.OK || p.Finish.V > to.V {
				to = p.Finish
			}
		}
	}
	if !from.OK || !to.OK {
		return 3600
	}
	hours := int64(to.V.Sub(from.V) / 3600 / 1000)
	return 3600 * float64(max(1, hours+1))
}

func (r *run) all(ctx context.Context, tx *store.Tx) error {
	if err := r.learn(ctx, tx); err != nil {
		return err
	}
	if err := r.attribute(ctx, tx); err != nil {
		return err
	}
	if err := r.health(ctx, tx); err != nil {
		return err
	}
	if err := r.runHealth(ctx, tx); err != nil {
		return err
	}
	if err := r.skewRepeats(ctx, tx); err != nil {
		return err
	}
	return r.jobCosts(ctx, tx)
}

// learn makes the model of all phases.
func (r *run) learn(ctx context.Context, tx *store.Tx) error {
	l := model.NewLearner(r.o.WindowS, r.machines, r.racks)
	err := errors.ErrUnsupported
	if many, ok := r.eng.(engine.RemoteRunner); ok {
		err = r.observeOnCopies(ctx, many, tx, l)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = r.observeHere(ctx, l)
	}
	r.model = l.Model()
	if err != nil {
		return err
	}
	return r.readLosses(ctx)
}

// observeHere reads all phases and fits them in this process.
func (r *run) observeHere(ctx context.Context, l *model.Learner) error {
	workers := make([]model.Fitter, r.workers())
	for i := range workers {
		workers[i].WindowS = r.o.WindowS
	}
	type observed struct {
		model.Observation
		ok bool
	}
	return r.stream(ctx, false, func(ps []fit.Phase) error {
		found := make([]observed, len(ps))
		r.parallel(len(ps), func(worker, i int) { found[i].Observation, found[i].ok = workers[worker].Fit(&ps[i]) })
		for i := range found {
			if found[i].ok {
				l.Add(ps[i].Signature, &found[i].Observation)
			}
		}
		return nil
	})
}

// readLosses reads what was lost and made again.
func (r *run) readLosses(ctx context.Context) error {
	type row struct {
		Again    schema.Key               `col:"recomputed_by"`
		Task     int64                    `col:"task"`
		Machine  schema.Null[string]      `col:"machine"`
		Time     schema.Null[schema.Time] `col:"time"`
		Noticed  schema.Null[schema.Key]  `col:"detected_by"`
		Restored schema.Null[schema.Time] `col:"restored"`
		Reader   schema.Null[schema.Key]  `col:"reader"`
	}
	r.losses = &losses{}
	for l, err := range engine.Read[row](ctx, r.eng, lossesSQL) {
		if err != nil {
			return err
		}
		r.losses.add(l.Again, lostOutput{l.Task, l.Machine.V, l.Time.V, l.Noticed.V, l.Restored.V}, l.Reader.V)
	}
	r.losses.joinGaps()
	return nil
}

// attribute splits the outliers of all phases that have any.
func (r *run) attribute(ctx context.Context, tx *store.Tx) error {
	if many, ok := r.eng.(engine.RemoteRunner); ok {
		if err := r.attributeOnCopies(ctx, many, tx); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return r.attributeHere(ctx, tx)
}

// attributeHere reads the phases with outliers and attributes these in this process.
func (r *run) attributeHere(ctx context.Context, tx *store.Tx) error {
	workers := make([]*Attributor, r.workers())
	for i := range workers {
		workers[i] = NewAttributor(r.model)
		workers[i].losses = r.losses
	}
	return r.stream(ctx, true, func(ps []fit.Phase) error {
		results, rows := make([]*attributed, len(ps)), make([][]schema.Attribution, len(ps))
		r.parallel(len(ps), func(worker, i int) { results[i], rows[i] = workers[worker].attribute(&ps[i]) })
		for i, x := range results {
			r.keep(x)
			if err := store.Append(tx, 0, rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// attributed is what was found about the outliers of a phase, besides their rows.
type attributed struct {
	causes   []CauseSummary
	outliers []machines.Window // where those by high_runtime ran
	skewed   []skewEvent
	saved    []jobcost.Saving
}

func (a *Attributor) attribute(p *fit.Phase) (*attributed, []schema.Attribution) {
	rows := a.Attribute(p, nil)
	x := &attributed{causes: summarize(rows)}
	x.skewed = a.skewed(p, rows)
	x.saved = a.savings.Weigh(p.ID, p.Tasks, nil)
	for i := range p.Tasks {
		if t := &p.Tasks[i]; t.Slow && t.Machine >= 0 {
			x.outliers = append(x.outliers, a.model.Window(t))
		}
	}
	return x, rows
}

// summarize adds up the rows of a phase by cause, in the order in which these first come.
func summarize(rows []schema.Attribution) (out []CauseSummary) {
	for i := range rows {
		a := &rows[i]
		k := slices.IndexFunc(out, func(c CauseSummary) bool { return c.Cause == a.Cause })
		if k < 0 {
			k = len(out)
			out = append(out, CauseSummary{Cause: a.Cause})
		}
		out[k].Seconds += a.Seconds
		if a.Rank == 1 {
			out[k].Verdicts++
		}
	}
	return out
}

// keep adds what was found in a phase to the summary and to what the other tables are made of.
func (r *run) keep(x *attributed) {
	r.summary.Phases++
	for _, s := range x.causes {
		c := r.byCause[s.Cause]
		if c == nil {
			c = &CauseSummary{Cause: s.Cause}
			r.byCause[s.Cause] = c
		}
		c.Seconds += s.Seconds
		c.Verdicts += s.Verdicts
		r.summary.ExcessS += s.Seconds
		r.summary.Outliers += s.Verdicts
	}
	for _, w := range x.outliers {
		r.slowHere[w]++
	}
	r.repeats.add(x.skewed)
	r.saved = append(r.saved, x.saved...)
}

// causeSummaries sorts them by seconds.
func (r *run) causeSummaries() []CauseSummary {
	var out []CauseSummary
	for _, w := range schema.Cause("").Values() {
		if c := r.byCause[schema.Cause(w)]; c != nil {
			out = append(out, *c)
		}
	}
	slices.SortStableFunc(out, func(a, b CauseSummary) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return out
}
