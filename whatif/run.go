package whatif

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
	"straggler/whatif/workload"
)

// Summary says what the replays gave.
type Summary struct {
	Jobs, Attempts int
	Seeds          int
	ReplayErrorS   float64 // by how much policy none misses the observed completion times, summed over the jobs
	ReplayError    float64 // the same as a share
	Notes          workload.Notes
	Results        []Result
	Seconds        float64
	Commit         store.Commit
}

// Run replays a store under policies and commits whatif_runs and whatif_savings, in place of those of an earlier run.
func Run(ctx context.Context, st *store.Store, eng engine.Engine, o Options) (Summary, error) {
	began := time.Now()
	analysed, err := causesAreFresh(ctx, st)
	if err != nil {
		return Summary{}, fmt.Errorf("whatif: %w", err)
	}
	c, err := prepare(ctx, eng, o, analysed)
	if err != nil {
		return Summary{}, err
	}
	if err := c.optimize(ctx); err != nil {
		return Summary{}, fmt.Errorf("whatif: %w", err)
	}
	tx, err := st.Begin(ctx, store.Origin{Kind: store.Whatif, Tool: o.Tool})
	if err != nil {
		return Summary{}, fmt.Errorf("whatif: %w", err)
	}
	out := &writer{c: c, tx: tx}
	s, err := c.run(ctx, out)
	if err == nil {
		s.Commit, err = tx.Commit(ctx)
	}
	if err != nil {
		return Summary{}, fmt.Errorf("whatif: %w", errors.Join(err, tx.Abort()))
	}
	s.Seconds = time.Since(began).Seconds()
	return s, nil
}

// Compare replays a workload under policies, without a store.
func Compare(ctx context.Context, w *workload.Workload, o Options) (Summary, error) {
	s, err := newComparison(w, o).run(ctx, nil)
	if err != nil {
		return s, fmt.Errorf("whatif: %w", err)
	}
	return s, nil
}

// ErrNoCauses is wrapped by the error about an ideal that needs the causes of a store's outliers.
var ErrNoCauses = errors.New("the causes are not known, or not those of the logs that the store has now")

// causesAreFresh is whether the results of causes are of the logs that the store has now.
func causesAreFresh(ctx context.Context, st *store.Store) (bool, error) {
	commit, err := st.Result(ctx, store.Causes)
	if err != nil || commit == nil {
		return false, err
	}
	state, err := st.State(ctx)
	return commit.State == state, err
}

