package causes

import (
	"context"
	_ "embed"
	"fmt"

	"straggler/schema"
	"straggler/store"
)

//go:embed paper_figures.sql
var paperFiguresSQL string

// PaperFiguresSQL is the query that gives the rows of PaperFigures; its head says what each figure shows.
func PaperFiguresSQL() string { return paperFiguresSQL }

// Figure is one point of one of the papers' figures, on this store.
type Figure struct {
	Figure string               `col:"figure" doc:"paper and number, such as mantri-2a"`
	Series string               `col:"series" doc:"which of the figure's lines"`
	X      float64              `col:"x" doc:"the threshold, see the title"`
	Y      schema.Null[float64] `col:"y" doc:"the share, or ratio, at x"`
	N      schema.Null[int64]   `col:"n" doc:"what it is a share of: phases, outliers, jobs, slot seconds"`
}

// figureTitles say what each figure shows, in the order of the papers.
var figureTitles = [...]struct{ name, title string }{
	{"mantri-2a", "share of phases in which more than x of the tasks are outliers (MANTRI figure 2a)"},
	{"mantri-2b", "share of outliers that lasted more than x times their phase's median (MANTRI figure 2b)"},
	{"mantri-3a", "share of phases with outliers in which more than x of them are explained by the data they read (MANTRI figure 3a)"},
	{"mantri-4", "share of jobs that would end more than x earlier without the network's part (after MANTRI figure 4)"},
	{"mantri-6", "share of outliers, and of lost outputs, on the share x of machines that have most of them (after MANTRI figures 5 and 6)"},
	{"mantri-7", "share of slot time in jobs that would end more than x earlier without a cause (MANTRI figure 7)"},
	{"dolly-1", "median slowdown ratio of the phases of jobs with up to x tasks (DOLLY figure 1)"},
	{"dolly-2", "share of slot time used by the share x of jobs that have the fewest tasks (DOLLY figure 2a)"},
	{"dolly-3", "probability that a job of x tasks straggles when tasks, or jobs, are run twice, at this store's share of stragglers (DOLLY figure 3)"},
}

// FigureTitle says what a figure shows; "" where there is no such figure.
func FigureTitle(name string) string {
	for _, t := range figureTitles {
		if t.name == name {
			return t.title
		}
	}
	return ""
}

// PaperFigures draws the figures of the papers from a store that detect and causes have run on.
func PaperFigures(ctx context.Context, eng store.Engine) ([]Figure, error) {
	var out []Figure
	for f, err := range store.Read[Figure](ctx, eng, paperFiguresSQL) {
		if err != nil {
			return nil, fmt.Errorf("causes: the papers' figures: %w", err)
		}
		out = append(out, *f)
	}
	return out, nil
}
