// Package html takes a Document and writes one HTML file that loads nothing: its style, script and pictures are inside.
//
//  1. page.go fills page.tmpl with sections, and section.go those with blocks, each of which blocks.tmpl has a template for.
//  2. table.go, savings.go and advice.go make the views of text; html/template escapes it.
//  3. phases.go, plan.go, history.go, timeline.go, heat.go, simulation.go and papers.go make the views of pictures.
//  4. causes.go has the colours and patterns of causes, axis.go the scales of charts.
//  5. fragment.go gives the parts of a page to servers whose pages have a frame of their own.
//
// Start with page.go.
package html
