package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"

	"straggler/schema"
)

//go:embed html/page.tmpl
var pageText string

//go:embed html/style.css
var styleText string

//go:embed html/script.js
var scriptText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Style is the style sheet of the page, for pages that are to look like it.
func Style() string { return styleText }

// HTML writes the document as one file that loads nothing. Its size is bounded whatever the input, because every list
// of a Document is, and every name is cut.
func HTML(w io.Writer, d *Document) error {
	b := bufio.NewWriter(w)
	if err := pageTemplate.Execute(b, newPage(d)); err != nil {
		return fmt.Errorf("report: writing HTML: %w", err)
	}
	return b.Flush()
}

// page is the document as the template wants it: text that html/template escapes, and numbers for the charts.
type page struct {
	D           *Document
	Title       string
	What        string
	CSP         string
	Style       template.HTML
	Script      template.HTML
	Patterns    []pattern
	Stack       *stackView
	Legend      []keyView
	First       *firstView
	Facts       []factView
	Tables      pageTables
	Phases      []phaseView
	PhasesNote  string
	Timelines   []timelineView
	Marks       []keyView
	Heat        *heatView
	ReplayWords string
	Replayed    []timelineView
	Papers      []paperView
	Advice      []adviceView
	Queries     string
	Sources     string
}

type pageTables struct {
	Applications, Caveats, Rejects, Ingests, Causes, Jobs, Phases, Outliers, Machines, Whatif, Skew, Chains tableView
}

type keyView struct{ Class, Letter, Title, Amount string }

type firstView struct{ Lead, Title, Gain string }

type factView struct{ Name, Value string }

func newPage(d *Document) *page {
	p := &page{D: d, Title: docTitle(d), What: docSpan(d),
		CSP:      "default-src 'none'; style-src " + hash(styleText) + "; script-src " + hash(scriptText) + "; base-uri 'none'; form-action 'none'",
		Style:    template.HTML("<style>" + styleText + "</style>"),
		Script:   template.HTML("<script>" + scriptText + "</script>"),
		Patterns: patterns(), Stack: newStack(d.Cost.Loss.Parts, d.Cost.Loss.LostS.Or(0), 30, "Lost job time by cause: "), Legend: legend(d.Cost.Loss.Parts),
		First: firstAdvice(d), Facts: factViews(d), Phases: phaseViews(d), PhasesNote: phasesNote(d), Marks: markLegend(), Heat: newHeat(d), Advice: adviceViews(d),
		ReplayWords: replayWords(d), Papers: paperViews(d.Papers), Queries: queryHelp(d), Sources: sources(d),
		Tables: pageTables{newTable(applicationsTable(d)), newTable(caveatsTable(d)), newTable(rejectsTable(d)), newTable(ingestsTable(d)),
			newTable(causesTable(d)), newTable(jobsTable(d)), newTable(phasesTable(d)), outliersView(d), newTable(machinesTable(d)), savingsView(d), newTable(skewTable(d)), newTable(chainsTable(d))}}
	for i := range d.Timelines {
		v := newTimelineView(&d.Timelines[i])
		v.Picked = true
		p.Timelines = append(p.Timelines, v)
	}
	for _, t := range []*Timeline{d.Whatif.Before, d.Whatif.After} {
		if t != nil {
			p.Replayed = append(p.Replayed, newTimelineView(t))
		}
	}
	return p
}

// Undrawn lists the papers' figures that the store does not allow, with the reason.
func (p *page) Undrawn() (out []string) {
	for _, f := range p.D.Papers {
		if f.Note != "" {
			out = append(out, clean(f.Figure, 24)+": "+clean(f.Note, textRunes))
		}
	}
	return out
}

// ShowPapers is what opens the papers' figures.
func (p *page) ShowPapers() string {
	return "Show " + plural(int64(len(p.Papers)), "figure", "figures")
}

// HasWhatif says that there is something to show of replays.
func (p *page) HasWhatif() bool {
	return len(p.Tables.Whatif.Rows) > 0 || p.Tables.Whatif.Empty != p.D.Whatif.Savings.Note && p.D.Trust.Counts.Attempts > 0 || len(p.Replayed) > 0
}

