package terminal

import (
	"fmt"
	"slices"
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
)

// table writes the essential columns, and the others as far as there is room.
func (t writer) table(v view.Table) {
	t.line("")
	t.paragraph(v.Caption, true)
	if len(v.Rows) == 0 {
		t.paragraph(v.Empty, false)
		return
	}
	more := v.More
	rows := v.Rows
	if len(rows) > t.o.Top && v.SQL != "" { // a query that shows the rest
		more += int64(len(rows) - t.o.Top)
		rows = rows[:t.o.Top]
	}
	cols, widths := t.fit(v.Columns, rows)
	head := make([]string, len(cols))
	for i, c := range cols {
		head[i] = pad(v.Columns[c].Title, widths[i], v.Columns[c].Number)
	}
	t.line(t.dim(strings.Join(head, "  ")))
	for _, r := range rows {
		t.row(v.Columns, r, cols, widths)
	}
	t.paragraph(v.After, false)
	if more > 0 {
		t.line(t.dim(fmt.Sprintf("%s more: %s", prose.Count(more), strings.ReplaceAll(v.SQL, "\n", " "))))
	}
}

// fit chooses columns and their widths: essential columns first, then the others from the left as far as they fit. Where
// the total is too wide, the widest columns of text become narrower and their cells wrap: between words as far as that is
// enough, so that ids stay whole.
func (t writer) fit(columns []view.Column, rows []view.Row) (cols, widths []int) {
	want := make([]int, len(columns))
	for i, c := range columns {
		want[i] = width(c.Title)
		for _, r := range rows {
			want[i] = max(want[i], min(width(inline(r.Cells[i])), t.o.Width/2))
		}
	}
	keep := make([]bool, len(columns))
	used := 0
	columns = slices.DeleteFunc(slices.Clone(columns), func(c view.Column) bool { return c.Below }) // written under the row
	for _, essential := range []bool{true, false} {
		for i, c := range columns {
			need := want[i] + 2
			if essential && !c.Number {
				need = min(need, 14)
			}
			if c.Essential == essential && (essential || used+need <= t.o.Width) {
				keep[i] = true
				used += need
			}
		}
	}
	total := -2
	for i := range columns {
		if keep[i] {
			cols, widths = append(cols, i), append(widths, want[i])
			total += want[i] + 2
		}
	}
	for i, c := range cols { // columns that were capped share the space that is left
		full := 0
		for _, r := range rows {
			full = max(full, width(inline(r.Cells[c])))
		}
		if more := min(full-widths[i], t.o.Width-total); more > 0 {
			widths[i] += more
			total += more
		}
	}
	total -= narrow(columns, rows, cols, widths, total-t.o.Width)
	for total > t.o.Width && len(cols) > 1 { // still too wide
		last := len(cols) - 1
		total -= widths[last] + 2
		cols, widths = cols[:last], widths[:last]
	}
	return cols, widths
}

// narrow takes an excess of width from the widest columns of text, and returns how much it could take.
func narrow(columns []view.Column, rows []view.Row, cols, widths []int, excess int) (taken int) {
	const least = 8
	for _, split := range []bool{false, true} { // words
		floor := make([]int, len(cols))
		for i, c := range cols {
			floor[i] = least
			if split {
				continue
			}
			for _, r := range rows {
				floor[i] = max(floor[i], longestWord(inline(r.Cells[c])))
			}
		}
		for ; taken < excess; taken++ {
			widest := -1
			for i, c := range cols {
				if !columns[c].Number && widths[i] > floor[i] && (widest < 0 || widths[i] > widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			widths[widest]--
		}
	}
	return taken
}

func (t writer) row(columns []view.Column, r view.Row, cols, widths []int) {
	lines := make([][]string, len(cols))
	height := 1
	for i, c := range cols {
		lines[i] = Wrap(inline(r.Cells[c]), widths[i])
		height = max(height, len(lines[i]))
	}
	for l := range height {
		parts := make([]string, len(cols))
		for i, c := range cols {
			s := ""
			if l < len(lines[i]) {
				s = lines[i][l]
			}
			parts[i] = pad(s, widths[i], columns[c].Number)
			if cell := r.Cells[c]; l == 0 && cell.Keyed {
				parts[i] = t.ansi("38;5;"+causeColor[report.InfoOf(cell.Cause).Cause], parts[i])
			}
		}
		t.line(strings.Join(parts, "  "))
	}
	for i, c := range columns {
		if !c.Below {
			continue
		}
		for _, l := range Wrap(inline(r.Cells[i]), t.o.Width-6) {
			t.line("      " + l)
		}
	}
}

// inline returns a cell on one line.
func inline(c view.Cell) string {
	if c.Keyed {
		return report.InfoOf(c.Cause).Letter + " " + c.Text
	}
	switch {
	case c.Text == "":
		return c.Sub
	case c.ShowSub && c.Sub != "":
		return c.Text + ", " + c.Sub
	}
	return c.Text
}