// prepare loads a store and, where it was analysed, what the analysis says of its machines and outliers. The default
// policies then include the ideals that take one cause away.
func prepare(ctx context.Context, eng engine.Engine, o Options, analysed bool) (*comparison, error) {
	rows, err := Load(ctx, eng)
	if err != nil {
		return nil, err
	}
	if o.Policies == nil {
		if o.Policies, err = usualOf(ctx, eng, analysed); err != nil {
			return nil, err
		}
	}
	c := newComparison(workload.Build(rows), o)
	c.blame = map[schema.Cause]map[schema.Key]float64{}
	for _, v := range c.variants {
		if v.Cause == "" || c.blame[v.Cause] != nil {
			continue
		}
		if !analysed {
			return nil, fmt.Errorf("whatif: policy %s: %w; run straggler causes", v.Name, ErrNoCauses)
		}
		if c.blame[v.Cause], err = blame(ctx, eng, v.Cause); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// run replays everything. The writer may be nil.
func (c *comparison) run(ctx context.Context, out *writer) (Summary, error) {
	without, err := c.refuse()
	if err != nil {
		return Summary{}, err
	}
	if err := c.baseline(ctx); err != nil {
		return Summary{}, err
	}
	s := Summary{Jobs: c.jobs, Seeds: c.o.Seeds, Notes: c.w.Notes, Attempts: c.w.Notes.Attempts}
	s.Notes.Without = without
	s.ReplayErrorS, s.ReplayError = c.replayError()
	err = c.tallied(ctx, out.runs, func(r *Result) error {
		if err := out.savings(r, &s); err != nil {
			return err
		}
		c.mostGained(r)
		r.Jobs = nil
		s.Results = append(s.Results, *r)
		return nil
	})
	if err != nil {
		return Summary{}, err
	}
	return s, out.flush()
}

// tallied replays every unit, hands it to each, and hands what the units of a variant come to to done.
func (c *comparison) tallied(ctx context.Context, each func(*unit) error, done func(*Result) error) error {
	var t *tally
	return c.each(ctx, func(u *unit) error {
		if u.number == 0 {
			t = newTally(c, c.variants[u.variant])
		}
		t.add(u)
		if err := each(u); err != nil {
			return err
		}
		if u.number+1 < c.o.Seeds {
			return nil
		}
		r := t.result(c.variants[u.variant])
		return done(&r)
	})
}

// mostGained notes the job that gains most.
func (c *comparison) mostGained(r *Result) {
	most := 0.0
	for i, p := range c.w.Pools {
		for j := range p.NumJobs() {
			if s := r.Jobs[c.first[i]+j].Saving.Mean; s > most {
				most = s
				r.Best, _ = p.JobKeys(j)
			}
		}
	}
}

// writer appends result rows to a transaction, a chunk at a time. A nil writer writes nothing.
type writer struct {
	c     *comparison
	tx    *store.Tx
	run   []schema.WhatifRun
	save  []schema.WhatifSaving
	drew  []bool
	runID int64
}

const chunk = 4096

// runs writes the jobs of a unit. Where a policy drew nothing all seeds are alike, and the first stands for them.
func (w *writer) runs(u *unit) error {
	if w == nil {
		return nil
	}
	w.runID++
	if u.number == 0 {
		w.drew = u.drew
	}
	v := w.c.variants[u.variant]
	parameters := v.Parameters()
	for i, p := range w.c.w.Pools {
		if u.number > 0 && !w.drew[i] {
			continue
		}
		for j := range p.NumJobs() {
			n := w.c.first[i] + j
			job, app := p.JobKeys(j)
			o := &u.jobs[n]
			row := schema.WhatifRun{
				RunID: w.runID, Policy: v.Name, Parameters: parameters, Seed: u.seed, ApplicationID: app, JobID: job,
				ReplayS: schema.Some(float64(w.c.none[n].Took) / 1e6), PredictedS: schema.Some(float64(o.Took) / 1e6),
				Copies: int64(o.Copies), Wins: int64(o.Wins), Kills: int64(o.Kills),
				WastedSlotS: float64(o.Waste) / 1e6, TotalSlotS: float64(o.Slots) / 1e6,
			}
			if seen := p.Observed(j); seen >= 0 {
				row.ObservedS = schema.Some(float64(seen) / 1e6)
			}
			if w.run = append(w.run, row); len(w.run) == chunk {
				if err := w.flush(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// savings writes what a variant saves: for all jobs, and for every job in which it changed something.
func (w *writer) savings(r *Result, s *Summary) error {
	if w == nil {
		return nil
	}
	parameters := r.Parameters()
	w.save = append(w.save, schema.WhatifSaving{
		Policy: r.Name, Parameters: parameters, SavingS: number(r.All.Saving.Mean), SavingLow: number(r.All.Saving.Low),
		SavingHigh: number(r.All.Saving.High), SavingShare: number(r.All.Share), SlotTimeChange: number(r.All.SlotChange),
		Verdict: r.Verdict(s.ReplayErrorS), Assumptions: encode(assume(r, s)),
	})
	for i, p := range w.c.w.Pools {
		for j := range p.NumJobs() {
			n := w.c.first[i] + j
			if r.Jobs[n].Idle {
				continue
			}
			job, _ := p.JobKeys(j)
			w.save = append(w.save, w.jobRow(r, parameters, job, p.Observed(j), n))
			if len(w.save) >= chunk {
				if err := w.flush(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *writer) jobRow(r *Result, parameters string, job schema.Key, observed int64, n int) schema.WhatifSaving {
	g := &r.Jobs[n]
	miss := math.NaN()
	if observed >= 0 {
		miss = math.Abs(float64(w.c.none[n].Took-observed)) / 1e6
	}
	return schema.WhatifSaving{
		Policy: r.Name, Parameters: parameters, JobID: schema.Some(job), SavingS: number(g.Saving.Mean),
		SavingLow: number(g.Saving.Low), SavingHigh: number(g.Saving.High), SavingShare: number(g.Share),
		SlotTimeChange: number(g.SlotChange), Verdict: verdict(g.Saving, miss, g.Copies),
		Assumptions: encode(jobAssumptions{
			ReplayErrorS: finite(miss), Copies: g.Copies, WasteS: g.WasteS,
		}),
	}
}

func (w *writer) flush() error {
	if w == nil {
		return nil
	}
	err := store.Append(w.tx, 0, w.run)
	if err == nil {
		err = store.Append(w.tx, 0, w.save)
	}
	w.run, w.save = w.run[:0], w.save[:0]
	return err
}

func number(x float64) schema.Null[float64] {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return schema.Null[float64]{}
	}
	return schema.Some(x)
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil { // numbers that are finite, and words
		panic(err)
	}
	return string(data)
}
