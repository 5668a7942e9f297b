package report

import (
	"straggler/schema"
	"straggler/sharing"
)

// sharedCell is a row of shared_tasks.sql.
type sharedCell struct {
	ApplicationID schema.Key `col:"application_id"`
	PhaseID       schema.Key `col:"phase_id"`
	Dimension     string     `col:"dimension"`
	Value         string     `col:"value"`
	Tasks         int64      `col:"tasks"`
	Slow          int64      `col:"slow"`
}

// sharing finds what the slow tasks of each slow run have in common.
func (b *builder) sharing(map[schema.Key]int) error {
	runs := map[schema.Key]*sharing.Tasks{}
	err := readStore(b, "shared_tasks", func(c *sharedCell) error {
		r := runs[c.ApplicationID]
		if r == nil {
			r = sharing.New()
			runs[c.ApplicationID] = r
		}
		r.Add(c.PhaseID, c.Dimension, c.Value, float64(c.Tasks), float64(c.Slow))
		return nil
	})
	for i := range b.doc.SlowRuns.Rows {
		if s := &b.doc.SlowRuns.Rows[i]; runs[s.ApplicationID] != nil {
			names := map[schema.Key]string{}
			for k := range s.Stages {
				names[s.Stages[k].PhaseID] = s.Stages[k].name()
			}
			s.Shared = runs[s.ApplicationID].Shared(names)
			s.HeldTasks, s.HeldSlow = runs[s.ApplicationID].Count()
		}
	}
	return err
}
