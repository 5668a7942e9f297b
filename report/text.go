package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/rivo/uniseg"

	"straggler/schema"
)

// TextOptions say what the terminal can show.
type TextOptions struct {
	Width int  // columns; 0 is 100
	Color bool // ANSI colours
	Top   int  // rows of each table; 0 is 10
}

// Text writes the document for a terminal: the headline, the tables cut to what matters, and what to do. Nothing in it
// controls the terminal but its own colours.
func Text(w io.Writer, d *Document, o TextOptions) error {
	if o.Width <= 0 {
		o.Width = 100
	}
	o.Width = min(max(o.Width, 40), 400)
	if o.Top <= 0 {
		o.Top = 10
	}
	b := bufio.NewWriter(w)
	t := textWriter{b, o}
	t.paragraph(docTitle(d), true)
	t.paragraph(docSpan(d), false)
	t.line("")
	t.paragraph(d.Headline.Verdict, true)
	t.bar(d.Cost.Loss.Parts, d.Cost.Loss.LostS.Or(0))
	t.paragraph(d.Headline.Why, false)
	t.paragraph(d.Headline.Trust, false)
	t.tableIfAny(caveatsTable(d))
	t.tableIfAny(rejectsTable(d))
	if d.Trust.Applications.Total > 1 {
		t.table(applicationsTable(d))
	}
	t.table(causesTable(d))
	t.table(jobsTable(d))
	t.table(phasesTable(d))
	t.table(outliersTable(d))
	t.table(machinesTable(d))
	t.tableIfAny(skewTable(d))
	t.tableIfAny(chainsTable(d))
	t.tableIfAny(savingsTable(d))
	if len(savingsTable(d).Rows) > 0 {
		t.paragraph(replayWords(d), false)
	}
	t.line("")
	t.line(t.bold("What to do"))
	for i := range d.Advice {
		t.advice(i+1, &d.Advice[i])
	}
	t.line("")
	t.paragraph(queryHelp(d), false)
	return b.Flush()
}

// textWriter writes lines; errors stick to the buffer.
type textWriter struct {
	w *bufio.Writer
	o TextOptions
}

func (t textWriter) line(s string) { fmt.Fprintln(t.w, strings.TrimRight(s, " ")) }

func (t textWriter) bold(s string) string { return t.ansi("1", s) }
func (t textWriter) dim(s string) string  { return t.ansi("2", s) }

func (t textWriter) ansi(code, s string) string {
	if !t.o.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// causeColor is a colour of the 256-colour palette, near the one of the HTML.
var causeColor = map[schema.Cause]string{schema.BadMachine: "161", schema.DataSkew: "33", schema.Network: "172", schema.Recompute: "134", schema.GC: "37",
	schema.Spill: "137", schema.Scheduler: "67", schema.Deserialize: "169", schema.LocalityMiss: "142", schema.Transient: "39", schema.UnexplainedCause: "245", notOutlier: "240"}

func (t textWriter) paragraph(s string, bold bool) {
	for _, l := range wrap(s, t.o.Width) {
		if bold {
			l = t.bold(l)
		}
		t.line(l)
	}
}

// bar draws the lost time by cause with the causes' letters, which also read without colour.
func (t textWriter) bar(parts []LostPart, whole float64) {
	if !(whole > 0) {
		return
	}
	var b strings.Builder
	drawn, sum := 0, 0.0
	for _, p := range parts {
		sum += p.LostS
		n := int(math.Round(float64(t.o.Width)*math.Min(sum/whole, 1))) - drawn
		if n <= 0 {
			continue
		}
		drawn += n
		b.WriteString(t.ansi("38;5;"+causeColor[infoOf(p.Cause).Cause], strings.Repeat(infoOf(p.Cause).Letter, n)))
	}
	t.line(b.String())
	t.paragraph(partsText(parts), false)
}

func (t textWriter) tableIfAny(v table) {
	if len(v.Rows) > 0 {
		t.table(v)
	}
}

// table writes the essential columns, and the others as far as there is room.
func (t textWriter) table(v table) {
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
		t.line(t.dim(fmt.Sprintf("%s more: %s", count(more), strings.ReplaceAll(v.SQL, "\n", " "))))
	}
}

