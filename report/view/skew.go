package view

import (
	"fmt"
	"strconv"

	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// skewSection lists the partitions that are slow because of their data, recurring ones first.
func skewSection(d *report.Document) Section {
	s := Section{ID: "comes-back", Title: "Recurring skew"}
	if t := skewTable(d); len(t.Rows) > 0 {
		s.Blocks = []Block{Lead("Compares partitions with those of the same stage, identified by the exchange that it reads, in other executions of the program in the store. Skew that recurs lies in the data or its keys; other skew belongs to a single run."), t}
	}
	return s
}

func skewTable(d *report.Document) Table {
	l := d.Skew
	t := Table{ID: "skew", Caption: "Partitions that were slow because of their data, recurring ones first", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []Column{{Title: "Partition", Doc: "task, i.e. the partition or the keys in it", Essential: true},
			{Title: "Stage", Essential: true}, {Title: "Program"},
			{Title: "Slow in", Doc: "executions of the stage in which it was slow because of its data", Essential: true},
			{Title: "Data", Doc: "its input / median input, on average", Number: true, Essential: true},
			{Title: "Excess", Doc: "seconds of excess caused by its data, over all executions", Number: true, Essential: true}}}
	for _, r := range l.Rows {
		often := Cell{Text: fmt.Sprintf("%s of %s", prose.Count(r.Skewed), prose.Count(r.Executions)), Sort: strconv.FormatInt(r.Skewed, 10)}
		if r.Repeats.V {
			often.Sub = "it repeats: split the key, or salt it"
		}
		t.Rows = append(t.Rows, Row{Causes: []schema.Cause{schema.DataSkew},
			Cells: []Cell{partition(r.Task), {Text: stageName(&r)}, text(prose.MaybeName(r.Program)), often,
				figure(r.Ratio, prose.Times, "the log has no bytes"), figure(schema.Some(r.Seconds), prose.Seconds, "")}})
	}
	return t
}

func partition(task schema.Null[int64]) Cell {
	if !task.OK {
		return Cell{Text: "any", Sub: "adaptive execution merged or split partitions"}
	}
	return number(task.V)
}

func stageName(r *report.SkewRow) string {
	n := prose.MaybeName(r.Stage)
	if r.Exchange.V != "" {
		n = prose.Clean("reads "+r.Exchange.V, 2*prose.NameRunes)
	}
	if n == "" {
		n = prose.Clean(r.Kind, 24)
	}
	if r.Ordinal.OK && r.Ordinal.V > 1 {
		n += fmt.Sprintf(" (no. %d of these)", r.Ordinal.V)
	}
	return n
}
