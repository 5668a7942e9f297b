// Package html takes a Document and writes one HTML file that loads nothing: its style, script and pictures are inside.
//
//  1. page.go fills the template page.tmpl; simulation.go fills one of its own for a simulated workload.
//  2. table.go, causes.go and advice.go make what is text; html/template escapes it.
//  3. phases.go, timeline.go, heat.go, savings.go and papers.go make the numbers of the pictures; axis.go has their scales.
//
// Start with page.go.
package html

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
)

// Write writes the document as one file that loads nothing. Its size is bounded whatever the input, because every list
// of a Document is, and every name is cut.
func Write(w io.Writer, d *report.Document) error {
	b := bufio.NewWriter(w)
	if err := pageTemplate.Execute(b, newPage(d)); err != nil {
		return fmt.Errorf("report: writing HTML: %w", err)
	}
	return b.Flush()
}

// page is the document as the template wants it: text that html/template escapes, and numbers for the charts.
type page struct {
	D           *report.Document
	Title       string
	What        string
	CSP         string
	Style       template.HTML
	Script      template.HTML
	Patterns    []pattern
	Stack       *stackView
	Legend      []keyView
	First       *firstView
	Facts       []view.Fact
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

type firstView struct{ Lead, Title, Gain string }

func newPage(d *report.Document) *page {
	p := &page{D: d, Title: view.Title(d), What: view.Span(d),
		CSP:      "default-src 'none'; style-src " + hash(styleText) + "; script-src " + hash(scriptText) + "; base-uri 'none'; form-action 'none'",
		Style:    template.HTML("<style>" + styleText + "</style>"),
		Script:   template.HTML("<script>" + scriptText + "</script>"),
		Patterns: patterns(), Stack: newStack(d.Cost.Loss.Parts, d.Cost.Loss.LostS.Or(0), 30, "Lost job time by cause: "), Legend: legend(d.Cost.Loss.Parts),
		First: firstAdvice(d), Facts: view.Facts(d), Phases: phaseViews(d), PhasesNote: view.PhasesNote(d), Marks: markLegend(), Heat: newHeat(d), Advice: adviceViews(d),
		ReplayWords: view.ReplayWords(d), Papers: paperViews(d.Papers), Queries: view.QueryHelp(d), Sources: view.Sources(d),
		Tables: pageTables{newTable(view.ApplicationsTable(d)), newTable(view.CaveatsTable(d)), newTable(view.RejectsTable(d)), newTable(view.IngestsTable(d)),
			newTable(view.CausesTable(d)), newTable(view.JobsTable(d)), newTable(view.PhasesTable(d)), outliersView(d), newTable(view.MachinesTable(d)), savingsView(d), newTable(view.SkewTable(d)), newTable(view.ChainsTable(d))}}
	for i := range d.Timelines {
		v := newTimelineView(&d.Timelines[i])
		v.Picked = true
		p.Timelines = append(p.Timelines, v)
	}
	for _, t := range []*report.Timeline{d.Whatif.Before, d.Whatif.After} {
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
			out = append(out, prose.Clean(f.Figure, 24)+": "+prose.Clean(f.Note, prose.TextRunes))
		}
	}
	return out
}

// ShowPapers is what opens the papers' figures.
func (p *page) ShowPapers() string {
	return "Show " + prose.Plural(int64(len(p.Papers)), "figure", "figures")
}

// HasWhatif says that there is something to show of replays.
func (p *page) HasWhatif() bool {
	return len(p.Tables.Whatif.Rows) > 0 || p.Tables.Whatif.Empty != p.D.Whatif.Savings.Note && p.D.Trust.Counts.Attempts > 0 || len(p.Replayed) > 0
}

//go:embed page.tmpl
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// hash is the source expression of an inline block for the content security policy.
func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Style is the style sheet of the page, for pages that are to look like it.
func Style() string { return styleText }

//go:embed style.css
var styleText string

//go:embed script.js
var scriptText string
