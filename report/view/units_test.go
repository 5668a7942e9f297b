package view

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"testing"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/reporttest"
	"straggler/schema"
)

// Every figure in every table has its unit, unless its column counts things.
func TestUnits(t *testing.T) {
	counts := []string{"#", "Applications", "Count", "Line", "Byte", "Jobs", "Attempts", "Tasks", "Phases", "Outliers", "Copies",
		"Files", "Records", "Rejects", "Outputs lost", "Outputs"}
	one := `[−<>\x{00a0}]*[0-9][0-9.\x{202f}]*(\x{00a0}(s|ms|min|h|d|%|B|[KMGTPE]iB)|×)`
	unit := regexp.MustCompile(`^(` + one + `( to ` + one + `)?|–)$`)
	d, err := report.Build(t.Context(), reporttest.LabelledWithSavings(t, "mixed", "recompute"), report.Options{})
	reporttest.Check(t, err)
	figures := 0
	for tb := range tables(Sections(d)) {
		for _, r := range tb.Rows {
			if len(r.Cells) != len(tb.Columns) {
				t.Fatalf("%s: %d cells under %d columns", tb.ID, len(r.Cells), len(tb.Columns))
			}
			for i, c := range r.Cells {
				col := tb.Columns[i]
				counted := slices.Contains(counts, col.Title) && !strings.HasSuffix(c.Text, "%")
				if !col.Number || counted {
					continue
				}
				figures++
				if !unit.MatchString(c.Text) {
					t.Errorf("%s, %s: %q has no unit", tb.ID, col.Title, c.Text)
				}
				if c.Text == prose.Dash && c.Note == "" {
					t.Errorf("%s, %s: unknown, and nothing says why", tb.ID, col.Title)
				}
			}
		}
	}
	if figures < 100 {
		t.Errorf("only %d figures were looked at", figures)
	}
}

// tables returns those of the sections, including folded ones.
func tables(sections []Section) iter.Seq[Table] {
	return func(yield func(Table) bool) {
		for _, s := range sections {
			for _, b := range s.Blocks {
				if f, ok := b.(Folded); ok {
					b = f.Blocks[0]
				}
				if t, ok := b.(Table); ok && !yield(t) {
					return
				}
			}
		}
	}
}

// A cause of which outliers had less than the median tasks made none of them slow, and has no row in the table.
func TestCausesThatMadeNothingSlow(t *testing.T) {
	var d report.Document
	d.Cost.Causes = []report.CauseCost{{Cause: schema.GC, Outliers: 1, SumS: 5}, {Cause: schema.Startup, SumS: -60}, {Cause: schema.Network, SumS: 0.1}}
	table := causesTable(&d)
	if len(table.Rows) != 2 || table.Rows[0].Cells[0].Cause != schema.GC || table.Rows[1].Cells[0].Cause != schema.Network {
		t.Errorf("%d rows: %+v", len(table.Rows), table.Rows)
	}
}
