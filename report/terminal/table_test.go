package terminal

import (
	"slices"
	"strings"
	"testing"

	"straggler/report/view"
)

// Columns that are too wide together wrap between words first: an id that is cut cannot be searched for. Where that is not
// enough, words are cut rather than the line.
func TestFitKeepsWordsWhole(t *testing.T) {
	columns := []view.Column{{Title: "Application", Essential: true}, {Title: "Started", Essential: true}, {Title: "Lost", Number: true, Essential: true}}
	rows := []view.Row{{Cells: []view.Cell{{Text: "app-20261121033031-0011"}, {Text: "2026-11-21 03:30:31 UTC"}, {Text: "81.5 s"}}}}
	for width, whole := range map[int]bool{60: true, 50: true, 46: true, 34: false} {
		cols, widths := writer{o: Options{Width: width}}.fit(columns, rows)
		total := -2
		for _, w := range widths {
			total += w + 2
		}
		first := Wrap(rows[0].Cells[0].Text, widths[0])
		if len(cols) != 3 || total > width || (len(first) == 1) != whole || strings.Join(first, "") != rows[0].Cells[0].Text || slices.Min(widths) < 6 {
			t.Errorf("width %d: columns %v of widths %v", width, cols, widths)
		}
	}
}