// hash is the source expression of an inline block for the content security policy.
func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// docTitle is what the report is about.
func docTitle(d *Document) string {
	apps := d.Trust.Applications
	switch {
	case apps.Total == 0:
		return "No application"
	case apps.Total == 1 && len(apps.Rows) == 1:
		a := apps.Rows[0]
		if n := named(a.Name); n != "" && n != a.NativeID {
			return n + " (" + name(a.NativeID) + ")"
		}
		return name(a.NativeID)
	}
	return plural(apps.Total, "application", "applications")
}

// docSpan is when that was and by what it ran.
func docSpan(d *Document) string {
	var parts []string
	seen := map[string]bool{}
	for _, a := range d.Trust.Applications.Rows {
		fw := clean(strings.TrimSpace(a.Framework+" "+a.FrameworkVersion.V), 40)
		if !seen[fw] && len(seen) < 3 {
			seen[fw] = true
			parts = append(parts, fw)
		}
	}
	c := d.Trust.Counts
	if c.StartTime.OK && len(d.Trust.Applications.Rows) > 0 {
		origin := d.Trust.Applications.Rows[0].TimeOrigin
		span := instant(c.StartTime.V, origin)
		if c.FinishTime.OK {
			span += ", for " + seconds(c.FinishTime.V.Sub(c.StartTime.V))
		}
		parts = append(parts, span)
	}
	return strings.Join(parts, " · ")
}

func sources(d *Document) string {
	apps := d.Trust.Applications
	if len(apps.Rows) == 1 && apps.Total == 1 {
		return name(apps.Rows[0].SourceFile)
	}
	return plural(apps.Total, "log", "logs")
}

// queryHelp says how to run the queries of the report.
func queryHelp(d *Document) string {
	if d.Store != "" {
		return "Queries run with: straggler sql --store " + shellWord(clean(d.Store, 200))
	}
	return "To run the queries, keep a store: straggler report LOG… --store DIR, then straggler sql --store DIR. The keys in them stay the same."
}

