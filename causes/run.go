package causes

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"straggler/causes/fit"
	"straggler/causes/jobcost"
	"straggler/causes/machines"
	"straggler/causes/model"
	"straggler/engine"
	"straggler/schema"
	"straggler/selection"
	"straggler/store"
)

//go:embed outliers.sql
var outliersSQL string

//go:embed tasks.sql
var tasksSQL string

//go:embed executors.sql
var executorsSQL string

//go:embed losses.sql
var lossesSQL string

// Options configure a run. The zero Options works.
type Options struct {
	// length of the windows of time in which a machine's speed is judged; 0: an hour, more for traces of many weeks
	WindowS       float64
	FalseShare    float64 // false discovery rate: the share of the machines called slow that may be healthy; 0: 0.05
	ChunkAttempts int64   // attempts per chunk; one is read while another is processed; 0: 250 000. A phase is never divided
	Workers       int     // 0: one per core
	Again         bool    // process the whole store, including what earlier runs processed
	Tool          string  // version of straggler, for the commit

	Applications selection.Applications // process only the logs of these; the results of others are kept

	shareAttempts, spreadAttempts int64 // 0: the constants of the same names; set by tests
}

// ErrNotDetected is wrapped by the error about a store on which detect has not run.
var ErrNotDetected = errors.New("the outliers have not been detected")

// Summary is the result for the whole store, whatever part of it was processed, or for the chosen applications.
type Summary struct {
	Outliers   int64
	ExcessS    float64 // of all outliers
	Causes     []CauseSummary
	Machines   int64 // judged
	Slow       int64 // slow in at least one window
	Flaky      int64 // flaky in at least one window, and slow in none
	FalseShare float64
	Inputs     int  // new or changed
	Renewed    int  // attributed again because other inputs changed the model
	Kept       bool // results of an earlier run were kept
}

// CauseSummary sums up one cause.
type CauseSummary struct {
	Cause    schema.Cause `col:"cause"`
	Verdicts int64        `col:"verdicts"` // outliers with this verdict
	Seconds  float64      `col:"seconds"`  // of excess, over all outliers
}

// Run attributes the outliers of the inputs that no earlier run of this version has processed, and of those whose estimates
// have changed since. It commits attributions and their sums, machine_health, skew_repeats, job_costs and the statistics of the
// model, together with the kept results of the other inputs, in place of all earlier results.
func Run(ctx context.Context, st *store.Store, eng engine.Engine, o Options) (Summary, error) {
	r := newRun(eng, o)
	if err := r.run(ctx, st); err != nil {
		return Summary{}, fmt.Errorf("causes: %w", err)
	}
	s, err := r.summary(ctx)
	if err != nil {
		return Summary{}, fmt.Errorf("causes: %w", err)
	}
	return s, nil
}

// run is one Run.
type run struct {
	eng          engine.Engine
	o            Options
	part         part
	seen         []engine.Seen // restrictions of tables in queries to the rows to process
	phases       []phaseRow    // to process, by key
	applications map[schema.Key]*application
	machines     []string
	racks        []string         // of machines; "" unknown
	number       map[string]int64 // of a machine
	blank        []string         // columns that are NULL in all attempts, each with its replacement
	model        *model.Model
	before       before
	losses       *losses
	collections  *collections
	saved        savings
	repeats      repeats
	memory       chan []fit.Task // two chunks: one is processed while the next is read
	history      bool            // the stages of some phases have earlier runs
	runsJudged   bool            // and they were compared with these as attempts were read
	unchanged    bool            // there was nothing to do
}

func newRun(eng engine.Engine, o Options) *run {
	if o.ChunkAttempts <= 0 {
		o.ChunkAttempts = 250_000
	}
	if o.FalseShare <= 0 {
		o.FalseShare = 0.05
	}
	o.shareAttempts, o.spreadAttempts = cmp.Or(o.shareAttempts, shareAttempts), cmp.Or(o.spreadAttempts, spreadAttempts)
	return &run{eng: eng, o: o, applications: map[schema.Key]*application{}}
}

// run processes what is new and commits the results.
func (r *run) run(ctx context.Context, st *store.Store) error {
	if err := r.detected(ctx); err != nil {
		return err
	}
	if r.o.WindowS <= 0 {
		var err error
		if r.o.WindowS, err = r.windowLength(ctx); err != nil {
			return err
		}
	}
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Causes, Tool: r.o.Tool})
	if err != nil {
		return err
	}
	defer tx.Abort()
	defer r.saved.close()
	if err := r.choose(ctx, st, tx); err != nil {
		return err
	}
	if r.unchanged = tx.Unchanged() || r.part.nothing; r.unchanged {
		return nil
	}
	if err := r.all(ctx, tx); err != nil {
		return err
	}
	_, err = tx.Commit(ctx)
	return err
}

