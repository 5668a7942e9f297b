package report

import (
	"fmt"
	"strconv"

	"straggler/schema"
)

// SkewRow is a task that its input made slow, and how often.
type SkewRow struct {
	Program    schema.Null[string]  `col:"program" doc:"name of the applications"`
	Stage      schema.Null[string]  `col:"stage"`
	Kind       string               `col:"kind"`
	Ordinal    schema.Null[int32]   `col:"ordinal" doc:"which of the stages of that name in an application, from 1"`
	Task       int64                `col:"task" doc:"the task, that is the partition"`
	Executions int64                `col:"executions" doc:"executions of the stage in the store"`
	Skewed     int64                `col:"skewed" doc:"executions in which its input made it slow"`
	Repeats    schema.Null[bool]    `col:"repeats" doc:"in more than half of them"`
	Ratio      schema.Null[float64] `col:"ratio" unit:"ratio" doc:"its input over the median task's, on average"`
	Seconds    float64              `col:"seconds" unit:"s" doc:"excess that its input made, over all executions"`
	PhaseID    schema.Key           `col:"phase_id" doc:"the execution in which it was slowest"`
	Total      int64                `col:"total"`
}

// Chain is the outputs of a phase that were lost with a machine, and what it took to make them again.
type Chain struct {
	Machine     schema.Null[string]      `col:"machine" doc:"where they were"`
	Phase       string                   `col:"phase" doc:"native id of the phase that had made them"`
	Attempt     int32                    `col:"attempt"`
	Name        schema.Null[string]      `col:"name"`
	Application string                   `col:"application"`
	Outputs     int64                    `col:"outputs"`
	Lost        schema.Null[schema.Time] `col:"lost" doc:"when the first loss was noticed"`
	Restored    schema.Null[schema.Time] `col:"restored" doc:"when the last was there again"`
	RedoneS     schema.Null[float64]     `col:"redone_s" unit:"s" doc:"what making them again took, over all slots"`
	MissedBy    int64                    `col:"missed_by" doc:"attempts that failed to read them"`
	MissedOn    schema.Null[string]      `col:"missed_on" doc:"a machine that those ran on"`
	Reader      schema.Null[string]      `col:"reader" doc:"native id of a phase that those belong to"`
}

// WaitedS is how long readers lacked an output; ok where both ends are known and in order.
func (c *Chain) WaitedS() schema.Null[float64] {
	if !c.Lost.OK || !c.Restored.OK || c.Restored.V < c.Lost.V {
		return schema.Null[float64]{}
	}
	return schema.Some(c.Restored.V.Sub(c.Lost.V))
}

// repeats lists the skew that comes back and the outputs that were made again.
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

func skewTable(d *Document) table {
	l := d.Skew
	t := table{ID: "skew", Caption: "Partitions that their data made slow, those that come back first", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []column{{Title: "Partition", Doc: "task, that is the partition or the keys in it", Essential: true}, {Title: "Stage", Essential: true}, {Title: "Program"},
			{Title: "Slow in", Doc: "executions of the stage in which its data made it slow", Essential: true},
			{Title: "Data", Doc: "its input over the median task's, on average", Number: true, Essential: true},
			{Title: "Excess", Doc: "seconds that its data made, over all executions", Number: true, Essential: true}}}
	for _, r := range l.Rows {
		often := cell{Text: fmt.Sprintf("%s of %s", count(r.Skewed), count(r.Executions)), Sort: strconv.FormatInt(r.Skewed, 10)}
		if r.Repeats.V {
			often.Sub = "it repeats: split the key, or salt it"
		}
		t.Rows = append(t.Rows, row{Causes: []schema.Cause{schema.DataSkew}, Cells: []cell{number(r.Task), {Text: stageName(&r)}, text(named(r.Program)), often,
			figure(r.Ratio, times, "the log has no bytes"), figure(schema.Some(r.Seconds), seconds, "")}})
	}
	return t
}

func stageName(r *SkewRow) string {
	n := named(r.Stage)
	if n == "" {
		n = clean(r.Kind, 24)
	}
	if r.Ordinal.OK && r.Ordinal.V > 1 {
		n += fmt.Sprintf(" (no. %d of that name)", r.Ordinal.V)
	}
	return n
}

func chainsTable(d *Document) table {
	l := d.Chains
	t := table{ID: "chains", Caption: "Outputs that were lost and made again", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []column{{Title: "Lost on", Essential: true}, {Title: "Phase", Doc: "the phase that had made them", Essential: true}, {Title: "Application"},
			{Title: "Outputs", Number: true, Essential: true},
			{Title: "Noticed by", Doc: "attempts that failed to read them, and their phase", Essential: true},
			{Title: "Gone for", Doc: "from the first notice until the last output was there again: readers waited, or ran again", Number: true, Essential: true},
			{Title: "Made again in", Doc: "time of the attempts that made them again, over all slots", Number: true, Essential: true}}}
	for i := range l.Rows {
		c := &l.Rows[i]
		by := cell{Text: dash, Note: "the log does not say"}
		if c.MissedBy > 0 {
			by = cell{Text: plural(c.MissedBy, "attempt", "attempts")}
			if c.Reader.OK {
				by.Sub = "of " + phaseTitle(c.Reader.V, 0)
			}
			if m := named(c.MissedOn); m != "" && c.MissedBy == 1 {
				by.Sub += " on " + m
			}
		}
		where := cell{Text: named(c.Machine)}
		if where.Text == "" {
			where = cell{Text: dash, Note: "the log does not say"}
		}
		t.Rows = append(t.Rows, row{App: name(c.Application), Machine: named(c.Machine), Causes: []schema.Cause{schema.Recompute}, Cells: []cell{where,
			{Text: phaseTitle(c.Phase, c.Attempt), Sub: named(c.Name)}, text(name(c.Application)), number(c.Outputs), by,
			figure(c.WaitedS(), seconds, "the log lacks an end of it"), figure(c.RedoneS, seconds, "none was made again in this log")}})
	}
	return t
}
