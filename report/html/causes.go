package html

import (
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/report/view"
	"straggler/schema"
)

type keyView struct{ Class, Letter, Title, Amount string }

func classes(causes []schema.Cause) string {
	s := make([]string, len(causes))
	for i, c := range causes {
		s[i] = class(c)
	}
	return strings.Join(s, " ")
}

// legend names the parts of a bar; parts under a hundredth are summed up as others.
func legend(parts []report.LostPart) []keyView {
	whole, rest := 0.0, 0.0
	for _, p := range parts {
		whole += p.LostS
	}
	var keys []keyView
	for _, p := range parts {
		switch {
		case p.LostS >= 0.01*whole && p.LostS > 0:
			k := keyOf(p.Cause)
			k.Amount = prose.Seconds(p.LostS)
			keys = append(keys, k)
		default:
			rest += p.LostS
		}
	}
	if rest > 0 {
		keys = append(keys, keyView{Title: "others", Amount: prose.Seconds(rest)})
	}
	return keys
}

// stackView is a stacked bar; positions are percent of its width.
type stackView struct {
	Title  string
	Height int
	Parts  []stackPart
}

type stackPart struct{ X, W, Class, Title string }

func newStack(parts []report.LostPart, whole float64, height int, title string) *stackView {
	if !(whole > 0) {
		return nil
	}
	s := &stackView{Title: title + view.PartsText(parts), Height: height}
	x := 0.0
	for _, p := range parts {
		if w := 100 * p.LostS / whole; w > 0 {
			s.Parts = append(s.Parts, stackPart{pct(x), pct(w), class(p.Cause), report.InfoOf(p.Cause).Title + " " + prose.Seconds(p.LostS)})
			x += w
		}
	}
	return s
}

// pattern distinguishes a cause from the others without colour.
type pattern struct {
	Class, Hatch string
	Size         int
	Dots         []struct{ X, Y int }
}

func patterns() []pattern {
	type dot = struct{ X, Y int }
	return []pattern{
		{Class: "bad_machine", Size: 8},
		{Class: "data_skew", Size: 8, Hatch: "M-2 2L2 -2M0 8L8 0M6 10L10 6"},
		{Class: "network", Size: 6, Dots: []dot{{1, 1}, {4, 4}}},
		{Class: "recompute", Size: 6, Hatch: "M0 3H6"},
		{Class: "gc", Size: 6, Hatch: "M0 3H6M3 0V6"},
		{Class: "spill", Size: 5, Hatch: "M2.5 0V5"},
		{Class: "scheduler", Size: 8, Hatch: "M-2 6L2 10M0 0L8 8M6 -2L10 2"},
		{Class: "deserialize", Size: 8, Hatch: "M0 4L4 0L8 4M0 8L4 4L8 8"},
		{Class: "locality", Size: 10, Hatch: "M0 5H10"},
		{Class: "startup", Size: 6, Hatch: "M0 6L3 0L6 6"},
		{Class: "transient", Size: 8, Dots: []dot{{4, 4}}},
		{Class: "unexplained", Size: 8},
		{Class: "late", Size: 4, Hatch: "M-1 1L1 -1M0 4L4 0M3 5L5 3"},
	}
}

func keyOf(c schema.Cause) keyView {
	i := report.InfoOf(c)
	return keyView{Class: class(c), Letter: i.Letter, Title: i.Title}
}

// class returns the name of a cause in the style sheet.
func class(c schema.Cause) string {
	if c == report.NotOutlier {
		return "late"
	}
	if i := report.InfoOf(c); i.Cause == c {
		return string(c)
	}
	return string(schema.UnexplainedCause)
}
