package causes

import (
	"cmp"
	"context"
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
	jobOf := make(map[schema.Key]schema.Key, len(r.saved))
	wanted := map[schema.Key]bool{}
	for i := range r.saved {
		jobOf[r.saved[i].Phase] = 0
	}
	for i := range r.phases {
		if _, ok := jobOf[r.phases[i].ID]; ok {
			jobOf[r.phases[i].ID] = r.phases[i].Job
			wanted[r.phases[i].Job] = true
		}
	}
	edges, err := r.edges(ctx, wanted)
	if err != nil {
		return err
	}
	slices.SortStableFunc(r.saved, func(a, b jobcost.Saving) int { return cmp.Compare(jobOf[a.Phase], jobOf[b.Phase]) })
	phases := slices.DeleteFunc(slices.Clone(r.phases), func(p phaseRow) bool { return !wanted[p.Job] })
	slices.SortStableFunc(phases, func(a, b phaseRow) int { return cmp.Compare(a.Job, b.Job) })
	var rows []schema.JobCost
	input := schema.Key(0)
	for len(r.saved) > 0 {
		job := jobOf[r.saved[0].Phase]
		n := 1
		for n < len(r.saved) && jobOf[r.saved[n].Phase] == job {
			n++
		}
		k := 0
		for k < len(phases) && phases[k].Job == job {
			k++
		}
		next := r.part.inputOf("jobs", job)
		if next != input {
			if err := store.Append(tx, input, rows); err != nil {
				return err
			}
			rows, input = rows[:0], next
		}
		rows = append(rows, jobcost.Costs(job, took(phases[:k]), jobcost.Spans(times(phases[:k]), edges[job]), r.saved[:n])...)
		r.saved, phases = r.saved[n:], phases[k:]
	}
	return store.Append(tx, input, rows)
}

// took is for how long the job of some phases ran, which no loss of it exceeds; infinite where the log does not say.
func took(phases []phaseRow) float64 {
	if len(phases) == 0 || !(phases[0].JobS.OK && phases[0].JobS.V >= 0) {
		return math.Inf(1)
	}
	return phases[0].JobS.V
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

// times are the phases as job costs look at them.
func times(phases []phaseRow) []jobcost.Phase {
	out := make([]jobcost.Phase, len(phases))
	for i := range phases {
		out[i] = jobcost.Phase{ID: phases[i].ID, Start: phases[i].Start, Finish: phases[i].Finish, Attempts: phases[i].Attempts}
	}
	return out
}
