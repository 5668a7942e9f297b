package published

import (
	"fmt"
	"math"
)

// Row is a published number beside ours.
type Row struct {
	Paper       string
	Section     string
	Quantity    string
	Published   float64
	Ours        float64 // NaN if not tried; the middle of a band
	Tolerance   float64 // allowed difference, in the unit of the quantity; half the width of a band
	Kind        Kind
	Verdict     Verdict
	NoAction    Range    // result of a policy that does nothing in place of ours
	WithoutRule Range    // result of ours without its main rule
	Timed       bool     // it is a time of this machine, which is not in the record
	Note        string   // how the number was obtained, and the reason for a difference
	Assumed     []string // how the experiment was rebuilt
	Seconds     float64  // duration of the row's experiment
	part        int      // the number of that experiment in its paper
}

// Kind is the source of a number, and whether it counts.
type Kind string

const (
	Rule     Kind = "rule"     // follows from the rules alone, by their formulas or by the engine
	Replayed Kind = "replayed" // follows from the rules, in an example that is published completely
	Rebuilt  Kind = "rebuilt"  // of a cluster or workload with some assumed inputs
	Band     Kind = "band"     // ours over the plausible range of what the paper leaves open; counted separately
	Baseline Kind = "baseline" // of what a policy is compared with, or of the cluster; does not count
	Missing  Kind = "missing"  // cannot be rebuilt
)

// Verdict is the result for a published number.
type Verdict string

const (
	Met          Verdict = "met"
	Missed       Verdict = "missed"
	Inside       Verdict = "inside"       // the published number lies in our band
	Wide         Verdict = "wide"         // it does, but the band is wider than the number and says little
	Inconclusive Verdict = "inconclusive" // it does, but also in the band of a policy that does nothing, or of ours without its main rule
	Outside      Verdict = "outside"
	NotTried     Verdict = "not tried" // the note says which sentence is missing
)

// Key identifies the number.
func (r *Row) Key() string { return fmt.Sprintf("%s\t%s\t%s", r.Paper, r.Section, r.Quantity) }

// Counts reports whether the number is one that is met or missed.
func (r *Row) Counts() bool { return r.Kind == Rule || r.Kind == Replayed || r.Kind == Rebuilt }

// assume says how the experiment of the rows that are added from now on was rebuilt.
func (t *table) assume(how ...string) { t.assumed = how }

func (t *table) row(kind Kind, section, quantity string, published, ours, tolerance float64, note string) {
	v := Missed
	if math.Abs(ours-published) <= tolerance+1e-9 {
		v = Met
	}
	r := Row{
		Paper: t.paper, Section: section, Quantity: quantity, Published: published, Ours: ours, Tolerance: tolerance, Kind: kind, Verdict: v, Note: note, Assumed: t.assumed,
	}
	r.NoAction, r.WithoutRule = mutants(&r)
	t.rows = append(t.rows, r)
}

// rule adds a number that follows from the rules alone.
func (t *table) rule(section, quantity string, published, ours, tolerance float64, note string) {
	t.row(Rule, section, quantity, published, ours, tolerance, note)
}

// replayed adds a number of an example that is published completely.
func (t *table) replayed(section, quantity string, published, ours, tolerance float64, note string) {
	t.row(Replayed, section, quantity, published, ours, tolerance, note)
}

// rebuilt adds a number from a rebuilt cluster or workload, some of whose inputs are assumed.
func (t *table) rebuilt(section, quantity string, published, ours, tolerance float64, note string) {
	t.row(Rebuilt, section, quantity, published, ours, tolerance, note)
}

// baseline adds a number about what a policy is compared with.
func (t *table) baseline(section, quantity string, published, ours, tolerance float64, note string) {
	t.row(Baseline, section, quantity, published, ours, tolerance, note)
}

// band adds the range of ours over what the paper leaves open.
func (t *table) band(section, quantity string, published float64, ours []float64, note string) {
	t.bandOf(section, quantity, published, math.Abs(published), ours, note)
}

// bandOf adds a band of a number, such as a difference, whose size does not determine which width is too wide. Values of ours that
// are NaN, such as shares of nothing, are not part of the band.
func (t *table) bandOf(section, quantity string, published, widest float64, ours []float64, note string) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range ours {
		if !math.IsNaN(x) {
			low, high = min(low, x), max(high, x)
		}
	}
	t.row(Band, section, quantity, published, (low+high)/2, (high-low)/2, note)
	r := &t.rows[len(t.rows)-1]
	switch {
	case r.Verdict == Missed:
		r.Verdict = Outside
	case r.NoAction.has(published) || r.WithoutRule.has(published):
		r.Verdict = Inconclusive
	case high-low > widest: // a tolerance of half the width
		r.Verdict = Wide
	default:
		r.Verdict = Inside
	}
}

// timed adds a time that an experiment took. It depends on the machine and its load.
func (t *table) timed(section, quantity string, published, ours, tolerance float64, note string) {
	t.baseline(section, quantity, published, ours, tolerance, note)
	t.rows[len(t.rows)-1].Timed = true
}

// notTried adds a number that cannot be rebuilt.
func (t *table) notTried(section, quantity string, published float64, why string) {
	t.rows = append(t.rows, Row{
		Paper: t.paper, Section: section, Quantity: quantity, Published: published, Ours: math.NaN(), Tolerance: math.NaN(), Kind: Missing, Verdict: NotTried, Note: why,
	})
}

// Tally counts rows by verdict. Baselines are in neither of the first two.
type Tally struct{ Met, Missed, Inside, Wide, Inconclusive, Outside, Baselines, NotTried int }

// Count returns the tally of some rows.
func Count(rows []Row) (n Tally) {
	for i := range rows {
		switch r := &rows[i]; {
		case r.Verdict == NotTried:
			n.NotTried++
		case r.Kind == Baseline:
			n.Baselines++
		case r.Verdict == Inside:
			n.Inside++
		case r.Verdict == Wide:
			n.Wide++
		case r.Verdict == Inconclusive:
			n.Inconclusive++
		case r.Verdict == Outside:
			n.Outside++
		case r.Verdict == Met:
			n.Met++
		default:
			n.Missed++
		}
	}
	return n
}

// better returns 1 if a is less than b, else 0: for rows that only say which is better.
func better(a, b float64) float64 {
	if a < b {
		return 1
	}
	return 0
}
