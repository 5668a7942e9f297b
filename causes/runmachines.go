package causes

import (
	"cmp"
	"context"
	_ "embed"
	"maps"
	"slices"

	"straggler/causes/machines"
	"straggler/engine"
	"straggler/schema"
	"straggler/store"
)

//go:embed run_machines.sql
var runMachinesSQL string

const runLossesSQL = `SELECT j.application_id, l.machine, count(*) AS losses
FROM losses l JOIN phases p ON p.phase_id = l.phase_id JOIN jobs j ON j.job_id = p.job_id
WHERE l.machine IS NOT NULL GROUP BY j.application_id, l.machine`

// runHealth judges the machines of each run against the history of its stages, and writes rows of machine_health that name the run, and
// why its attempts were slower than usual.
func (r *run) runHealth(ctx context.Context, tx *store.Tx) error {
	type loss struct {
		Application schema.Key `col:"application_id"`
		Machine     string     `col:"machine"`
		Losses      int64      `col:"losses"`
	}
	losses := map[schema.Key]map[string]int64{}
	for l, err := range engine.ReadParts[loss](ctx, r.eng, "causes_run_losses", runLossesSQL, r.seen...) {
		if err != nil {
			return err
		}
		if losses[l.Application] == nil {
			losses[l.Application] = map[string]int64{}
		}
		losses[l.Application][l.Machine] = l.Losses
	}
	judged := map[schema.Key]*machines.RunJudgement{}
	parts := map[schema.Key][]machines.RunPart{} // of the runs whose phases have not all been read
	ends := map[schema.Key]schema.Key{}          // the last phase of each run
	for i := range r.phases {
		ends[r.phases[i].Application] = r.phases[i].ID
	}
	judge := func(application schema.Key) error {
		own := parts[application]
		delete(parts, application)
		slices.SortFunc(own, func(a, b machines.RunPart) int {
			return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Phase, b.Phase))
		})
		j := machines.JudgeRun(own, losses[application], r.o.FalseShare, r.model.Outliers.Probability)
		judged[application] = &j
		err := store.Append(tx, r.part.inputOf("applications", application), j.Rows)
		j.Rows = nil
		return err
	}
	spans := r.spans()
	for _, s := range spans {
		for p, err := range engine.ReadParts[machines.RunPart](ctx, r.eng, "causes_run_machines", s.of(runMachinesSQL), r.seen...) {
			if err != nil {
				return err
			}
			parts[p.Application] = append(parts[p.Application], *p)
		}
		for _, application := range slices.Sorted(maps.Keys(parts)) {
			if end, known := ends[application]; known && end <= s.high || s == spans[len(spans)-1] {
				if err := judge(application); err != nil {
					return err
				}
			}
		}
	}
	return r.againstHistory(ctx, tx, judged)
}