// detected fails if there are phases on which detect has not run.
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

// windowLength chooses the length of the windows by the time that the store spans.
func (r *run) windowLength(ctx context.Context) (float64, error) {
	type times struct {
		From schema.Null[schema.Time] `col:"first"`
		To   schema.Null[schema.Time] `col:"last"`
	}
	spanS := 0.0
	for t, err := range engine.Read[times](ctx, r.eng,
		"SELECT min(start_time) AS first, max(finish_time) AS last FROM phases WHERE start_time IS NOT NULL AND finish_time IS NOT NULL") {
		if err != nil {
			return 0, err
		}
		if t.From.OK {
			spanS = t.To.V.Sub(t.From.V)
		}
	}
	return model.WindowS(spanS), nil
}

func (r *run) all(ctx context.Context, tx *store.Tx) error {
	// Reading the results of earlier runs takes one core per table.
	if err := r.concurrently(ctx, r.readMachines, r.readStages, r.readSkewed, r.readExecutions); err != nil {
		return err
	}
	r.assignStatistics()
	err := r.concurrently(ctx, func(ctx context.Context) error { return r.selectInputs(ctx, r.part.fresh) }, r.numberStages)
	if err != nil {
		return err
	}
	if err := r.learn(ctx, tx); err != nil {
		return err
	}
	if r.findMoved(); len(r.part.moved) > 0 {
		tx.Drop(r.part.moved)
		r.takeMoved()
		if err := r.selectInputs(ctx, slices.Concat(r.part.fresh, r.part.moved)); err != nil {
			return err
		}
	}
	if err := r.attribute(ctx, tx); err != nil {
		return err
	}
	// The counts of skewed tasks, and the results about machines and jobs, are written concurrently; each takes one core.
	return r.concurrently(ctx, func(context.Context) error { return r.skewRepeats(tx) }, func(ctx context.Context) error {
		for _, work := range []func(context.Context, *store.Tx) error{r.health, r.runHealth, r.jobCosts} {
			if err := work(ctx, tx); err != nil {
				return err
			}
		}
		return errors.Join(r.writeTotals(tx), r.writeStatistics(tx))
	})
}

// concurrently runs functions concurrently, or in sequence on an engine of many machines, whose session runs one statement at a
// time.
func (r *run) concurrently(ctx context.Context, work ...func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	if _, many := r.eng.(engine.RemoteRunner); many {
		group.SetLimit(1)
	}
	for _, do := range work {
		group.Go(func() error { return do(ctx) })
	}
	return group.Wait()
}

// learn builds the model from the new phases and the kept statistics of the others.
func (r *run) learn(ctx context.Context, tx *store.Tx) error {
	err := errors.ErrUnsupported
	if many, ok := r.eng.(engine.RemoteRunner); ok {
		err = r.observeOnCopies(ctx, many, tx)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = r.observeHere(ctx)
	}
	r.merge()
	return err
}

// observeHere reads the phases to learn from and fits them in this process.
func (r *run) observeHere(ctx context.Context) error {
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
				r.application(r.phase(ps[i].ID).Application).sums.Add(ps[i].Signature, &found[i].Observation)
			}
		}
		return nil
	})
}

