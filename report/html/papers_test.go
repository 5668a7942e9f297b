package html

import (
	"strings"
	"testing"

	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// The papers' figures are drawn with their units, lines without points are left out, and invalid values do no harm.
func TestPapers(t *testing.T) {
	var points []report.PaperFigure
	for i, x := range []float64{0, 0.1, 0.5} {
		points = append(points, report.PaperFigure{Figure: "mantri-7", Title: "share of slot time <b>", Series: "network", X: x,
			Y: schema.Some(0.9 - float64(i)*0.4), N: schema.Some[int64](20)},
			report.PaperFigure{Figure: "mantri-7", Title: "share of slot time <b>", Series: "nothing", X: x})
	}
	for _, x := range []float64{10, 50, 1e18} {
		points = append(points, report.PaperFigure{Figure: "dolly-1", Title: "slowdown", Series: "slowdown ratio", X: x, Y: schema.Some(x / 10)})
	}
	points = append(points, report.PaperFigure{Figure: "empty", Series: "none", X: 1})
	views := paperViews(points)
	if len(views) != 2 {
		t.Fatalf("%d figures, want 2", len(views))
	}
	if l := views[0].Lines; len(l) != 1 || l[0].Class != "s-network" || len(l[0].Dots) != 3 || len(l[0].Segments) != 2 {
		t.Errorf("%+v", l)
	}
	if got := views[0].Lines[0].Dots[1]; got.X != "50.00" || got.Title != "network at 10"+prose.NBSP+"%: 50"+prose.NBSP+"% (n = 20)" {
		t.Errorf("%+v", got)
	}
	if got := views[1].XTicks; got[0].Text != "10" || got[2].Text != "more" {
		t.Errorf("%+v", got)
	}
	d := &report.Document{Papers: points}
	page := rendered(t, d)
	wellFormed(t, page)
	if !strings.Contains(page, "figures, on these logs") {
		t.Error("the figures are not on the page")
	}
}
