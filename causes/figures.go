package causes

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"

	"straggler/engine"
	"straggler/schema"
)

//go:embed paper_figures.sql
var paperFiguresSQL string

// Figure is one point of a figure of one of the papers, computed from this store.
type Figure struct {
	Figure string               `col:"figure" doc:"paper and number, such as mantri-2a"`
	Series string               `col:"series" doc:"which of the figure's lines"`
	X      float64              `col:"x" doc:"the threshold, see the title"`
	Y      schema.Null[float64] `col:"y" doc:"the share, or ratio, at x"`
	N      schema.Null[int64]   `col:"n" doc:"what it is a share of: phases, outliers, jobs, slot seconds"`
	Note   string               `col:"note" doc:"of a figure that cannot be drawn: what the store lacks"`
}

// paperFigures lists what each figure shows, in the order of the papers, and which data it needs.
var paperFigures = [...]struct{ name, title, needs string }{
	{"mantri-2a", "share of phases in which more than x of the tasks are outliers (MANTRI figure 2a)", "phases with the durations of successful attempts"},
	{"mantri-2b", "share of outliers that lasted more than x times their phase's median (MANTRI figure 2b)", "outliers"},
	{"mantri-3a", "share of phases with outliers in which more than x of them are explained by the data they read (MANTRI figure 3a)", "outliers"},
	{"mantri-3b", "share of phases in which more than x of the tasks are slow for the data they read, and no outliers (MANTRI figure 3b)", "input bytes of five attempts or more of a phase"},
	{"mantri-4", "share of phases in which more than x of the slot time was waiting for blocks, the most that placement could save; of jobs that would end more than x earlier without the network's part (after MANTRI figure 4)", "edges between phases and the time that attempts waited for blocks"},
	{"mantri-5a", "share of lost outputs on the share x of machines that lost most (MANTRI figure 5)", "lost outputs, with their machines"},
	{"mantri-5b", "share of lost outputs whose machine's processor, or memory, was then used over x times its average (MANTRI figure 5)", "lost outputs, and machine_usage of the same machines and times"},
	{"mantri-6", "share of outliers, and of lost outputs, on the share x of machines, or in the share x of the time, that has most of them (after MANTRI figure 6)", "outliers on named machines, or with a start"},
	{"mantri-7", "share of slot time in jobs that would end more than x earlier without a cause, or without all (MANTRI figure 7)",
		"jobs with outliers, a start and an end"},
	{"dolly-1", "median slowdown ratio of the phases of jobs with up to x tasks (DOLLY figure 1)", "phases of three tasks or more"},
	{"dolly-2", "share of slot time used by the share x of jobs that have the fewest tasks (DOLLY figure 2a)", "jobs with the durations of attempts"},
	{"dolly-2b", "share of jobs that use more than x seconds of slots (DOLLY figure 2b)", "jobs with the durations of attempts"},
	{"dolly-3", "probability that a job of x tasks straggles when tasks, or jobs, are run twice, at this store's share of stragglers (DOLLY figure 3)", "phases of three tasks or more"},
}

// FigureTitle returns the title of a figure; "" if there is no such figure.
func FigureTitle(name string) string {
	for _, t := range paperFigures {
		if t.name == name {
			return t.title
		}
	}
	return ""
}

// PaperFigures computes the figures of the papers from a store on which detect and causes have run. A figure that cannot be
// computed has one row without values, with a note.
func PaperFigures(ctx context.Context, eng engine.Engine) ([]Figure, error) {
	var out []Figure
	for f, err := range engine.ReadParts[Figure](ctx, eng, "paper_figures", paperFiguresSQL) {
		if err != nil {
			return nil, fmt.Errorf("causes: the papers' figures: %w", err)
		}
		f.Y.V = sameDigits(f.Y.V)
		out = append(out, *f)
	}
	drawn := map[string]bool{}
	for _, f := range out {
		drawn[f.Figure] = drawn[f.Figure] || f.Y.OK
	}
	out = slices.DeleteFunc(out, func(f Figure) bool { return !drawn[f.Figure] })
	for _, p := range paperFigures {
		if !drawn[p.name] {
			out = append(out, Figure{Figure: p.name, N: schema.Some[int64](0), Note: "cannot tell: it needs " + p.needs})
		}
	}
	return out, nil
}

// sameDigits rounds to nine digits: the last digits of a power, which dolly-3 shows, differ between engines.
func sameDigits(y float64) float64 {
	z, err := strconv.ParseFloat(strconv.FormatFloat(y, 'g', 9, 64), 64)
	if err != nil {
		return y
	}
	return z
}
