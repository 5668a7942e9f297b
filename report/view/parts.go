package view

import (
	"cmp"
	"slices"
	"strings"

	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// PartsText lists the parts of a stacked bar, the largest first; parts under a hundredth are summed up.
func PartsText(parts []report.LostPart) string {
	return partsText(parts, func(c schema.Cause) string { return report.InfoOf(c).Title })
}

// LetteredPartsText is PartsText with the letter of each cause, for bars that show the letters.
func LetteredPartsText(parts []report.LostPart) string {
	return partsText(parts, func(c schema.Cause) string { return report.InfoOf(c).Letter + " " + report.InfoOf(c).Title })
}

func partsText(parts []report.LostPart, title func(schema.Cause) string) string {
	sorted := slices.Clone(parts)
	slices.SortStableFunc(sorted, func(a, b report.LostPart) int { return -cmp.Compare(a.LostS, b.LostS) })
	whole, rest := 0.0, 0.0
	for _, p := range parts {
		whole += p.LostS
	}
	var words []string
	for _, p := range sorted {
		if p.LostS < 0.01*whole {
			rest += p.LostS
		} else if p.LostS > 0 {
			words = append(words, title(p.Cause)+" "+prose.Seconds(p.LostS))
		}
	}
	if rest > 0 {
		words = append(words, "others "+prose.Seconds(rest))
	}
	if len(words) == 0 {
		return prose.Dash
	}
	return strings.Join(words, ", ")
}

// PartCauses returns the causes that cost something, in the order of the parts.
func PartCauses(parts []report.LostPart) []schema.Cause {
	var cs []schema.Cause
	for _, p := range parts {
		if p.LostS > 0 {
			cs = append(cs, p.Cause)
		}
	}
	return cs
}
