package report

import (
	"straggler/schema"
)

func (b *builder) jobs() error {
	c := &b.doc.Cost
	c.Loss, c.Causes = b.sums.all.loss(), b.sums.causes()
	c.Jobs = List[Job]{Total: int64(len(b.sums.jobs)), Note: "No job was read.",
		SQL: "SELECT j.job_id, max(j.native_id) AS native_id, sum(s.lost_s) AS phases_lost_s\nFROM jobs j JOIN phases p ON p.job_id = j.job_id JOIN phase_stats s ON s.phase_id = p.phase_id\nGROUP BY j.job_id ORDER BY phases_lost_s DESC NULLS LAST"}
	keys := b.sums.worst(b.sums.jobs, topJobs)
	if err := b.pick("report_picked_jobs", "job_id", keys); err != nil {
		return err
	}
	rows, err := collect[JobRow](b, "jobs")
	if err != nil {
		return err
	}
	byKey := indexBy(rows, func(r *JobRow) schema.Key { return r.JobID })
	for _, k := range keys {
		if i, ok := byKey[k]; ok {
			c.Jobs.Rows = append(c.Jobs.Rows, Job{JobRow: rows[i], Loss: b.sums.jobs[k].loss()})
		}
	}
	return nil
}