func shellWord(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool {
		return !(r == '/' || r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

func factViews(d *Document) []factView {
	c := d.Trust.Counts
	var bytes int64
	for _, i := range d.Trust.Ingests.Rows {
		bytes += i.Bytes
	}
	f := []factView{{"Jobs", count(c.Jobs)}, {"Phases", count(c.Phases)}, {"Attempts", count(c.Attempts)},
		{"Machines", count(c.Machines)}, {"Task time", null(c.TaskS, seconds)}, {"Outliers", count(c.Outliers)}, {"Rejected", count(c.Rejects)}}
	if c.Applications != 1 {
		f = append([]factView{{"Applications", count(c.Applications)}}, f...)
	}
	if bytes > 0 {
		f = append(f, factView{"Log size", byteSize(float64(bytes))})
	}
	return f
}

// tableView is a table with its cells as the template wants them.
type tableView struct {
	ID, Caption, Empty, After, SQL string
	Columns                        []column
	Rows                           []rowView
	More                           string
}

type rowView struct {
	ID, App, Machine, Causes string
	Has                      struct{ App, Machine, Causes bool }
	Cells                    []cellView
}

type cellView struct {
	Text, Sub, Note, Label, Class, Sort string
	HasSort                             bool
	Extra                               bool // left out on a phone
	Key                                 *keyView
	Stack                               *stackView
	Detail                              *detailView
	Saving                              *savingView
}

type detailView struct {
	Parts []string
	SQL   string
}

func newTable(t table) tableView {
	v := tableView{ID: t.ID, Caption: t.Caption, Columns: t.Columns, SQL: t.SQL, Empty: t.Empty, After: t.After}
	if t.More > 0 {
		v.More = count(t.More)
	}
	for _, r := range t.Rows {
		rv := rowView{ID: r.ID, App: r.App, Machine: r.Machine, Causes: classes(r.Causes)}
		rv.Has.App, rv.Has.Machine, rv.Has.Causes = r.App != "", r.Machine != "", len(r.Causes) > 0
		for i, c := range r.Cells {
			rv.Cells = append(rv.Cells, newCell(c, t.Columns[i]))
		}
		v.Rows = append(v.Rows, rv)
	}
	return v
}

func newCell(c cell, col column) cellView {
	v := cellView{Text: c.Text, Sub: c.Sub, Note: c.Note, Label: col.Title, Extra: !col.Essential, Sort: c.Sort, HasSort: c.Sort != "" || c.Text == dash}
	if col.Number {
		v.Class = "n"
	}
	switch {
	case c.Parts != nil && c.Whole > 0:
		v.Stack = newStack(c.Parts, c.Whole, 14, "")
	case c.Keyed:
		k := keyOf(c.Cause)
		v.Key = &k
	}
	if col.Title == "Verdict" {
		v.Class = "v-" + c.Text
	}
	return v
}

func outliersView(d *Document) tableView {
	v := newTable(outliersTable(d))
	for i := range v.Rows {
		o := &d.Outliers.Rows[i]
		last := &v.Rows[i].Cells[len(v.Rows[i].Cells)-1]
		last.Class = "why"
		last.Detail = &detailView{SQL: o.SQL}
		for _, a := range o.Causes {
			last.Detail.Parts = append(last.Detail.Parts, fmt.Sprintf("%s: %s of %s excess%s", infoOf(a.Cause).Title, seconds(a.Seconds), null(o.ExcessS, seconds), wordsAfter(a.Words)))
		}
	}
	return v
}

func wordsAfter(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// class is the name of a cause in the style sheet.
func class(c schema.Cause) string {
	if c == notOutlier {
		return "late"
	}
	if i := infoOf(c); i.Cause == c {
		return string(c)
	}
	return string(schema.UnexplainedCause)
}

func classes(causes []schema.Cause) string {
	s := make([]string, len(causes))
	for i, c := range causes {
		s[i] = class(c)
	}
	return strings.Join(s, " ")
}

func keyOf(c schema.Cause) keyView {
	i := infoOf(c)
	return keyView{Class: class(c), Letter: i.Letter, Title: i.Title}
}

// legend names the parts of a bar; those under a hundredth go together and have no key.
func legend(parts []LostPart) []keyView {
	whole, rest := 0.0, 0.0
	for _, p := range parts {
		whole += p.LostS
	}
	var keys []keyView
	for _, p := range parts {
		switch {
		case p.LostS >= 0.01*whole && p.LostS > 0:
			k := keyOf(p.Cause)
			k.Amount = seconds(p.LostS)
			keys = append(keys, k)
		default:
			rest += p.LostS
		}
	}
	if rest > 0 {
		keys = append(keys, keyView{Title: "others", Amount: seconds(rest)})
	}
	return keys
}

// stackView is a stacked bar; positions are percent of its width.
type stackView struct {
	Title  string
	Height int
	Parts  []stackPart
}

type stackPart struct{ X, W, Class, Title string }

func newStack(parts []LostPart, whole float64, height int, title string) *stackView {
	if !(whole > 0) {
		return nil
	}
	s := &stackView{Title: title + partsText(parts), Height: height}
	x := 0.0
	for _, p := range parts {
		if w := 100 * p.LostS / whole; w > 0 {
			s.Parts = append(s.Parts, stackPart{pct(x), pct(w), class(p.Cause), infoOf(p.Cause).Title + " " + seconds(p.LostS)})
			x += w
		}
	}
	return s
}

// pct writes a position in percent; a hundredth is a tenth of a pixel on a wide screen.
func pct(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// pattern tells a cause from the others without colour.
type pattern struct {
	Class, Hatch string
	Size         int
	Dots         []struct{ X, Y int }
}

func patterns() []pattern {
	type dot = struct{ X, Y int }
	return []pattern{
		{Class: "bad_machine", Size: 8},
		{Class: "data_skew", Size: 8, Hatch: "M-2 2L2 -2M0 8L8 0M6 10L10 6"},
		{Class: "network", Size: 6, Dots: []dot{{1, 1}, {4, 4}}},
		{Class: "recompute", Size: 6, Hatch: "M0 3H6"},
		{Class: "gc", Size: 6, Hatch: "M0 3H6M3 0V6"},
		{Class: "spill", Size: 5, Hatch: "M2.5 0V5"},
		{Class: "scheduler", Size: 8, Hatch: "M-2 6L2 10M0 0L8 8M6 -2L10 2"},
		{Class: "deserialize", Size: 8, Hatch: "M0 4L4 0L8 4M0 8L4 4L8 8"},
		{Class: "locality", Size: 10, Hatch: "M0 5H10"},
		{Class: "transient", Size: 8, Dots: []dot{{4, 4}}},
		{Class: "unexplained", Size: 8},
		{Class: "late", Size: 4, Hatch: "M-1 1L1 -1M0 4L4 0M3 5L5 3"},
	}
}
