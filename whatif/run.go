package whatif

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"straggler/engine"
	"straggler/schema"
	"straggler/selection"
	"straggler/store"
	"straggler/whatif/workload"
)

// Summary is the result of a run.
type Summary struct {
	Jobs, Attempts int
	Seeds          int
	ReplayErrorS   float64 // absolute error of policy none against observed completion times, summed over the jobs
	ReplayError    float64 // the same as a share
	Notes          workload.Notes
	Results        []Result
	Seconds        float64
	Commit         store.Commit
	// the replayed pools, if all were in memory at once, until MostGained has used them
	pools *workload.Workload
}

// Run replays a store under policies and commits whatif_runs and whatif_savings, replacing those of an earlier run. For a
// selection of applications it writes nothing, since the tables hold sums over all of them.
func Run(ctx context.Context, st *store.Store, eng engine.Engine, o Options) (Summary, error) {
	if !o.Applications.All() {
		return Try(ctx, st, eng, o)
	}
	began := time.Now()
	analysed, err := causesAreFresh(ctx, st, eng, o.Applications)
	if err != nil {
		return Summary{}, fmt.Errorf("whatif: %w", err)
	}
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Whatif, Tool: o.Tool})
	if err != nil {
		return Summary{}, fmt.Errorf("whatif: %w", err)
	}
	s, err := replayed(ctx, eng, o, analysed, batchAttempts, &writer{tx: tx, to: tx})
	if err == nil {
		s.Commit, err = tx.Commit(ctx)
	}
	if err != nil {
		return Summary{}, fmt.Errorf("whatif: %w", errors.Join(err, tx.Abort()))
	}
	s.Seconds = time.Since(began).Seconds()
	return s, nil
}

// Try replays a store under policies and writes nothing.
func Try(ctx context.Context, st *store.Store, eng engine.Engine, o Options) (Summary, error) {
	began := time.Now()
	analysed, err := causesAreFresh(ctx, st, eng, o.Applications)
	if err != nil {
		return Summary{}, fmt.Errorf("whatif: %w", err)
	}
	s, err := replayed(ctx, eng, o, analysed, batchAttempts, nil)
	if err != nil {
		return Summary{}, fmt.Errorf("whatif: %w", err)
	}
	s.Seconds = time.Since(began).Seconds()
	return s, nil
}

// Compare replays a workload under policies, without a store.
func Compare(ctx context.Context, w *workload.Workload, o Options) (Summary, error) {
	f := newSurvey(&o)
	f.add(w)
	if err := f.refused(); err != nil {
		return Summary{}, fmt.Errorf("whatif: %w", err)
	}
	c := newComparison(w, o)
	r := newResults(c)
	if err := c.pass(ctx, func(d *comparison) error { return r.add(ctx, d, nil) }); err != nil {
		return Summary{}, fmt.Errorf("whatif: %w", err)
	}
	return r.summary(f, nil)
}

// replayed replays a store with at most so many attempts in memory, unless a pool has more. The writer may be nil.
func replayed(ctx context.Context, eng engine.Engine, o Options, analysed bool, most int64, out *writer) (Summary, error) {
	l, err := newLoader(ctx, eng, o.Applications)
	if err != nil {
		return Summary{}, fmt.Errorf("reading the store: %w", err)
	}
	if o.Policies == nil {
		if o.Policies, err = usualOf(ctx, l.tables, analysed); err != nil {
			return Summary{}, err
		}
	}
	l.divide(most)
	f := newSurvey(&o)
	far, err := clusterOf(eng, l, &o, out)
	switch {
	case err != nil:
	case far != nil:
		err = far.survey(ctx, f)
	default:
		err = l.observe(ctx, f.add)
	}
	if err == nil {
		err = f.refused()
	}
	if err != nil {
		return Summary{}, err
	}
	c := newComparison(&workload.Workload{Notes: f.notes}, o)
	c.meant = l.meant
	if f.pools > 0 {
		if err = c.needsCauses(analysed); err == nil && far == nil { // copies read the causes of their batches
			c.blame, err = c.blames(ctx, l.tables)
		}
		if err != nil {
			return Summary{}, err
		}
		if c.each = l.pass(ctx); o.Optimize && f.foreign == "" {
			if err := c.optimize(ctx); err != nil {
				return Summary{}, err
			}
		}
	}
	r := newResults(c)
	if l.total <= mostPictured {
		r.s.pools = l.whole
	}
	if far != nil {
		err = far.replay(ctx, r)
	} else {
		err = c.pass(ctx, func(d *comparison) error { return r.add(ctx, d, out) })
	}
	if err != nil {
		return Summary{}, err
	}
	return r.summary(f, out)
}

// results adds up the outcomes over the workloads of a store.
type results struct {
	c        *comparison
	s        Summary
	observed float64 // seconds of the jobs with known completion times
	totals   []total // by variant
	done     float64 // attempts replayed, over variants and seeds
}

func newResults(c *comparison) *results {
	return &results{c: c, totals: make([]total, len(c.variants))}
}

