package report

import (
	"fmt"

	"straggler/report/prose"
	"straggler/schema"
)

// SlowRun is an application that took longer than the runs of its name in the store usually do. Nothing in it need be an outlier: where
// a stage is slow as a whole, its median is too.
type SlowRun struct {
	SlowRunRow
	Stages []SlowStage `col:"stages" doc:"stages whose median task took longer than usual, by the time that all their tasks took more"`
}

// SlowRunRow is a row of slow_runs.sql.
type SlowRunRow struct {
	ApplicationID schema.Key               `col:"application_id"`
	NativeID      string                   `col:"native_id"`
	Name          string                   `col:"name"`
	StartTime     schema.Null[schema.Time] `col:"start_time"`
	TookS         float64                  `col:"took_s" unit:"s" doc:"from its start to its end"`
	UsualS        float64                  `col:"usual_s" unit:"s" doc:"median of the runs of that name"`
	ScatterS      float64                  `col:"scatter_s" unit:"s" doc:"robust standard deviation between them"`
	Runs          int64                    `col:"runs" doc:"complete runs of that name in the store"`
}

// SlowStage is a row of slow_stages.sql.
type SlowStage struct {
	ApplicationID schema.Key         `col:"application_id"`
	PhaseID       schema.Key         `col:"phase_id"`
	NativeID      string             `col:"native_id"`
	Stage         string             `col:"stage"`
	Kind          string             `col:"kind"`
	MedianS       float64            `col:"median_s" unit:"s" doc:"median duration of its tasks"`
	UsualS        float64            `col:"usual_s" unit:"s" doc:"median of that over the runs"`
	Runs          int64              `col:"runs" doc:"runs that have the stage"`
	Outliers      schema.Null[int64] `col:"outliers" doc:"tasks longer than 1.5 × the stage's own median"`
	MoreS         float64            `col:"more_s" unit:"s" doc:"(median − usual) × tasks"`
}

// Most slow runs of a document, and stages of each.
const (
	mostSlowRuns   = 20
	mostSlowStages = 5
)

// history lists the runs that were slow as a whole.
func (b *builder) history() error {
	l := &b.doc.SlowRuns
	l.SQL = "SELECT name, native_id, start_time, finish_time FROM applications ORDER BY name NULLS LAST, start_time NULLS LAST"
	l.Note = "No run took longer than runs of its name usually do, as far as the store has four of one name."
	var keys []schema.Key
	err := read(b, "slow_runs", func(r *SlowRunRow) error {
		if _, ok := b.sums.apps[r.ApplicationID]; !ok {
			return nil // not of this report
		}
		if l.Total++; len(l.Rows) < mostSlowRuns {
			l.Rows, keys = append(l.Rows, SlowRun{SlowRunRow: *r}), append(keys, r.ApplicationID)
		}
		return nil
	})
	if err != nil || len(keys) == 0 {
		return err
	}
	if err := b.pick("report_slow_apps", "application_id", keys); err != nil {
		return err
	}
	index := indexBy(l.Rows, func(r *SlowRun) schema.Key { return r.ApplicationID })
	return readStore(b, "slow_stages", func(s *SlowStage) error {
		if r := &l.Rows[index[s.ApplicationID]]; len(r.Stages) < mostSlowStages {
			r.Stages = append(r.Stages, *s)
		}
		return nil
	})
}

// historyWords says which run was slowest as a whole, and in which stage.
func historyWords(d *Document) string {
	if len(d.SlowRuns.Rows) == 0 {
		return ""
	}
	r := &d.SlowRuns.Rows[0]
	s := fmt.Sprintf("%s took %s, %s the usual %s of %s (%s)", prose.Name(r.NativeID), prose.Seconds(r.TookS), prose.Times(r.TookS/r.UsualS), prose.Seconds(r.UsualS),
		prose.Name(r.Name), prose.Plural(r.Runs, "run", "runs"))
	if len(r.Stages) > 0 {
		g := &r.Stages[0]
		name := g.Stage
		if name == "" {
			name = g.Kind
		}
		s += fmt.Sprintf("; half of the tasks of %s took %s their usual time or more", prose.Name(name), prose.Times(g.MedianS/g.UsualS))
		if g.Outliers.OK && g.Outliers.V == 0 {
			s += ", and none of them is an outlier"
		}
	}
	if n := d.SlowRuns.Total - 1; n > 0 {
		s += fmt.Sprintf("; %s slow as a whole too", prose.Plural(n, "other run was", "other runs were"))
	}
	return s + "."
}
