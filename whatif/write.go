package whatif

import (
	"encoding/json"
	"math"

	"straggler/schema"
	"straggler/store"
	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

// writer appends result rows to a transaction in chunks. A nil writer writes nothing.
type writer struct {
	tx   *store.Tx // nil in a copy
	to   appender
	run  []schema.WhatifRun
	save []schema.WhatifSaving
	drew []bool
}

// appender takes rows.
type appender interface {
	Append(input schema.Key, rows schema.Batch) error
}

const chunk = 4096

// runs writes the jobs of a unit. If a policy used no random numbers all seeds are equal, and only the first is written.
func (w *writer) runs(c *comparison, u *unit) error {
	if w == nil {
		return nil
	}
	if u.number == 0 {
		w.drew = u.drew
	}
	v := c.variants[u.variant]
	parameters := v.Parameters()
	for i, p := range c.w.Pools {
		if u.number > 0 && !w.drew[i] {
			continue
		}
		for j := range p.NumJobs() {
			n := c.first[i] + j
			job, app := p.JobKeys(j)
			o := &u.jobs[n]
			row := schema.WhatifRun{
				RunID: int64(u.variant*c.o.Seeds + u.number + 1), Policy: v.Name, Parameters: parameters, Seed: u.seed, ApplicationID: app, JobID: job,
				ReplayS: schema.Some(float64(c.none[n].Took) / 1e6), PredictedS: schema.Some(float64(o.Took) / 1e6),
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

// jobs writes the savings of a variant for every job in which it changed something, or in which that is unknown.
func (w *writer) jobs(c *comparison, v Variant, jobs []JobSaving) error {
	if w == nil {
		return nil
	}
	parameters := v.Parameters()
	for i, p := range c.w.Pools {
		for j := range p.NumJobs() {
			n := c.first[i] + j
			if c.other(n) || jobs[n].Idle && !p.MostlyUntimed(j) {
				continue
			}
			w.save = append(w.save, jobRow(v, parameters, &jobs[n], p, j, &c.none[n]))
			if len(w.save) >= chunk {
				if err := w.flush(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Row returns the row of whatif_savings for a variant over all jobs.
func (r *Result) Row(s *Summary) schema.WhatifSaving {
	return schema.WhatifSaving{
		Policy: r.Name, Parameters: r.Parameters(), SavingS: number(r.All.Saving.Mean), SavingLow: number(r.All.Saving.Low),
		SavingHigh: number(r.All.Saving.High), ThisRunLow: number(r.All.ThisRun.Low), ThisRunHigh: number(r.All.ThisRun.High),
		SavingShare: number(r.All.Share), SlotTimeChange: number(r.All.SlotChange),
		Verdict: r.Verdict(s.Uncertainty()), Assumptions: encode(assume(r, s)),
	}
}

func jobRow(v Variant, parameters string, g *JobSaving, p *workload.Pool, j int, none *replay.JobOutcome) schema.WhatifSaving {
	miss := math.NaN()
	key, _ := p.JobKeys(j)
	if observed := p.Observed(j); observed >= 0 {
		miss = math.Abs(float64(none.Took-observed)) / 1e6
	}
	row := schema.WhatifSaving{
		Policy: v.Name, Parameters: parameters, JobID: schema.Some(key),
		Verdict:     verdict(g.Saving, uncertainty(miss, p.MostlyUntimed(j)), g.Copies),
		Assumptions: encode(jobAssumptions{ReplayErrorS: finite(miss), Copies: g.Copies, WasteS: g.WasteS}),
	}
	if p.JobTasks(j) == 0 && p.MostlyUntimed(j) { // none of its tasks was replayed
		return row
	}
	row.SavingS, row.SavingLow, row.SavingHigh = number(g.Saving.Mean), number(g.Saving.Low), number(g.Saving.High)
	row.ThisRunLow, row.ThisRunHigh = number(g.ThisRun.Low), number(g.ThisRun.High)
	row.SavingShare, row.SlotTimeChange = number(g.Share), number(g.SlotChange)
	return row
}

func (w *writer) flush() error {
	if w == nil {
		return nil
	}
	err := w.to.Append(0, schema.BatchOf(w.run))
	if err == nil {
		err = w.to.Append(0, schema.BatchOf(w.save))
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
	if err != nil { // finite numbers and strings always marshal
		panic(err)
	}
	return string(data)
}