// batchResults is the outcome for a workload; that for a store is the sum over its batches, in their order.
type batchResults struct {
	jobs  int
	notes workload.Notes
	// seconds: the error of policy none over the jobs with known completion times, and the sum of these
	missed, observed float64
	totals           []total // by variant
}

// replayed replays the workload, whose baseline is known, and passes each unit to done.
func (c *comparison) replayed(ctx context.Context, out *writer, done func()) (*batchResults, error) {
	b := &batchResults{jobs: c.counted(), notes: c.w.Notes, totals: make([]total, len(c.variants))}
	b.missed, b.observed = c.replayError()
	return b, c.tallied(ctx, b.totals, func(u *unit) error { done(); return out.runs(c, u) },
		func(v int, jobs []JobSaving) error { return out.jobs(c, c.variants[v], jobs) })
}

// add replays a workload and adds the outcome.
func (r *results) add(ctx context.Context, c *comparison, out *writer) error {
	b, err := c.replayed(ctx, out, func() { r.progress(c.w.Notes.Attempts) })
	if err == nil {
		r.merge(b)
	}
	return err
}

func (r *results) merge(b *batchResults) {
	r.s.ReplayErrorS, r.observed = r.s.ReplayErrorS+b.missed, r.observed+b.observed
	r.s.Jobs, r.s.Attempts = r.s.Jobs+b.jobs, r.s.Attempts+b.notes.Attempts
	r.s.Notes.Add(&b.notes)
	for v := range b.totals {
		r.totals[v].merge(&b.totals[v])
	}
}

// progress reports how much is done: each variant replays each attempt for each seed.
func (r *results) progress(attempts int) {
	r.done += float64(attempts)
	if all := float64(r.c.w.Notes.Attempts) * float64(len(r.c.variants)*r.c.o.Seeds); r.c.o.Progress != nil && all > 0 {
		r.c.o.Progress(min(r.done/all, 1))
	}
}

// summary completes the results and writes the savings of the variants over all jobs.
func (r *results) summary(f *survey, out *writer) (Summary, error) {
	s := &r.s
	s.Seeds, s.Notes.Without = r.c.o.Seeds, f.without
	if r.observed > 0 {
		s.ReplayError = s.ReplayErrorS / r.observed
	}
	for v := range r.totals {
		s.Results = append(s.Results, r.totals[v].result(r.c.variants[v]))
	}
	if out != nil {
		for v := range s.Results {
			out.save = append(out.save, s.Results[v].Row(s))
		}
	}
	return *s, out.flush()
}

// ErrNoCauses is wrapped by the error of an ideal that needs causes on a store without them.
var ErrNoCauses = errors.New("the causes are unknown or out of date")

// causesAreFresh reports whether the results of causes cover the present logs of the store, or all logs of the selected
// applications.
func causesAreFresh(ctx context.Context, st *store.Store, eng engine.Engine, apps selection.Applications) (bool, error) {
	commit, err := st.Result(ctx, store.Causes)
	if err != nil || commit == nil {
		return false, err
	}
	state, err := st.State(ctx)
	if err != nil || commit.State == state || apps.All() {
		return commit.State == state, err
	}
	inputs, err := st.Inputs(ctx)
	if err != nil {
		return false, err
	}
	of, _, err := apps.Inputs(ctx, eng, inputs)
	if err != nil {
		return false, err
	}
	seen, err := st.SeenBy(ctx, store.Causes)
	return len(of) > 0 && !slices.ContainsFunc(of, func(in store.InputRecord) bool { return !seen[schema.Key(in.Key)] }), err
}

// needsCauses returns an error if an ideal removes a cause and causes are not known.
func (c *comparison) needsCauses(analysed bool) error {
	for _, v := range c.variants {
		if v.Cause != "" && !analysed {
			return fmt.Errorf("policy %s: %w; run straggler causes", v.Name, ErrNoCauses)
		}
	}
	return nil
}

// blames reads the seconds attributed to causes, for the ideals that remove one cause.
func (c *comparison) blames(ctx context.Context, from tables) (map[schema.Cause]map[schema.Key]float64, error) {
	blames := map[schema.Cause]map[schema.Key]float64{}
	for _, v := range c.variants {
		if v.Cause == "" || blames[v.Cause] != nil {
			continue
		}
		var err error
		if blames[v.Cause], err = blame(ctx, from, v.Cause); err != nil {
			return nil, err
		}
	}
	return blames, nil
}

// tallied replays every unit and passes it to each, adds up the units of each variant, and passes its savings by job to done.
func (c *comparison) tallied(ctx context.Context, totals []total, each func(*unit) error, done func(variant int, jobs []JobSaving) error) error {
	var t *tally
	return c.replays(ctx, func(u *unit) error {
		if u.number == 0 {
			t = newTally(c, c.variants[u.variant], &totals[u.variant])
		}
		t.add(u)
		if err := each(u); err != nil {
			return err
		}
		if u.number+1 < c.o.Seeds {
			return nil
		}
		return done(u.variant, t.done())
	})
}
