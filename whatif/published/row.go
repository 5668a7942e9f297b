package published

import (
	"fmt"
	"math"
)

// Row is a published number beside ours.
type Row struct {
	Paper     string
	Section   string
	Quantity  string
	Published float64
	Ours      float64 // NaN where it was not tried
	Tolerance float64 // how far apart they may be, in the unit of the quantity
	Verdict   Verdict
	Rebuilt   bool    // inputs had to be assumed, so that ours need not be within the tolerance
	Timed     bool    // it is a time of this machine, which the record leaves out
	Note      string  // what was assumed, and why they differ where they do
	Seconds   float64 // that the experiment of the row took
}

// Verdict is what came of a published number.
type Verdict string

const (
	Met      Verdict = "met"
	Missed   Verdict = "missed"
	NotTried Verdict = "not tried" // it can not be rebuilt, and the note says why
)

// Key names the number.
func (r *Row) Key() string { return fmt.Sprintf("%s\t%s\t%s", r.Paper, r.Section, r.Quantity) }

// add adds a number that follows from the rules alone.
func (t *table) add(section, quantity string, published, ours, tolerance float64, note string) {
	v := Missed
	if math.Abs(ours-published) <= tolerance+1e-9 {
		v = Met
	}
	t.rows = append(t.rows, Row{
		Paper: t.paper, Section: section, Quantity: quantity, Published: published, Ours: ours, Tolerance: tolerance, Verdict: v, Note: note,
	})
}

// rebuilt adds a number from a cluster or workload that had to be rebuilt, some of whose inputs are assumed.
func (t *table) rebuilt(section, quantity string, published, ours, tolerance float64, note string) {
	t.add(section, quantity, published, ours, tolerance, note)
	t.rows[len(t.rows)-1].Rebuilt = true
}

// timed adds a time that an experiment took. It depends on the machine and on what else runs there.
func (t *table) timed(section, quantity string, published, ours, tolerance float64, note string) {
	t.rebuilt(section, quantity, published, ours, tolerance, note)
	t.rows[len(t.rows)-1].Timed = true
}

// notTried adds a number that can not be rebuilt.
func (t *table) notTried(section, quantity string, published float64, why string) {
	t.rows = append(t.rows, Row{
		Paper: t.paper, Section: section, Quantity: quantity, Published: published, Ours: math.NaN(), Tolerance: math.NaN(), Verdict: NotTried, Note: why,
	})
}

// Tally counts rows by verdict.
type Tally struct{ Met, Missed, NotTried int }

// Count is the tally of some rows.
func Count(rows []Row) (n Tally) {
	for i := range rows {
		switch rows[i].Verdict {
		case Met:
			n.Met++
		case Missed:
			n.Missed++
		default:
			n.NotTried++
		}
	}
	return n
}

// better is 1 when a is less than b, else 0: a row that only says which is better.
func better(a, b float64) float64 {
	if a < b {
		return 1
	}
	return 0
}
