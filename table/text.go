package table

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/rivo/uniseg"

	"straggler/engine"
)

// sampleRows is how many rows are buffered to find the widths of columns.
const sampleRows = 500

// writeText writes aligned columns: numbers to the right, the rest to the left.
func writeText(w io.Writer, rows Rows, o Options) (int64, error) {
	out := bufio.NewWriter(w)
	columns := rows.Columns()
	lines := make([][]string, 1, sampleRows+1)
	for _, c := range columns {
		lines[0] = append(lines[0], cell(c.Name))
	}
	n, more := int64(0), true
	for len(lines) <= sampleRows {
		if more = rows.Next(); !more {
			break
		}
		n++
		if o.MaxRows == 0 || n <= int64(o.MaxRows) {
			lines = append(lines, textLine(rows, len(columns)))
		}
	}
	l := layout{columns: columns, widths: fit(lines, o.MaxWidth)}
	for i, line := range lines {
		l.write(out, line)
		if i == 0 {
			l.rule(out)
		}
	}
	for more && rows.Next() {
		n++
		if o.MaxRows == 0 || n <= int64(o.MaxRows) {
			l.write(out, textLine(rows, len(columns)))
		}
	}
	if hidden := n - int64(o.MaxRows); o.MaxRows > 0 && hidden > 0 {
		fmt.Fprintf(out, "… %d more\n", hidden)
	}
	if err := out.Flush(); err != nil {
		return n, err
	}
	return n, rows.Err()
}

// maxCell bounds the characters of a value in a table for people: each of 500 rows is padded to the widest. Other encodings
// have all of it.
const maxCell = 1000

func textLine(rows Rows, columns int) []string {
	line := make([]string, columns)
	for i := range line {
		line[i] = cell(forPeople(rows.Value(i)))
	}
	return line
}

// cell returns a text as a table shows it.
func cell(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxCell { // what is beyond is not looked at: a value may have a gigabyte
			text = text[:i] + "…"
			break
		}
	}
	return cut(Printable(text), maxCell)
}

// layout holds the widths of the columns.
type layout struct {
	columns []engine.Column
	widths  []int
}

const gap = "  "

// fit gives each column the width of its widest value; where the total is too wide, the widest columns are cut first.
func fit(lines [][]string, limit int) []int {
	widths := make([]int, len(lines[0]))
	total := -len(gap)
	for i := range widths {
		for _, line := range lines {
			widths[i] = max(widths[i], uniseg.StringWidth(line[i]))
		}
		total += widths[i] + len(gap)
	}
	for limit > 0 && total > limit {
		widest := 0
		for i := range widths {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= 8 {
			break // a long line is better than no values
		}
		widths[widest]--
		total--
	}
	return widths
}

func (l *layout) write(out *bufio.Writer, line []string) {
	var b strings.Builder
	for i, text := range line {
		if i > 0 {
			b.WriteString(gap)
		}
		text = cut(text, l.widths[i])
		pad := strings.Repeat(" ", max(0, l.widths[i]-uniseg.StringWidth(text)))
		if numeric(l.columns[i].Type) {
			b.WriteString(pad + text)
		} else {
			b.WriteString(text + pad)
		}
	}
	out.WriteString(strings.TrimRight(b.String(), " "))
	out.WriteByte('\n')
}

func (l *layout) rule(out *bufio.Writer) {
	for i, w := range l.widths {
		if i > 0 {
			out.WriteString(gap)
		}
		out.WriteString(strings.Repeat("─", w))
	}
	out.WriteByte('\n')
}

// cut shortens a text to a width, by whole characters as they are seen.
func cut(s string, width int) string {
	if uniseg.StringWidth(s) <= width {
		return s
	}
	var b strings.Builder
	used := 0
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if used+g.Width() > width-1 {
			break
		}
		b.WriteString(g.Str())
		used += g.Width()
	}
	return b.String() + "…"
}
