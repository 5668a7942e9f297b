// Package markdown takes a Document and writes it as GitHub's Markdown. Texts of logs are escaped: they make no markup and
// no links.
//
// Start with Write.
package markdown

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
)

// Write writes the document as GitHub's Markdown. Texts of logs are escaped: they make no markup and no links.
func Write(w io.Writer, d *report.Document) error {
	b := bufio.NewWriter(w)
	m := markdown{b}
	m.printf("# %s\n\n%s\n\n**%s**\n\n", md(view.Title(d)), md(view.Span(d)), md(d.Headline.Verdict))
	if parts := view.PartsText(d.Cost.Loss.Parts); parts != prose.Dash {
		m.printf("By cause: %s.\n\n", md(parts))
	}
	if d.Headline.Why != "" {
		m.printf("%s\n\n", md(d.Headline.Why))
	}
	m.printf("%s\n\n", md(d.Headline.Trust))
	m.sections(view.Sections(d))
	m.printf("%s\n", md(view.QueryHelp(d)))
	return b.Flush()
}

// WriteSimulation writes the report on a simulation.
func WriteSimulation(w io.Writer, d *report.Simulation) error {
	b := bufio.NewWriter(w)
	m := markdown{b}
	m.printf("# %s\n\n%s\n\n", md(prose.Clean(d.Workload, prose.NameRunes)), md(view.SimulationLead(d)))
	m.sections(view.SimulationSections(d))
	return b.Flush()
}

// markdown writes; errors stick to the buffer.
type markdown struct{ w *bufio.Writer }

func (m markdown) printf(format string, a ...any) { fmt.Fprintf(m.w, format, a...) }

// sections writes the sections in which something is left without pictures.
func (m markdown) sections(sections []view.Section) {
	for _, s := range sections {
		if slices.ContainsFunc(s.Blocks, written) {
			m.printf("## %s\n\n", s.Title)
			m.blocks(s.Blocks)
		}
	}
}

// written reports whether a block is written: pictures are not, and leads are about pictures.
func written(b view.Block) bool {
	switch b.(type) {
	case view.Note, view.Facts, view.List, view.Folded, view.Table, view.Advice:
		return true
	}
	return false
}

func (m markdown) blocks(blocks []view.Block) {
	for _, b := range blocks {
		switch b := b.(type) {
		case view.Note:
			m.printf("%s\n\n", md(string(b)))
		case view.Facts:
			for _, f := range b {
				m.printf("- %s: %s\n", f.Name, md(f.Value))
			}
			m.printf("\n")
		case view.List:
			if b.Title != "" {
				m.printf("%s:\n\n", md(b.Title))
			}
			for _, item := range b.Items {
				m.printf("- %s\n", md(item))
			}
			m.printf("\n")
		case view.Folded:
			m.blocks(b.Blocks)
		case view.Table:
			m.table(b)
		case view.Advice:
			for i := range b {
				m.advice(i+1, &b[i])
			}
		}
	}
}

func (m markdown) table(t view.Table) {
	if len(t.Rows) == 0 {
		m.printf("%s\n\n", md(t.Empty))
		return
	}
	m.printf("%s:\n\n|", md(t.Caption))
	for _, c := range t.Columns {
		if !c.Picture {
			m.printf(" %s |", md(c.Title))
		}
	}
	m.printf("\n|")
	for _, c := range t.Columns {
		switch {
		case c.Picture:
		case c.Number:
			m.printf("---:|")
		default:
			m.printf("---|")
		}
	}
	m.printf("\n")
	for _, r := range t.Rows {
		m.printf("|")
		for i, c := range r.Cells {
			if t.Columns[i].Picture {
				continue
			}
			s := md(c.Text)
			if c.Sub != "" {
				s += "<br>" + md(c.Sub)
			}
			if c.Text == prose.Dash && c.Note != "" {
				s += " (" + md(c.Note) + ")"
			}
			m.printf(" %s |", s)
		}
		m.printf("\n")
	}
	m.printf("\n")
	if t.After != "" {
		m.printf("%s\n\n", md(t.After))
	}
	if t.More > 0 {
		m.printf("%s more in SQL:\n\n", prose.Count(t.More))
		m.code("sql", t.SQL)
	}
}

func (m markdown) advice(n int, a *report.Advice) {
	m.printf("### %d. %s\n\n%s\n\n", n, md(a.Title), md(a.Action))
	if len(a.Settings) > 0 {
		m.code("", view.SettingLines(a.Settings))
	}
	if a.Evidence != "" {
		m.printf("Evidence: %s\n\n", md(a.Evidence))
	}
	if g := view.GainText(a); g != "" {
		m.printf("Would save: %s (%s)\n\n", md(g), md(a.GainBasis))
	}
	if a.Confidence != "" {
		m.printf("Confidence: %s%s\n\n", a.Confidence, md(prose.After(": ", a.Reason)))
	}
	if a.SQL != "" {
		m.code("sql", a.SQL)
	}
}

// code writes a code block, whose fence is longer than any inside it.
func (m markdown) code(lang, s string) {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	m.printf("%s%s\n%s\n%s\n\n", fence, lang, s, fence)
}

func md(s string) string { return mdEscapes.Replace(s) }

// mdEscapes keeps text from being markup, inside and outside of tables. Slashes and full stops are escaped where GitHub
// would make links by itself.
var mdEscapes = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "|", `\|`,
	"#", `\#`, "~", `\~`, "!", `\!`, "$", `\$`, "@", `\@`, "://", `:\/\/`, "www.", `www\.`, "\n", " ", "\r", " ")
