// Package markdown takes a Document and writes it as GitHub's Markdown. Texts of logs are escaped: they make no markup and
// no links.
//
// Start with Write.
package markdown

import (
	"bufio"
	"fmt"
	"io"
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
	m.section("What was read, and how far to trust it")
	for _, f := range view.Facts(d) {
		m.printf("- %s: %s\n", f.Name, md(f.Value))
	}
	m.printf("\n")
	m.table(view.ApplicationsTable(d))
	m.tableIfAny(view.CaveatsTable(d))
	m.tableIfAny(view.RejectsTable(d))
	m.printf("The figures assume:\n\n")
	for _, a := range d.Trust.Assumptions {
		m.printf("- %s\n", md(a))
	}
	m.printf("\n")
	m.section("What stragglers cost")
	m.table(view.CausesTable(d))
	m.table(view.JobsTable(d))
	m.section("The worst phases")
	m.table(view.PhasesTable(d))
	m.section("The worst outliers")
	m.table(view.OutliersTable(d))
	if len(d.Skew.Rows) > 0 {
		m.section("Skew that comes back")
		m.table(view.SkewTable(d))
	}
	if len(d.Chains.Rows) > 0 {
		m.section("Lost outputs")
		m.table(view.ChainsTable(d))
	}
	m.section("Machines")
	m.table(view.MachinesTable(d))
	if len(d.Whatif.Savings.Rows) > 0 {
		m.section("What policies would have saved")
		m.printf("%s\n\n", md(view.ReplayWords(d)))
		t := view.SavingsTable(d)
		t.Drop("Interval")
		m.table(t)
		for _, n := range d.Whatif.Notes {
			m.printf("- %s\n", md(n))
		}
		m.printf("\n")
	}
	m.section("What to do")
	for i := range d.Advice {
		m.advice(i+1, &d.Advice[i])
	}
	m.printf("%s\n", md(view.QueryHelp(d)))
	return b.Flush()
}

// markdown writes; errors stick to the buffer.
type markdown struct{ w *bufio.Writer }

func (m markdown) printf(format string, a ...any) { fmt.Fprintf(m.w, format, a...) }

func (m markdown) section(title string) { m.printf("## %s\n\n", title) }

func (m markdown) tableIfAny(t view.Table) {
	if len(t.Rows) > 0 {
		m.table(t)
	}
}

func (m markdown) table(t view.Table) {
	if len(t.Rows) == 0 {
		m.printf("%s\n\n", md(t.Empty))
		return
	}
	m.printf("%s:\n\n|", md(t.Caption))
	for _, c := range t.Columns {
		m.printf(" %s |", md(c.Title))
	}
	m.printf("\n|")
	for _, c := range t.Columns {
		if c.Number {
			m.printf("---:|")
		} else {
			m.printf("---|")
		}
	}
	m.printf("\n")
	for _, r := range t.Rows {
		m.printf("|")
		for _, c := range r.Cells {
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
		m.printf("Should bring: %s (%s)\n\n", md(g), md(a.GainBasis))
	}
	if a.Confidence != "" {
		m.printf("Confidence: %s%s\n\n", a.Confidence, md(prose.After(": ", a.Reason)))
	}
	if a.SQL != "" {
		m.code("sql", a.SQL)
	}
}

// code writes a block whose fence is longer than any in it.
func (m markdown) code(lang, s string) {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	m.printf("%s%s\n%s\n%s\n\n", fence, lang, s, fence)
}

func md(s string) string { return mdEscapes.Replace(s) }

// mdEscapes keep text from being markup, in a table or out of it. Slashes and full stops matter in what GitHub makes
// links of by itself.
var mdEscapes = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "|", `\|`,
	"#", `\#`, "~", `\~`, "!", `\!`, "$", `\$`, "@", `\@`, "://", `:\/\/`, "www.", `www\.`, "\n", " ", "\r", " ")

// WriteSimulation writes a simulation as GitHub's Markdown.
func WriteSimulation(w io.Writer, d *report.Simulation) error {
	b := bufio.NewWriter(w)
	m := markdown{b}
	m.printf("# %s\n\n%s\n\n", md(prose.Clean(d.Workload, prose.NameRunes)), md(view.SimulationLead(d)))
	m.table(view.ArmsTable(d))
	m.table(view.NamesTable(d))
	return b.Flush()
}
