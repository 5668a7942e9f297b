package published

import (
	"context"
	"math"
	"testing"
)

// What follows from the papers' rules alone must be met. What had to be rebuilt from a paper's figures may miss, and then
// says why.
func TestRows(t *testing.T) {
	rows, err := Rows(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	exact, within, rebuilt := 0, 0, 0
	for _, r := range rows {
		switch {
		case math.IsNaN(r.Ours) || math.IsInf(r.Ours, 0):
			t.Errorf("%s %s %s: ours is %v", r.Paper, r.Section, r.Quantity, r.Ours)
		case !r.Rebuilt && !r.Within:
			t.Errorf("%s %s %s: published %g, ours %g, more than %g apart", r.Paper, r.Section, r.Quantity, r.Published, r.Ours, r.Tolerance)
		case !r.Rebuilt:
			exact++
		case !r.Within && r.Note == "":
			t.Errorf("%s %s %s: published %g, ours %g, and no word why", r.Paper, r.Section, r.Quantity, r.Published, r.Ours)
		default:
			rebuilt++
			if r.Within {
				within++
			}
		}
		t.Logf("%-6s %-14s %-100s published %8.3f  ours %8.3f  ± %-6.3g within %v", r.Paper, r.Section, r.Quantity, r.Published, r.Ours, r.Tolerance, r.Within)
	}
	t.Logf("%d numbers from rules alone met; of %d from rebuilt experiments %d are within their tolerance", exact, rebuilt, within)
	if exact < 15 {
		t.Errorf("only %d numbers follow from rules alone", exact)
	}
}

// Cancelling stops the experiments.
func TestRowsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Rows(ctx); err == nil {
		t.Error("no error from a cancelled run")
	}
}
