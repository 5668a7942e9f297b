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
	Lost          []string
	Papers        []paperSheet
}

type paperSheet struct {
	ID, Name, Title string
	Tally           Tally
	Groups          []groupSheet
	Figures         []figureSheet
	Notes           []string // those that several rows share
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
	Numbered              int // of the shared note, from 1; 0: the note is the row's own
	Picture               *picture
}

// picture is the positions of the published number, its tolerance and ours, in percent of the width.
type picture struct {
	Title                      string
	Low, Wide, Published, Ours float64
	Far                        bool
}

func newSheet(rows []Row, figures []Figure) *sheet {
	n := Count(rows)
	s := &sheet{
		Verdict: fmt.Sprintf("Of the %d published numbers that count, %d are met and %d missed.", n.Met+n.Missed, n.Met, n.Missed),
		Rest: fmt.Sprintf("For %d others the papers leave a parameter open: %d lie inside our band, %d in a band that is wider than the number itself, "+
			"%d in a band that tells nothing, because a policy that does nothing, or ours without its main rule, reaches the number, too, "+
			"and %d outside our band. %d numbers only describe what is compared with, and %d cannot be rebuilt.",
			n.Inside+n.Wide+n.Untold+n.Outside, n.Inside, n.Wide, n.Untold, n.Outside, n.Baselines, n.NotTried),
	}
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
		{Title: "Bands", About: "Ours is a range over what the paper leaves open; the dot is the published number. " +
			"It counts as inside only if it is outside the ranges of a policy that does nothing and of ours without its main rule."},
		{Title: "What they are compared with", About: "Numbers of other policies or of the cluster, " +
			"which check the experiment and do not count.", Closed: true},
		{Title: "Not tried", About: "The note names what the paper does not say.", Closed: true},
	}}
	notes := make([]string, len(rows))
	for i := range rows {
		notes[i] = rows[i].Note
	}
	for i := range rows {
		r := &rows[i]
		x := rowSheet{
			Section: r.Section, Quantity: r.Quantity, Published: number(r.Published), Ours: number(r.Ours), Tolerance: number(r.Tolerance),
			Verdict: string(r.Verdict), Seconds: strconv.FormatFloat(r.Seconds, 'f', 1, 64), Picture: newPicture(r),
		}
		if r.Kind == Rebuilt {
			x.Verdict += ", " + string(r.Kind)
		}
		if r.tried() && !math.IsNaN(r.NoAction.Low+r.WithoutRule.Low) {
			x.NoAction, x.WithoutRule = r.NoAction.String(), r.WithoutRule.String()
		}
		own, shared := sharedNote(notes, i)
		if x.Note = own; shared != "" {
			if !slices.Contains(s.Notes, shared) {
				s.Notes = append(s.Notes, shared)
			}
			x.Numbered = slices.Index(s.Notes, shared) + 1
		}
		if r.Kind == Band {
			x.Ours, x.Tolerance = r.span().String(), "–"
		}
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

// sharedNote splits the note of a row into its own part and the end that notes of other rows share: all of it, or the text
// after a semicolon.
func sharedNote(notes []string, i int) (own, shared string) {
	const worth = 80 // bytes; a shorter end is not split off
	at := 0
	for {
		rest := notes[i][at:]
		if len(rest) < worth && at > 0 || rest == "" {
			return notes[i], ""
		}
		for j := range notes {
			if j != i && strings.HasSuffix(notes[j], rest) && (len(rest) >= worth || notes[j] == rest) {
				return strings.TrimSuffix(notes[i][:at], "; "), rest
			}
		}
		n := strings.Index(rest, "; ")
		if n < 0 {
			return notes[i], ""
		}
		at += n + 2
	}
}

// number formats a number with four digits; a missing one is a dash.
func number(x float64) string {
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
			Title: fmt.Sprintf("published %s, ours %s", number(r.Published), r.span()),
			Low:   from, Wide: math.Round(1000*(at(r.Ours+r.Tolerance)-from)) / 1000, Published: at(r.Published), Ours: at(r.Published), Far: r.Verdict == Outside,
		}
	}
	return &picture{
		Title: fmt.Sprintf("published %s ± %s, ours %s", number(r.Published), number(r.Tolerance), number(r.Ours)),
		Low:   from, Wide: math.Round(1000*(at(r.Published+r.Tolerance)-from)) / 1000, Published: at(r.Published), Ours: at(r.Ours), Far: r.Verdict == Missed,
	}
}
