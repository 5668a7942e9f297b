package report

import (
	"fmt"
	"slices"
	"strings"

	"straggler/report/prose"
	"straggler/schema"
)

// findingOf returns the finding about one of the phases in the plan of its query, or nil if there is none.
func (k *known) findingOf(phases []schema.Key) *QueryFinding {
	for i := range k.d.Queries.Rows {
		q := &k.d.Queries.Rows[i]
		for j := range q.Findings {
			if f := &q.Findings[j]; f.PhaseID.OK && slices.Contains(phases, f.PhaseID.V) {
				return f
			}
		}
	}
	return nil
}

// ofQuery adds to advice on skewed tasks the operator that they worked for, and the settings that spread its rows if it is
// eligible for them.
func (a *Advice) ofQuery(f *QueryFinding, g *skewed) {
	what := JoinWords(&f.QueryFindingRow)
	a.Title = "Spread the rows of " + what
	if n := len(g.phases); n > 1 {
		a.Title += fmt.Sprintf(", over %d runs", n)
	}
	a.Action = remedyWords(f)
	if f.SavesS.V > 0 && f.SplitInto.OK {
		a.Action += fmt.Sprintf(" Split into %s, its phase would have ended %s earlier, replayed on as many slots.",
			prose.Plural(f.SplitInto.V, "part", "parts"), prose.Seconds(f.SavesS.V))
	}
	if f.WhyNot.OK {
		a.Action += " " + f.WhyNot.V
	}
	a.Action += " A speculative copy reads the same rows and is as slow."
	a.Evidence = f.Words + " " + a.Evidence
	if f.Apply.OK {
		for _, line := range strings.Split(f.Apply.V, "\n") {
			a.Settings = append(a.Settings, Setting{Line: line})
		}
	}
	a.SQL = fmt.Sprintf("SELECT * FROM query_findings WHERE query_id = %d", f.QueryID)
}

func remedyWords(f *QueryFinding) string {
	switch f.Remedy.V {
	case schema.SplitJoin:
		return "The lines below, set before the query, let adaptive execution split the skewed partition and read the other side once for each part."
	case schema.Broadcast:
		return "The other side is small: with the hint below every task gets all of it, and no row is shuffled by the key."
	case schema.Rebalance:
		return "Nothing else in the plan relies on the repartitioning by these columns: with the hint below adaptive execution may split partitions that are too large."
	case schema.SplitFiles:
		return "Some files or splits of the table have more rows than others: write them in equal sizes."
	}
	return "Spread its keys over more tasks: salt the heavy key, aggregate before the shuffle, or use a finer key."
}