// fit chooses columns and their widths: from the left all that fit, essential ones before others; what is too wide is
// wrapped in the last column that holds words.
func (t textWriter) fit(columns []column, rows []row) (cols, widths []int) {
	want := make([]int, len(columns))
	for i, c := range columns {
		want[i] = width(c.Title)
		for _, r := range rows {
			want[i] = max(want[i], min(width(inline(r.Cells[i])), t.o.Width/2))
		}
	}
	keep := make([]bool, len(columns))
	used := 0
	columns = slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return c.Below }) // they stand last
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
	for i, c := range cols { // what was capped may have what is left
		full := 0
		for _, r := range rows {
			full = max(full, width(inline(r.Cells[c])))
		}
		if more := min(full-widths[i], t.o.Width-total); more > 0 {
			widths[i] += more
			total += more
		}
	}
	for total > t.o.Width { // take from the widest column of words
		widest := -1
		for i, c := range cols {
			if !columns[c].Number && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 || widths[widest] <= 8 {
			break
		}
		widths[widest]--
		total--
	}
	for total > t.o.Width && len(cols) > 1 { // too narrow even so
		last := len(cols) - 1
		total -= widths[last] + 2
		cols, widths = cols[:last], widths[:last]
	}
	return cols, widths
}

// inline is a cell on one line.
func inline(c cell) string {
	if c.Keyed {
		return infoOf(c.Cause).Letter + " " + c.Text
	}
	switch {
	case c.Text == "":
		return c.Sub
	case c.Twin:
		return c.Text + ", " + c.Sub
	}
	return c.Text
}

func (t textWriter) row(columns []column, r row, cols, widths []int) {
	lines := make([][]string, len(cols))
	height := 1
	for i, c := range cols {
		lines[i] = wrap(inline(r.Cells[c]), widths[i])
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
				parts[i] = t.ansi("38;5;"+causeColor[infoOf(cell.Cause).Cause], parts[i])
			}
		}
		t.line(strings.Join(parts, "  "))
	}
	for i, c := range columns {
		if !c.Below {
			continue
		}
		for _, l := range wrap(inline(r.Cells[i]), t.o.Width-6) {
			t.line("      " + l)
		}
	}
}

func (t textWriter) advice(n int, a *Advice) {
	head := fmt.Sprintf("%d. %s", n, a.Title)
	if g := gainText(a); g != "" {
		head += ": " + g
	}
	t.paragraph(head, true)
	for _, s := range []string{a.Action, a.Evidence} {
		for _, l := range wrap(s, t.o.Width-3) {
			t.line("   " + l)
		}
	}
	for l := range strings.SplitSeq(settingLines(a.Settings), "\n") {
		if l != "" {
			t.line("     " + l)
		}
	}
	if a.Confidence != "" {
		for _, l := range wrap("Confidence "+string(a.Confidence)+after(": ", a.Reason)+".", t.o.Width-3) {
			t.line(t.dim("   " + l))
		}
	}
}

// width is the number of terminal columns of a text.
func width(s string) int { return uniseg.StringWidth(s) }

func pad(s string, n int, right bool) string {
	gap := strings.Repeat(" ", max(0, n-width(s)))
	if right {
		return gap + s
	}
	return s + gap
}

// wrap breaks a text at spaces into lines of at most n columns; a word that is longer is broken.
func wrap(s string, n int) []string {
	n = max(n, 1)
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(strings.ReplaceAll(s, nbsp, "\x00")) {
		word = strings.ReplaceAll(word, "\x00", " ")
		if line != "" && width(line)+1+width(word) <= n {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for width(word) > n {
			cut := cutAt(word, n)
			lines = append(lines, word[:cut])
			word = word[cut:]
		}
		line = word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// cutAt is how many bytes of s fill at most n columns, at least one character.
func cutAt(s string, n int) int {
	used, at := 0, 0
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		if used+g.Width() > n && at > 0 {
			break
		}
		used += g.Width()
		_, at = g.Positions()
	}
	return at
}
