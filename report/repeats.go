package report

import (
	"straggler/schema"
)

// SkewRow is a task that was slow because of its input, and how often.
type SkewRow struct {
	Program    schema.Null[string]  `col:"program" doc:"name of the applications"`
	Stage      schema.Null[string]  `col:"stage"`
	Kind       string               `col:"kind"`
	Ordinal    schema.Null[int32]   `col:"ordinal" doc:"which of the stages of that name in an application, from 1"`
	Exchange   schema.Null[string]  `col:"exchange" doc:"what the stage reads, by the plan of its query: keys and tables of each exchange"`
	Task       schema.Null[int64]   `col:"task" doc:"the task, i.e. the partition; NULL where adaptive execution merged or split partitions: the row then covers the whole stage"`
	Executions int64                `col:"executions" doc:"executions of the stage in the store"`
	Skewed     int64                `col:"skewed" doc:"executions in which it was slow because of its input"`
	Repeats    schema.Null[bool]    `col:"repeats" doc:"in more than half of them"`
	Ratio      schema.Null[float64] `col:"ratio" unit:"ratio" doc:"its input / median input, on average"`
	Seconds    float64              `col:"seconds" unit:"s" doc:"excess caused by its input, over all executions"`
	PhaseID    schema.Key           `col:"phase_id" doc:"the execution in which it was slowest"`
	Total      int64                `col:"total"`
}

// Chain is the outputs of a phase that were lost with a machine, and the cost of recomputing them.
type Chain struct {
	Machine     schema.Null[string]      `col:"machine" doc:"where they were"`
	Phase       string                   `col:"phase" doc:"native id of the phase that had written them"`
	Attempt     int32                    `col:"attempt"`
	Name        schema.Null[string]      `col:"name"`
	Application string                   `col:"application"`
	Outputs     int64                    `col:"outputs"`
	Lost        schema.Null[schema.Time] `col:"lost" doc:"when the first loss was noticed"`
	Restored    schema.Null[schema.Time] `col:"restored" doc:"when the last was recomputed"`
	RedoneS     schema.Null[float64]     `col:"redone_s" unit:"s" doc:"time of the attempts that recomputed them, over all slots"`
	MissedBy    int64                    `col:"missed_by" doc:"attempts that failed to read them"`
	MissedOn    schema.Null[string]      `col:"missed_on" doc:"a machine that those ran on"`
	Reader      schema.Null[string]      `col:"reader" doc:"native id of a phase that those belong to"`
}

// WaitedS returns the time from the first notice of a loss to the last recomputation, or NULL unless both are known and in order.
func (c *Chain) WaitedS() schema.Null[float64] {
	if !c.Lost.OK || !c.Restored.OK || c.Restored.V < c.Lost.V {
		return schema.Null[float64]{}
	}
	return schema.Some(c.Restored.V.Sub(c.Lost.V))
}

// repeats lists recurring skew and lost outputs.
func (b *builder) repeats() error {
	d := b.doc
	d.Skew.SQL = "SELECT * FROM skew_repeats WHERE executions > 1 ORDER BY repeats DESC NULLS LAST, seconds DESC NULLS LAST"
	d.Skew.Note = "No stage ran more than once and had a task that was slow for its input."
	d.Chains.SQL = "SELECT * FROM losses"
	d.Chains.Note = "No lost outputs are logged."
	var err error
	if d.Skew.Rows, err = collect[SkewRow](b, "skew_repeats"); err != nil {
		return err
	}
	if len(d.Skew.Rows) > 0 {
		d.Skew.Total = d.Skew.Rows[0].Total
	}
	d.Chains.Rows, err = collect[Chain](b, "chains")
	d.Chains.Total = int64(len(d.Chains.Rows))
	return err
}
