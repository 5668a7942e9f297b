package causes

import (
	"cmp"
	"context"
	"slices"

	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

const lossTimesSQL = `SELECT coalesce(m.number, -1) AS machine, l.time
FROM losses l JOIN causes_machines m ON m.machine = l.machine
WHERE l.time IS NOT NULL`

// health judges the machines and writes machine_health.
func (r *run) health(ctx context.Context, tx *store.Tx) error {
	type loss struct {
		Machine int64       `col:"machine"`
		Time    schema.Time `col:"time"`
	}
	j := judgement{model: r.model, fdr: r.o.FalseShare, slow: r.slowHere, losses: map[machineWindow]int64{}}
	for l, err := range engine.Read[loss](ctx, r.eng, lossTimesSQL) {
		if err != nil {
			return err
		}
		j.losses[machineWindow{l.Machine, r.model.windowAt(l.Time)}]++
	}
	rows := j.rows()
	last, slow, flaky := "", false, false
	tally := func() {
		switch {
		case slow:
			r.summary.Slow++
		case flaky:
			r.summary.Flaky++
		}
	}
	for i := range rows {
		if rows[i].Machine != last {
			tally()
			last, slow, flaky = rows[i].Machine, false, false
			r.summary.Machines++
		}
		slow = slow || rows[i].Verdict == schema.Slow
		flaky = flaky || rows[i].Verdict == schema.Flaky
	}
	tally()
	r.summary.FalseShare = r.o.FalseShare
	return store.Append(tx, 0, rows)
}

// edgeRow is a dependency between phases.
type edgeRow struct {
	Job  schema.Key `col:"job_id"`
	From schema.Key `col:"from_phase"`
	To   schema.Key `col:"to_phase"`
}

// jobCosts replays the jobs that have outliers without each of their causes and writes job_costs.
func (r *run) jobCosts(ctx context.Context, tx *store.Tx) error {
	r.summary.Causes = r.causeSummaries()
	jobOf := make(map[schema.Key]schema.Key, len(r.saved))
	wanted := map[schema.Key]bool{}
	for i := range r.saved {
		jobOf[r.saved[i].phase] = 0
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
	slices.SortStableFunc(r.saved, func(a, b saving) int { return cmp.Compare(jobOf[a.phase], jobOf[b.phase]) })
	phases := slices.DeleteFunc(slices.Clone(r.phases), func(p phaseRow) bool { return !wanted[p.Job] })
	slices.SortStableFunc(phases, func(a, b phaseRow) int { return cmp.Compare(a.Job, b.Job) })
	var rows []schema.JobCost
	for len(r.saved) > 0 {
		job := jobOf[r.saved[0].phase]
		n := 1
		for n < len(r.saved) && jobOf[r.saved[n].phase] == job {
			n++
		}
		k := 0
		for k < len(phases) && phases[k].Job == job {
			k++
		}
		rows = append(rows, costs(job, spans(phases[:k], edges[job]), r.saved[:n])...)
		r.saved, phases = r.saved[n:], phases[k:]
	}
	return store.Append(tx, 0, rows)
}

// edges reads the dependencies of the wanted jobs.
func (r *run) edges(ctx context.Context, wanted map[schema.Key]bool) (map[schema.Key][]edgeRow, error) {
	out := map[schema.Key][]edgeRow{}
	for e, err := range engine.Read[edgeRow](ctx, r.eng, "SELECT job_id, from_phase, to_phase FROM edges") {
		if err != nil {
			return nil, err
		}
		if wanted[e.Job] {
			out[e.Job] = append(out[e.Job], *e)
		}
	}
	return out, nil
}

// spans makes the graph of a job: its phases in order of their start, each with the phases that it waited for. Where
// the log has no edge into a phase it is taken to have waited for the last phase that had ended when it started. It is
// empty when a phase lacks its times.
func spans(phases []phaseRow, edges []edgeRow) []span {
	phases = slices.Clone(phases)
	for i := range phases {
		if !phases[i].Start.OK || !phases[i].Finish.OK {
			return nil
		}
	}
	slices.SortStableFunc(phases, func(a, b phaseRow) int { return cmp.Compare(a.Start.V, b.Start.V) })
	at := make(map[schema.Key]int, len(phases))
	out := make([]span, len(phases))
	for i := range phases {
		at[phases[i].ID] = i
		out[i] = span{id: phases[i].ID, start: phases[i].Start.V.Sub(phases[0].Start.V), end: phases[i].Finish.V.Sub(phases[0].Start.V)}
	}
	for _, e := range edges {
		from, ok := at[e.From]
		to, ok2 := at[e.To]
		if ok && ok2 && from < to {
			out[to].parents = append(out[to].parents, from)
		}
	}
	byEnd := make([]int, len(out))
	for i := range byEnd {
		byEnd[i] = i
	}
	slices.SortStableFunc(byEnd, func(a, b int) int { return cmp.Compare(out[a].end, out[b].end) })
	ended := 0 // phases of byEnd that had ended when the next one started
	for i := range out {
		for ended < len(out) && out[byEnd[ended]].end <= out[i].start {
			ended++
		}
		if len(out[i].parents) == 0 && ended > 0 && byEnd[ended-1] < i {
			out[i].parents = append(out[i].parents, byEnd[ended-1])
		}
	}
	return out
}
