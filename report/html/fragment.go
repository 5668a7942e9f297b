package html

import (
	"fmt"
	"io"

	"straggler/report"
	"straggler/report/view"
)

// The parts of a page, for servers whose pages have a frame of their own. They need Style, Script, and the patterns that
// causes are filled with.

// Script returns the script of the page: themes, sorting, the filter and timelines.
func Script() string { return scriptText }

// WritePatterns writes what the pictures of a page refer to, invisibly.
func WritePatterns(w io.Writer) error { return writeFragment(w, "patterns", patterns()) }

// WriteHeadline writes the summary of a document.
func WriteHeadline(w io.Writer, d *report.Document) error {
	return writeFragment(w, "headline", newHeadline(d))
}

// WriteFilter writes the form that filters the rows of all sections.
func WriteFilter(w io.Writer) error { return writeFragment(w, "filter", nil) }

// WriteSections writes sections without a frame around them.
func WriteSections(w io.Writer, sections []view.Section) error {
	for _, s := range sections {
		if section := newSection(s); section != nil {
			if err := writeFragment(w, "section", section); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeFragment(w io.Writer, name string, data any) error {
	if err := pageTemplate.ExecuteTemplate(w, name, data); err != nil {
		return fmt.Errorf("report: writing HTML: %w", err)
	}
	return nil
}
