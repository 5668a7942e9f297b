package view

import (
	"straggler/report"
	"straggler/report/prose"
	"straggler/schema"
)

// AttemptSection explains why an attempt took as long as it did, outlier or not.
func AttemptSection(o *report.Outlier) Section {
	s := Section{ID: "why", Title: "Why it took so long", Blocks: []Block{attemptFacts(o)}}
	if len(o.Causes) == 0 {
		s.Title = "How long it took"
		s.Blocks = append(s.Blocks, Note("It is not an outlier: no rule calls it slow."))
		return s
	}
	cause := "Verdict: " + report.InfoOf(o.Cause).Title
	if o.Confidence.OK {
		cause += ", " + prose.Percent(o.Confidence.V) + " sure"
	}
	s.Blocks = append(s.Blocks, Note(cause+". "+o.Words), excessTable(o))
	return s
}

func attemptFacts(o *report.Outlier) Facts {
	cost := prose.OrDash(o.CostS, prose.Seconds)
	if why := unknownCost(o); why != "" {
		cost = "unknown: " + why
	}
	f := Facts{{"Took", prose.OrDash(o.DurationS, prose.Seconds)}, {"Median of its phase", prose.OrDash(o.MedianS, prose.Seconds)},
		{"Excess", prose.OrDash(o.ExcessS, prose.Seconds)},
		{"Cost its job", cost}, {"Machine", prose.OrDash(o.Machine, prose.Name)}, {"Ended", string(o.Status)}}
	if o.Speculative.V {
		f = append(f, Fact{"Kind", "speculative copy"})
	}
	return f
}

// excessTable lists the causes of an outlier's excess.
func excessTable(o *report.Outlier) Table {
	t := Table{ID: "excess", Caption: "Where its excess went; the seconds sum to it", SQL: o.SQL,
		Columns: []Column{{Title: "Cause", Essential: true}, {Title: "Seconds", Number: true, Essential: true}, {Title: "Share", Number: true, Essential: true},
			{Title: "Confidence", Doc: "probability that it is the largest cause", Number: true}, {Title: "Evidence", Essential: true, Below: true}}}
	for i := range o.Causes {
		a := &o.Causes[i]
		info := report.InfoOf(a.Cause)
		words := a.Words
		if words == "" {
			words = info.Doc
		}
		t.Rows = append(t.Rows, Row{Causes: []schema.Cause{a.Cause},
			Cells: []Cell{{Text: info.Title, Cause: a.Cause, Keyed: true}, figure(schema.Some(a.Seconds), prose.Seconds, ""),
				figure(a.Share, prose.Percent, "the excess is 0"), figure(a.Confidence, prose.Percent, "said of the verdict only"),
				{Text: words, Detail: &Detail{SQL: o.SQL}}}})
	}
	return t
}
