package published

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"straggler/whatif/simulate"
)

var update = flag.Bool("update", false, "write the record of the numbers that are met anew")

// Numbers that follow from the papers' rules alone must be met. Those that had to be rebuilt from a paper's figures may be
// missed, but must then say why. What was met when the record was written is still met.
func TestRows(t *testing.T) {
	rows, figures, err := ours()
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, rows, figures)
	seen := map[string]bool{}
	for i := range rows {
		r := &rows[i]
		if seen[r.Key()] {
			t.Errorf("two rows are called %q", r.Key())
		}
		seen[r.Key()] = true
		checkRow(t, r)
		t.Logf("%-8s %-6s %-14s %-100s published %8.3f  ours %8.3f  ± %-6.3g %-9s %.1f s", r.Kind, r.Paper, r.Section, r.Quantity, r.Published, r.Ours, r.Tolerance, r.Verdict, r.Seconds)
	}
	n := Count(rows)
	t.Logf("%+v", n)
	if *update {
		if err := os.WriteFile("passing.tsv", []byte(recordOf(rows)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, key := range Lost(rows) {
		t.Errorf("was met, and is not any more: %s; if that is right, go test ./whatif/published -run TestRows -update", key)
	}
}

// checkFigures looks up every number of a figure among the rows: a figure must not show numbers that differ from the table.
func checkFigures(t *testing.T, rows []Row, figures []Figure) {
	for _, d := range drawings {
		for _, b := range d.bars {
			if !slices.ContainsFunc(rows, func(r Row) bool {
				return r.Paper == d.paper && r.Quantity == b[1]
			}) {
				t.Errorf("%s %s: no row is called %q", d.paper, d.section, b[1])
			}
		}
	}
	for _, f := range figures {
		for _, c := range f.Curves {
			for n, p := range c.Points {
				if math.IsNaN(p.X) || n > 0 && (p.X < c.Points[n-1].X || p.Share < c.Points[n-1].Share) {
					t.Errorf("%s %s, %s: a distribution falls or is unknown at %+v", f.Paper, f.Title, c.Name, p)
				}
			}
		}
	}
}

func checkRow(t *testing.T, r *Row) {
	switch {
	case r.Verdict == NotTried:
		if !math.IsNaN(r.Ours) || r.Note == "" {
			t.Errorf("%s: not tried, but ours is %v, and the reason is %q", r.Key(), r.Ours, r.Note)
		}
	case math.IsNaN(r.Ours) || math.IsInf(r.Ours, 0):
		t.Errorf("%s: ours is %v", r.Key(), r.Ours)
	case (r.Kind == Rule || r.Kind == Replayed) && r.Verdict != Met:
		t.Errorf("%s: published %g, ours %g, more than %g apart", r.Key(), r.Published, r.Ours, r.Tolerance)
	case (r.Kind == Rebuilt || r.Kind == Band) && r.Note == "" && len(r.Assumed) == 0:
		t.Errorf("%s: published %g, ours %g, and no word of what was assumed", r.Key(), r.Published, r.Ours)
	}
}

// The record reports a number that is missed and one whose row is gone, and ignores papers that were not run.
func TestLost(t *testing.T) {
	first, _, _ := strings.Cut(record, "\n")
	f := strings.Split(first, "\t")
	if len(f) != 3 {
		t.Fatalf("the record begins with %q", first)
	}
	has := func(rows []Row) bool {
		for _, key := range Lost(rows) {
			if key == first {
				return true
			}
		}
		return false
	}
	row := Row{Paper: f[0], Section: f[1], Quantity: f[2], Kind: Rebuilt, Verdict: Met}
	missed, other, elsewhere := row, row, row
	missed.Verdict, other.Quantity, elsewhere.Paper = Missed, "another", "ANOTHER"
	for _, c := range []struct {
		row  Row
		want bool
	}{{row, false}, {missed, true}, {other, true}, {elsewhere, false}} {
		if has([]Row{c.row}) != c.want {
			t.Errorf("%+v: %q is lost: want %v", c.row, first, c.want)
		}
	}
	timed := row
	timed.Timed = true
	if got := recordOf([]Row{timed, missed, row}); got != first+"\n" {
		t.Errorf("the record of a number that is met, one that is missed and a time is %q", got)
	}
}

// Cancelling stops the experiments.
func TestRunCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Run(ctx, nil, Options{}); err == nil {
		t.Error("no error from a cancelled run")
	}
}

// The arrivals of Facebook's jobs in SWIM come in bursts: Dolly and fair sharing are tried under them too.
func TestSWIM(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(cmp.Or(os.Getenv("STRAGGLER_CORPUS"), "../../../shared/corpus"), "swim", "FB-2010_samples_24_times_1hr_withInputPaths_0.tsv"))
	if err != nil {
		t.Skip(err)
	}
	l := shipped
	l.solved = solvedOnce
	for line := range strings.Lines(string(data)) {
		at, err := strconv.ParseFloat(strings.Split(line, "\t")[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		l.arrivals = append(l.arrivals, at)
	}
	ctx, x := context.Background(), &traces[0]
	dolly, fair := table{lab: l, paper: "DOLLY"}, table{lab: l, paper: "FAIR"}
	solved, err := dolly.straggling(ctx, x, 1, dollyForms[0])
	if err != nil {
		t.Fatal(err)
	}
	text, err := simulate.ExampleText("fair")
	if err != nil {
		t.Fatal(err)
	}
	w, err := simulate.Parse("fair.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(dolly.dollySWIM(ctx, x, 1, solved), fair.fairSWIM(ctx, w)); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, rows := range [][]Row{dolly.rows, fair.rows} {
		for i := range rows {
			r := &rows[i]
			found++
			t.Logf("%s: published %.2f, ours %.3f to %.3f, %s", r.Key(), r.Published, r.Ours-r.Tolerance, r.Ours+r.Tolerance, r.Verdict)
			if !(r.Ours-r.Tolerance > 0) { // bursts reduce the gains, but not to nothing
				t.Errorf("%s: ours is %g ± %g", r.Key(), r.Ours, r.Tolerance)
			}
		}
	}
	if found != 3 {
		t.Errorf("%d numbers of the arrivals of a SWIM file, want 3", found)
	}
}

// recordOf returns the record of a run.
func recordOf(rows []Row) string {
	var keys []string
	for i := range rows {
		if rows[i].holds() && !rows[i].Timed {
			keys = append(keys, rows[i].Key()+"\n")
		}
	}
	slices.Sort(keys)
	return strings.Join(keys, "")
}
