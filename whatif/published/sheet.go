package published

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// sheet is a run prepared for display: text only.
type sheet struct {
	Verdict, Rest string
	Verdicts      []meaning
	Lost          []string
	Papers        []paperSheet
}

// meaning is what a verdict says.
type meaning struct {
	Verdict Verdict
	Text    string
}

var verdicts = []meaning{
	{Met, "ours is within the tolerance of the published number"},
	{Missed, "ours is not; the note says why"},
	{Inside, "the published number lies in our band, the range of ours over what the paper leaves open"},
	{Wide, "it does, but the band is wider than the number itself and so says little"},
	{Inconclusive, "it does, but a policy that does nothing, or ours without its main rule, reaches the number, too"},
	{Outside, "the published number lies outside our band; the note says why"},
	{NotTried, "the number cannot be rebuilt; the note names what the paper does not say"},
}

type paperSheet struct {
	ID, Name, Title string
	Tally           Tally
	Groups          []groupSheet
	Figures         []figureSheet
	Assumptions     []string // of its experiments
}

// groupSheet is rows of one paper that are shown together.
type groupSheet struct {
	Title, About string
	Closed       bool // shown only when opened
	Rows         []rowSheet
}

type rowSheet struct {
	Section, Quantity, Published, Ours, Tolerance, Verdict, Seconds string

	Note string
	// Results of policies that do nothing, and of ours without their main rules; empty if the number does not depend on
	// policies.
	NoAction, WithoutRule string
	Assumptions           []int // in the list of the paper, from 1
	Picture               *picture
}

// picture is the positions of the published number, its tolerance and ours, in percent of the width.
type picture struct {
	Title                      string
	Low, Wide, Published, Ours float64
	Far                        bool
}

// Summary counts rows by verdict, in sentences.
func Summary(rows []Row) string {
	verdict, rest := counted(rows)
	return verdict + " " + rest
}

func counted(rows []Row) (verdict, rest string) {
	n := Count(rows)
	return fmt.Sprintf("Of the %d published numbers that count, %d are met and %d missed.", n.Met+n.Missed, n.Met, n.Missed),
		fmt.Sprintf("For %d others the papers leave a parameter open, and ours is a band: %d lie inside it, %d in a wide one, "+
			"%d are inconclusive, and %d lie outside. %d numbers are baselines, and %d cannot be rebuilt.",
			n.Inside+n.Wide+n.Inconclusive+n.Outside, n.Inside, n.Wide, n.Inconclusive, n.Outside, n.Baselines, n.NotTried)
}

func newSheet(rows []Row, figures []Figure) *sheet {
	s := &sheet{Verdicts: verdicts}
	s.Verdict, s.Rest = counted(rows)
	for _, key := range Lost(rows) {
		s.Lost = append(s.Lost, strings.ReplaceAll(key, "\t", " "))
	}
	for _, p := range papers() {
		var own []Row
		for i := range rows {
			if rows[i].Paper == p.Name {
				own = append(own, rows[i])
			}
		}
		if len(own) > 0 {
			x := newPaperSheet(p, own)
			for n := range figures {
				if figures[n].Paper == p.Name {
					x.Figures = append(x.Figures, newFigureSheet(n+1, &figures[n]))
				}
			}
			s.Papers = append(s.Papers, x)
		}
	}
	return s
}

func newPaperSheet(p Paper, rows []Row) paperSheet {
	s := paperSheet{ID: strings.ToLower(p.Name), Name: p.Name, Title: p.Title, Tally: Count(rows), Groups: []groupSheet{
		{Title: "Numbers that count", About: "Ours must be within the tolerance; a policy that does nothing, and ours without its main rule, must not."},
		{Title: "Bands", About: "Ours is a range over what the paper leaves open; the dot is the published number."},
		{Title: "Baselines", About: "Numbers of other policies or of the cluster. They check the experiment and do not count.", Closed: true},
		{Title: "Not tried", About: "These cannot be rebuilt; the note names what the paper does not say.", Closed: true},
	}}
	for i := range rows {
		r := &rows[i]
		ours, tolerance := r.Result()
		x := rowSheet{
			Section: r.Section, Quantity: r.Quantity, Published: Number(r.Published), Ours: ours, Tolerance: tolerance,
			Verdict: string(r.Verdict), Note: r.Note, Seconds: strconv.FormatFloat(r.Seconds, 'f', 1, 64), Picture: newPicture(r),
		}
		if r.Kind == Rebuilt {
			x.Verdict += ", " + string(r.Kind)
		}
		if r.dependsOnPolicies() && !math.IsNaN(r.NoAction.Low+r.WithoutRule.Low) {
			x.NoAction, x.WithoutRule = r.NoAction.String(), r.WithoutRule.String()
		}
		for _, how := range r.Assumed {
			n := slices.Index(s.Assumptions, how)
			if n < 0 {
				n, s.Assumptions = len(s.Assumptions), append(s.Assumptions, how)
			}
			x.Assumptions = append(x.Assumptions, n+1)
		}
		slices.Sort(x.Assumptions)
		g := &s.Groups[groupOf(r)]
		g.Rows = append(g.Rows, x)
	}
	s.Groups = slices.DeleteFunc(s.Groups, func(g groupSheet) bool { return len(g.Rows) == 0 })
	return s
}

// groupOf returns the group of newPaperSheet that contains a row.
func groupOf(r *Row) int {
	switch r.Kind {
	case Band:
		return 1
	case Baseline:
		return 2
	case Missing:
		return 3
	}
	return 0
}

// Result returns ours and its tolerance as text: of a band, its range and a dash.
func (r *Row) Result() (ours, tolerance string) {
	if r.Kind == Band {
		return r.span().String(), "–"
	}
	return Number(r.Ours), Number(r.Tolerance)
}

// Number formats a number with four digits; a missing one is a dash.
func Number(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	if math.Abs(x) < 1e-6 {
		return "0"
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// newPicture returns nil for numbers that were not tried.
func newPicture(r *Row) *picture {
	if r.Verdict == NotTried {
		return nil
	}
	low, high := min(r.Published-r.Tolerance, r.Ours), max(r.Published+r.Tolerance, r.Ours)
	if high <= low {
		low, high = low-1, high+1
	}
	at := func(x float64) float64 { return math.Round(1000*(4+92*(x-low)/(high-low))) / 1000 }
	from := at(r.Published - r.Tolerance)
	if r.Kind == Band { // the band is ours, and the published number lies in it or not
		low, high = min(r.Published, r.Ours-r.Tolerance), max(r.Published, r.Ours+r.Tolerance)
		if high <= low {
			low, high = low-1, high+1
		}
		from = at(r.Ours - r.Tolerance)
		return &picture{
			Title: fmt.Sprintf("published %s, ours %s", Number(r.Published), r.span()),
			Low:   from, Wide: math.Round(1000*(at(r.Ours+r.Tolerance)-from)) / 1000, Published: at(r.Published), Ours: at(r.Published), Far: r.Verdict == Outside,
		}
	}
	return &picture{
		Title: fmt.Sprintf("published %s ± %s, ours %s", Number(r.Published), Number(r.Tolerance), Number(r.Ours)),
		Low:   from, Wide: math.Round(1000*(at(r.Published+r.Tolerance)-from)) / 1000, Published: at(r.Published), Ours: at(r.Ours), Far: r.Verdict == Missed,
	}
}
