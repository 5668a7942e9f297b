package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Markdown writes the document as GitHub's Markdown. Texts of logs are escaped: they make no markup and no links.
func Markdown(w io.Writer, d *Document) error {
	b := bufio.NewWriter(w)
	m := markdown{b}
	m.printf("# %s\n\n%s\n\n**%s**\n\n", md(docTitle(d)), md(docSpan(d)), md(d.Headline.Verdict))
	if parts := partsText(d.Cost.Loss.Parts); parts != dash {
		m.printf("By cause: %s.\n\n", md(parts))
	}
	if d.Headline.Why != "" {
		m.printf("%s\n\n", md(d.Headline.Why))
	}
	m.printf("%s\n\n", md(d.Headline.Trust))
	m.section("What was read, and how far to trust it")
	for _, f := range factViews(d) {
		m.printf("- %s: %s\n", f.Name, md(f.Value))
	}
	m.printf("\n")
	m.table(applicationsTable(d))
	m.tableIfAny(caveatsTable(d))
	m.tableIfAny(rejectsTable(d))
	m.printf("The figures assume:\n\n")
	for _, a := range d.Trust.Assumptions {
		m.printf("- %s\n", md(a))
	}
	m.printf("\n")
	m.section("What stragglers cost")
	m.table(causesTable(d))
	m.table(jobsTable(d))
	m.section("The worst phases")
	m.table(phasesTable(d))
	m.section("The worst outliers")
	m.table(outliersTable(d))
	if len(d.Skew.Rows) > 0 {
		m.section("Skew that comes back")
		m.table(skewTable(d))
	}
	if len(d.Chains.Rows) > 0 {
		m.section("Lost outputs")
		m.table(chainsTable(d))
	}
	m.section("Machines")
	m.table(machinesTable(d))
	if len(d.Whatif.Savings.Rows) > 0 {
		m.section("What policies would have saved")
		m.printf("%s\n\n", md(replayWords(d)))
		t := savingsTable(d)
		t.drop("Interval")
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
	m.printf("%s\n", md(queryHelp(d)))
	return b.Flush()
}

// markdown writes; errors stick to the buffer.
type markdown struct{ w *bufio.Writer }

func (m markdown) printf(format string, a ...any) { fmt.Fprintf(m.w, format, a...) }

func (m markdown) section(title string) { m.printf("## %s\n\n", title) }

func (m markdown) tableIfAny(t table) {
	if len(t.Rows) > 0 {
		m.table(t)
	}
}

func (m markdown) table(t table) {
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
			if c.Text == dash && c.Note != "" {
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
		m.printf("%s more in SQL:\n\n", count(t.More))
		m.code("sql", t.SQL)
	}
}

func (m markdown) advice(n int, a *Advice) {
	m.printf("### %d. %s\n\n%s\n\n", n, md(a.Title), md(a.Action))
	if len(a.Settings) > 0 {
		m.code("", settingLines(a.Settings))
	}
	if a.Evidence != "" {
		m.printf("Evidence: %s\n\n", md(a.Evidence))
	}
	if g := gainText(a); g != "" {
		m.printf("Should bring: %s (%s)\n\n", md(g), md(a.GainBasis))
	}
	if a.Confidence != "" {
		m.printf("Confidence: %s%s\n\n", a.Confidence, md(after(": ", a.Reason)))
	}
	if a.SQL != "" {
		m.code("sql", a.SQL)
	}
}

// after puts a mark before a text that is not empty.
func after(mark, s string) string {
	if s == "" {
		return ""
	}
	return mark + s
}

// code writes a block whose fence is longer than any in it.
func (m markdown) code(lang, s string) {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	m.printf("%s%s\n%s\n%s\n\n", fence, lang, s, fence)
}

// mdEscapes keep text from being markup, in a table or out of it. Slashes and full stops matter in what GitHub makes
// links of by itself.
var mdEscapes = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "|", `\|`,
	"#", `\#`, "~", `\~`, "!", `\!`, "$", `\$`, "@", `\@`, "://", `:\/\/`, "www.", `www\.`, "\n", " ", "\r", " ")

func md(s string) string { return mdEscapes.Replace(s) }
