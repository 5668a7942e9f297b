package causes

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"

	"straggler/causes/jobcost"
	"straggler/causes/machines"
	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

const lossTimesSQL = "SELECT machine, time FROM losses WHERE machine IS NOT NULL AND time IS NOT NULL"

// health judges the machines and writes machine_health.
func (r *run) health(ctx context.Context, tx *store.Tx) error {
	type loss struct {
		Machine string      `col:"machine"`
		Time    schema.Time `col:"time"`
	}
	h := machines.Health{Factors: &r.model.Machines, FalseDiscoveryRate: r.o.FalseShare, OutlierProbability: r.model.Outliers.Probability,
		Outliers: r.slowHere(), Losses: map[machines.Window]int64{}}
	for l, err := range engine.Read[loss](ctx, r.eng, lossTimesSQL) {
		if err != nil {
			return err
		}
		if k, ok := r.number[l.Machine]; ok {
			h.Losses[r.model.WindowAt(k, l.Time)]++
		}
	}
	return store.Append(tx, 0, h.Rows())
}

// jobCosts replays the jobs that have outliers without each of their causes and writes job_costs.
func (r *run) jobCosts(ctx context.Context, tx *store.Tx) error {
	if err := r.saved.flush(); err != nil {
		return err
	}
	wanted := map[schema.Key]bool{}
	for i := range r.phases {
		if r.phases[i].saved.bytes > 0 {
			wanted[r.phases[i].Job] = true
		}
	}
	edges, err := r.edges(ctx, wanted)
	if err != nil {
		return err
	}
	var rows []schema.JobCost
	var saved []jobcost.Saving
	input := schema.Key(0)
	for phases := range r.eachJob(wanted) {
		job := phases[0].Job
		saved = saved[:0]
		for _, p := range phases {
			if saved, err = r.saved.read(saved, p.saved); err != nil {
				return err
			}
		}
		if next := r.part.inputOf("jobs", job); next != input {
			if err := store.Append(tx, input, rows); err != nil {
				return err
			}
			rows, input = rows[:0], next
		}
		rows = append(rows, jobcost.Costs(job, took(phases), jobcost.Spans(times(phases), edges[job]), saved)...)
	}
	return store.Append(tx, input, rows)
}

// took returns how long the job of some phases ran, a bound of its costs; infinite if the log does not say.
func took(phases []*phaseRow) float64 {
	if of := phases[0].JobS; of.OK && of.V >= 0 {
		return of.V
	}
	return math.Inf(1)
}

// eachJob yields the phases of the wanted jobs, job by job.
func (r *run) eachJob(wanted map[schema.Key]bool) iter.Seq[[]*phaseRow] {
	return func(yield func([]*phaseRow) bool) {
		var phases []*phaseRow
		for i := range r.phases {
			if p := &r.phases[i]; wanted[p.Job] {
				phases = append(phases, p)
			}
		}
		slices.SortStableFunc(phases, func(a, b *phaseRow) int { return cmp.Compare(a.Job, b.Job) })
		for n := 0; len(phases) > 0; phases = phases[n:] {
			for n = 1; n < len(phases) && phases[n].Job == phases[0].Job; n++ {
			}
			if !yield(phases[:n]) {
				return
			}
		}
	}
}

// edges reads the dependencies of the wanted jobs.
func (r *run) edges(ctx context.Context, wanted map[schema.Key]bool) (map[schema.Key][]jobcost.Edge, error) {
	type row struct {
		Job  schema.Key `col:"job_id"`
		From schema.Key `col:"from_phase"`
		To   schema.Key `col:"to_phase"`
	}
	out := map[schema.Key][]jobcost.Edge{}
	for e, err := range engine.ReadParts[row](ctx, r.eng, "causes_edges", "SELECT job_id, from_phase, to_phase FROM edges", r.seen...) {
		if err != nil {
			return nil, err
		}
		if wanted[e.Job] {
			out[e.Job] = append(out[e.Job], jobcost.Edge{From: e.From, To: e.To})
		}
	}
	return out, nil
}

// times converts phases for jobcost.
func times(phases []*phaseRow) []jobcost.Phase {
	out := make([]jobcost.Phase, len(phases))
	for i, p := range phases {
		out[i] = jobcost.Phase{ID: p.ID, Start: p.Start, Finish: p.Finish, Attempts: p.Attempts}
	}
	return out
}