// readLosses reads the outputs that were lost and recomputed.
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
	for l, err := range engine.ReadParts[row](ctx, r.eng, "causes_losses", lossesSQL, r.seen...) {
		if err != nil {
			return err
		}
		r.losses.add(l.Again, lostOutput{l.Task, l.Machine.V, l.Time.V, l.Noticed.V, l.Restored.V})
		if l.Reader.OK {
			r.losses.addGap(l.Reader.V, l.Time.V, l.Restored.V)
		}
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

// attributeHere reads the phases with outliers and attributes them in this process, and compares phases with earlier runs of
// their stages.
func (r *run) attributeHere(ctx context.Context, tx *store.Tx) error {
	if err := r.concurrently(ctx, r.readLosses, r.readCollections); err != nil {
		return err
	}
	var runs *openRuns
	if _, ok := engine.InProcess(r.eng); ok {
		var err error
		if runs, err = r.openRuns(ctx, tx); err != nil {
			return err
		}
	}
	workers := make([]*Attributor, r.workers())
	timers := make([]runTimer, len(workers))
	for i := range workers {
		workers[i] = NewAttributor(r.model)
		workers[i].losses, workers[i].collections = r.losses, r.collections
	}
	var both [2]attributedPhases
	next := 0
	kept := make(chan error, 1) // the results of some phases are written while the next are attributed
	kept <- nil
	err := r.stream(ctx, true, func(ps []fit.Phase) error {
		x := &both[next]
		next = 1 - next
		x.reset(len(ps), len(workers))
		for i, w := range workers {
			w.rows = x.memory[i][:0]
		}
		r.parallel(len(ps), func(worker, i int) {
			x.found[i], x.rows[i] = workers[worker].attribute(&ps[i])
			if x.phases[i] = r.phase(ps[i].ID); x.phases[i].usual != nil {
				x.found[i].times = timers[worker].times(&ps[i])
			}
		})
		for i, w := range workers {
			x.memory[i] = w.rows
		}
		err := <-kept
		if err != nil {
			kept <- err
			return err
		}
		go func() { kept <- r.keepAll(tx, x, runs) }()
		return nil
	})
	err = cmp.Or(<-kept, err)
	r.runsJudged = err == nil && runs != nil
	return err
}

// attributedPhases holds some phases and the results for each.
type attributedPhases struct {
	phases []*phaseRow
	found  []*attributed
	rows   [][]schema.Attribution
	memory [][]schema.Attribution // of the rows, by worker
}

func (x *attributedPhases) reset(phases, workers int) {
	x.phases, x.found = make([]*phaseRow, phases), make([]*attributed, phases)
	x.rows = make([][]schema.Attribution, phases)
	if x.memory == nil {
		x.memory = make([][]schema.Attribution, workers)
	}
}

// keepAll writes the results of phases, in order, and judges the runs that end with them.
func (r *run) keepAll(tx *store.Tx, x *attributedPhases, runs *openRuns) error {
	for i, p := range x.phases {
		if err := r.keep(tx, p, x.found[i]); err != nil {
			return err
		}
		if err := store.Append(tx, r.part.inputOf("phases", p.ID), x.rows[i]); err != nil {
			return err
		}
		if runs == nil {
			continue
		}
		if err := runs.take(p, &x.found[i].times); err != nil {
			return err
		}
	}
	return nil
}

// attributed is the result for a phase besides the rows of its outliers.
type attributed struct {
	outliers []machines.Window // where the outliers by high_runtime ran that count against their machine
	skewed   []skewEvent
	saved    []jobcost.Saving
	totals   []causeTotal
	times    runTimes // if the phase is compared with earlier runs of its stage
}

// attribute returns the result for a phase; the rows are valid until a.rows is emptied.
func (a *Attributor) attribute(p *fit.Phase) (*attributed, []schema.Attribution) {
	from := len(a.rows)
	a.rows = a.Attribute(p, a.rows)
	rows := a.rows[from:]
	x := &attributed{skewed: a.skewed(p, rows), saved: a.savings.Weigh(p.ID, p.Tasks, nil), totals: totals(rows)}
	if len(rows) > 0 { // else the phase was not fitted
		x.outliers = a.machineOutliers(p)
	}
	return x, rows
}

// machineOutliers returns where the outliers of the last fitted phase ran that count against their machine. A single task does
// not count.
func (a *Attributor) machineOutliers(p *fit.Phase) (ran []machines.Window) {
	if len(a.phase.Rows) < 2 {
		return nil
	}
	for i := range p.Tasks {
		if t := &p.Tasks[i]; t.Slow && t.Machine >= 0 && a.phase.CountsForMachine(int32(i)) {
			ran = append(ran, a.model.Window(t))
		}
	}
	return ran
}

// keep records the result for a phase, from which other tables are computed.
func (r *run) keep(tx *store.Tx, p *phaseRow, x *attributed) error {
	a := r.application(p.Application)
	for _, w := range x.outliers {
		a.slow[w]++
	}
	for _, t := range x.totals {
		sum := a.causes[t.cause]
		sum.add(t)
		a.causes[t.cause] = sum
	}
	r.repeats.add(x.skewed)
	var err error
	if p.saved, err = r.saved.add(x.saved); err != nil {
		return err
	}
	return store.Append(tx, r.part.inputOf("phases", p.ID), x.skewedRows())
}
