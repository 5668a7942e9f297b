package causes

import (
	"context"
	_ "embed"

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
	var parts []machines.RunPart // of one run
	judge := func() error {
		if len(parts) == 0 {
			return nil
		}
		j := machines.JudgeRun(parts, losses[parts[0].Application], r.o.FalseShare, r.model.Outliers.Probability)
		judged[parts[0].Application] = &j
		err := store.Append(tx, r.part.inputOf("applications", parts[0].Application), j.Rows)
		parts, j.Rows = parts[:0], nil
		return err
	}
	for p, err := range engine.ReadParts[machines.RunPart](ctx, r.eng, "causes_run_machines", runMachinesSQL, r.seen...) {
		if err != nil {
			return err
		}
		if len(parts) > 0 && parts[0].Application != p.Application {
			if err := judge(); err != nil {
				return err
			}
		}
		parts = append(parts, *p)
	}
	if err := judge(); err != nil {
		return err
	}
	return r.againstHistory(ctx, tx, judged)
}
