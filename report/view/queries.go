package view

import (
	"strconv"
	"strings"

	"straggler/report"
	"straggler/report/prose"
)

// queriesSection lists the queries that lost most, with what was found in them.
func queriesSection(d *report.Document) Section {
	s := Section{ID: "queries", Short: "Queries", Title: "Queries"}
	if len(d.Queries.Rows) == 0 {
		return s
	}
	s.Blocks = []Block{Lead("A query of Spark SQL runs jobs, and a job phases. The figures are those of its jobs; the operators are those that its slow phases ran."), queriesTable(d)}
	if words := findings(d); len(words) > 0 {
		s.Blocks = append(s.Blocks, List{Title: "What the slow phases were doing", Items: words})
	}
	s.Blocks = append(s.Blocks, PlanPictures{d})
	return s
}

// QuerySection returns the section about a query, for a document on it.
func QuerySection(d *report.Document) Section {
	s := queriesSection(d)
	s.Title = "What it lost, and why"
	for i := range d.Queries.Rows {
		if q := &d.Queries.Rows[i]; len(q.Plan) == 0 {
			s.Blocks = append(s.Blocks, noPlan(q))
		}
	}
	return s
}

// noPlan explains why the plan of a query is not drawn.
func noPlan(q *report.Query) Lead {
	if n := q.Operators.V; n > 0 {
		return Lead("Its plan has " + prose.Plural(n, "operator", "operators") + ", too many to draw; the table plan_nodes has them.")
	}
	return "The log does not contain its plan."
}

func queriesTable(d *report.Document) Table {
	l := d.Queries
	t := Table{ID: "queries", Caption: "Queries by time lost", More: l.More(), SQL: l.SQL, Empty: l.Note,
		Columns: []Column{{Title: "Query", Essential: true}, {Title: "Application", Essential: true}, {Title: "Jobs", Number: true},
			{Title: "Took", Number: true, Essential: true},
			{Title: "Lost", Doc: "how much earlier its jobs would have ended had slow tasks taken their phases’ medians, summed",
				Number: true, Essential: true},
			{Title: "By cause"}, {Title: "Outliers", Number: true}, {Title: "Operator", Doc: "the one that its skewed tasks executed", Essential: true}}}
	for i := range l.Rows {
		q := &l.Rows[i]
		title := Cell{Text: prose.Clean(q.NativeID, 24), Sub: prose.MaybeName(q.Description), Of: Ref{Kind: ToQuery, Key: q.QueryID}}
		t.Rows = append(t.Rows, Row{App: prose.Name(q.Application), Causes: PartCauses(q.Loss.Parts), Cells: []Cell{title,
			text(report.AppOf(d, q.Application)), number(q.Jobs),
			figure(q.TookS, prose.Seconds, "the log does not say when it started and ended"), figure(q.Loss.LostS, prose.Seconds, q.Loss.Note),
			{Text: PartsText(q.Loss.Parts)}, number(q.Loss.Outliers), operatorCell(q)}})
	}
	if d.Trust.Applications.Total == 1 {
		t.Drop("Application")
	}
	return t
}

func operatorCell(q *report.Query) Cell {
	for _, f := range q.Findings {
		if f.Kind.IsSkew() {
			return Cell{Text: report.JoinWords(&f.QueryFindingRow)[len("the "):]}
		}
	}
	return Cell{Text: prose.Dash, Note: "none of its skewed tasks could be attributed to an operator"}
}

// mostFindings bounds the sentences of the section.
const mostFindings = 12

func findings(d *report.Document) []string {
	var words []string
	for i := range d.Queries.Rows {
		q := &d.Queries.Rows[i]
		for _, f := range q.Findings {
			sentences := []string{"Query " + report.QueryTitle(q) + ": " + f.Words, f.WhyNot.V}
			if f.SplitInto.OK && f.SavesS.V > 0 {
				sentences = append(sentences, "In "+strconv.FormatInt(f.SplitInto.V, 10)+" parts its phase would have ended "+prose.Seconds(f.SavesS.V)+" earlier.")
			}
			if f.Apply.OK {
				sentences = append(sentences, strings.Split(f.Apply.V, "\n")...)
			}
			for i := range sentences { // each by itself, so that a long one cuts no other
				sentences[i] = prose.Clean(sentences[i], prose.TextRunes)
			}
			if words = append(words, strings.Join(prose.NonEmpty(sentences...), " ")); len(words) == mostFindings {
				return words
			}
		}
	}
	return words
}
