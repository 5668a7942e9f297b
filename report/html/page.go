package html

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
)

// Write writes a report. Its size is bounded whatever the input, because every list of a Document is, and every name is
// cut.
func Write(w io.Writer, d *report.Document) error {
	return writePage(w, page{Title: view.Title(d), Subtitle: view.Span(d), Summary: d, Filter: true, Sections: view.Sections(d),
		Footer: []string{view.QueryHelp(d), "Made by straggler from " + view.Sources(d) + ". This file loads nothing from anywhere."}})
}

// WriteSimulation writes the report on a simulation.
func WriteSimulation(w io.Writer, d *report.Simulation) error {
	return writePage(w, page{Title: prose.Clean(d.Workload, prose.NameRunes), Subtitle: view.SimulationLead(d), Sections: view.SimulationSections(d)})
}

// page is the content of a page.
type page struct {
	Title    string
	Subtitle string
	Summary  *report.Document // its headline is shown above the sections; nil for none
	Filter   bool             // the rows of the sections can be filtered
	Sections []view.Section
	Footer   []string
}

// writePage writes a page as one file that loads nothing.
func writePage(w io.Writer, p page) error {
	b := bufio.NewWriter(w)
	if err := pageTemplate.ExecuteTemplate(b, "page", newPage(p)); err != nil {
		return fmt.Errorf("report: writing HTML: %w", err)
	}
	return b.Flush()
}

// pageView is a page as the template takes it: text that html/template escapes, and numbers for the charts.
type pageView struct {
	page
	CSP      string
	Style    template.HTML
	Script   template.HTML
	Patterns []pattern
	Headline *headlineView
	Sections []*sectionView
}

// headlineView is the summary of a report.
type headlineView struct {
	report.Headline
	Stack  *stackView
	Legend []keyView
	First  *firstView
}

func newPage(p page) *pageView {
	v := &pageView{page: p, Patterns: patterns(),
		CSP:    "default-src 'none'; style-src " + hash(styleText) + "; script-src " + hash(scriptText) + "; base-uri 'none'; form-action 'none'",
		Style:  template.HTML("<style>" + styleText + "</style>"),
		Script: template.HTML("<script>" + scriptText + "</script>")}
	if p.Summary != nil {
		v.Headline = newHeadline(p.Summary)
	}
	for _, s := range p.Sections {
		if section := newSection(s); section != nil {
			v.Sections = append(v.Sections, section)
		}
	}
	return v
}

func newHeadline(d *report.Document) *headlineView {
	return &headlineView{d.Headline, newStack(d.Cost.Loss.Parts, d.Cost.Loss.LostS.Or(0), 30, "Lost job time by cause: "),
		legend(d.Cost.Loss.Parts), firstAdvice(d.Advice)}
}

//go:embed page.tmpl blocks.tmpl
var templates embed.FS

var pageTemplate = template.Must(template.ParseFS(templates, "*.tmpl"))

// hash returns the source expression of an inline block for the content security policy.
func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Style returns the style sheet of the page, for pages that are to look like it.
func Style() string { return styleText }

//go:embed style.css
var styleText string

//go:embed script.js
var scriptText string
