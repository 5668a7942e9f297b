package terminal

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
)

// Options say what the terminal can show.
type Options struct {
	Width int  // columns; 0 is 100
	Color bool // ANSI colours
	Top   int  // rows of each table; 0 is 10
}

// Write writes a report: the headline, the tables cut to what matters, and what to do. Nothing in it controls the terminal
// but its own colours.
func Write(w io.Writer, d *report.Document, o Options) error {
	t := newWriter(w, o, 10)
	t.paragraph(view.Title(d), true)
	t.paragraph(view.Span(d), false)
	t.line("")
	t.paragraph(d.Headline.Verdict, true)
	t.bar(d.Cost.Loss.Parts, d.Cost.Loss.LostS.Or(0))
	t.paragraph(d.Headline.Why, false)
	t.paragraph(d.Headline.Trust, false)
	for _, section := range view.Sections(d) {
		t.blocks(section.Blocks)
	}
	t.line("")
	t.paragraph(view.QueryHelp(d), false)
	return t.w.Flush()
}

// WriteSimulation writes the report on a simulation.
func WriteSimulation(w io.Writer, d *report.Simulation, o Options) error {
	t := newWriter(w, o, 40)
	t.paragraph(prose.Clean(d.Workload, prose.NameRunes), true)
	t.paragraph(view.SimulationLead(d), false)
	for _, section := range view.SimulationSections(d) {
		t.blocks(section.Blocks)
	}
	return t.w.Flush()
}

// writer writes lines; errors stick to the buffer.
type writer struct {
	w *bufio.Writer
	o Options
}

// newWriter fills in what the options leave open; top is how many rows of a table are shown unless they say.
func newWriter(w io.Writer, o Options, top int) writer {
	if o.Width <= 0 {
		o.Width = 100
	}
	o.Width = min(max(o.Width, 40), 400)
	if o.Top <= 0 {
		o.Top = top
	}
	return writer{bufio.NewWriter(w), o}
}

// blocks writes tables, notes and advice; the captions of tables are headings enough.
func (t writer) blocks(blocks []view.Block) {
	for _, b := range blocks {
		switch b := b.(type) {
		case view.Note:
			t.line("")
			t.paragraph(string(b), false)
		case view.Folded:
			t.blocks(b.Blocks)
		case view.Table:
			if !b.Aside {
				t.table(b)
			}
		case view.Advice:
			t.line("")
			t.line(t.bold("What to do"))
			for i := range b {
				t.advice(i+1, &b[i])
			}
		}
	}
}

// causeColor is a colour of the 256-colour palette, near the one of the HTML.
var causeColor = map[schema.Cause]string{schema.BadMachine: "161", schema.DataSkew: "33", schema.Network: "172", schema.Recompute: "134", schema.GC: "37",
	schema.Spill: "137", schema.Scheduler: "67", schema.Deserialize: "169", schema.LocalityMiss: "142", schema.Startup: "173",
	schema.Transient: "39", schema.UnexplainedCause: "245", report.NotOutlier: "240"}

// bar draws the lost time by cause with the causes' letters, which also read without colour.
func (t writer) bar(parts []report.LostPart, whole float64) {
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
		b.WriteString(t.ansi("38;5;"+causeColor[report.InfoOf(p.Cause).Cause], strings.Repeat(report.InfoOf(p.Cause).Letter, n)))
	}
	t.line(b.String())
	t.paragraph(view.LetteredPartsText(parts), false)
}

func (t writer) advice(n int, a *report.Advice) {
	head := fmt.Sprintf("%d. %s", n, a.Title)
	if g := view.GainText(a); g != "" {
		head += ": " + g
	}
	t.paragraph(head, true)
	for _, s := range []string{a.Action, a.Evidence} {
		for _, l := range Wrap(s, t.o.Width-3) {
			t.line("   " + l)
		}
	}
	for l := range strings.SplitSeq(view.SettingLines(a.Settings), "\n") {
		if l != "" {
			t.line("     " + l)
		}
	}
	if a.Confidence != "" {
		for _, l := range Wrap("Confidence "+string(a.Confidence)+prose.After(": ", a.Reason)+".", t.o.Width-3) {
			t.line(t.dim("   " + l))
		}
	}
}

func (t writer) paragraph(s string, bold bool) {
	for _, l := range Wrap(s, t.o.Width) {
		if bold {
			l = t.bold(l)
		}
		t.line(l)
	}
}

func (t writer) line(s string) { fmt.Fprintln(t.w, strings.TrimRight(s, " ")) }

func (t writer) bold(s string) string { return t.ansi("1", s) }

func (t writer) dim(s string) string { return t.ansi("2", s) }

func (t writer) ansi(code, s string) string {
	if !t.o.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
