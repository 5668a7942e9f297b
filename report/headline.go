package report

import (
	"fmt"
	"strings"

	"straggler/report/prose"
)

// summarize writes the headline, the assumptions and the advice, from what is in the document by now.
func (b *builder) summarize() {
	d := b.doc
	d.Headline = Headline{Verdict: strings.Join(prose.NonEmpty(historyWords(d), queryWords(d), verdictWords(d)), " "),
		Why: strings.Join(prose.NonEmpty(historyWhy(d), whyWords(d)), " ")}
	if b.o.Scope.narrow() {
		return
	}
	d.Headline.Trust, d.Headline.Sound = trustWords(d)
	d.Trust.Assumptions = assumptions(d)
	d.Advice = advise(d, &b.facts)
}

// queryWords names the operator that cost most, if uneven distribution of its rows is what a query lost most by, and
// worthwhile.
func queryWords(d *Document) string {
	var worst *Query
	most := 0.0
	for i := range d.Queries.Rows {
		q := &d.Queries.Rows[i]
		if lost := q.skewS(); len(q.skews()) > 0 && lost > most && lost >= 0.3*q.Loss.LostS.V {
			worst, most = q, lost
		}
	}
	if worst == nil || most < usualThresholds().worth*d.Cost.Loss.CompletionS.V {
		return ""
	}
	f := worst.skews()[0]
	s := fmt.Sprintf("Skew in %s cost %s", JoinWords(&f.QueryFindingRow), prose.Seconds(most))
	if worst.TookS.OK {
		s += " of the " + prose.Seconds(worst.TookS.V) + " of query " + QueryTitle(worst)
	} else {
		s += " of query " + QueryTitle(worst)
	}
	what := "the worst task"
	if f.Task.OK {
		what = fmt.Sprintf("partition %d", f.Task.V)
	}
	if f.Ratio.OK {
		s += ": " + what + " has " + f.ratioWords()
	}
	if f.Side.OK && f.Tables.OK && f.Other.OK {
		s += ", those of " + prose.MaybeName(f.Tables)
	}
	return s + "."
}

func verdictWords(d *Document) string {
	l := d.Cost.Loss
	jobs := prose.Plural(d.Trust.Counts.Jobs, "job", "jobs")
	switch {
	case d.Trust.Counts.Attempts == 0:
		return "No task attempt was read, so there is nothing to say about stragglers."
	case !l.LostS.OK && l.Outliers > 0:
		return fmt.Sprintf("%s ran %s longer than their phases’ medians in all; what that cost jobs the log does not say.",
			prose.Upper(prose.Plural(l.Outliers, "attempt", "attempts")), prose.Seconds(l.ExcessS))
	case !l.LostS.OK:
		return Uncosted(d)
	case !l.CompletionS.OK:
		return fmt.Sprintf("Stragglers cost %s of job time; the log does not say how long the jobs took.", prose.Seconds(l.LostS.V))
	case l.LostS.V == 0 && l.Outliers == 0:
		return fmt.Sprintf("No stragglers: %s, %s of job time, no time lost.", jobs, prose.Seconds(l.CompletionS.V))
	}
	if d.Trust.Counts.Jobs == 1 {
		return fmt.Sprintf("Stragglers cost %s of the %s that the job took (%s).", prose.Seconds(l.LostS.V),
			prose.Seconds(l.CompletionS.V), prose.OrDash(l.LostShare, prose.Percent))
	}
	return fmt.Sprintf("Stragglers cost %s of %s of job time (%s), over %s.", prose.Seconds(l.LostS.V),
		prose.Seconds(l.CompletionS.V), prose.OrDash(l.LostShare, prose.Percent), jobs)
}

// phasesUndated is why no time lost is known although tasks were compared.
const phasesUndated = "the log does not say when the phases ran whose tasks can be compared"

// Uncosted explains why the cost of slow tasks is unknown, if no attempt is an outlier.
func Uncosted(d *Document) string {
	if d.Cost.Loss.Note == phasesUndated {
		return "No attempt is an outlier; what slower ones cost jobs is not known: " + phasesUndated + "."
	}
	return "No phase has enough tasks of known duration to tell slow ones from others."
}

func whyWords(d *Document) string {
	l := d.Cost.Loss
	if !(l.LostS.V > 0) {
		if l.Outliers > 0 && l.LostS.OK {
			return prose.Upper(prose.Plural(l.Outliers, "attempt is an outlier, and no job waited for it.",
				"attempts are outliers, and no job waited for them."))
		}
		return ""
	}
	var named []string
	for _, c := range d.Cost.Causes {
		if c.Cause == NotOutlier || !c.LostS.OK || c.LostS.V < 0.05*l.LostS.V || len(named) == 3 {
			continue
		}
		named = append(named, fmt.Sprintf("%s (%s)", InfoOf(c.Cause).Title, prose.Seconds(c.LostS.V)))
	}
	s := "No cause stands out."
	if len(named) > 0 {
		s = "Mostly " + prose.Join(named) + "."
	}
	costly := int64(0)
	for _, o := range d.Outliers.Rows {
		if o.CostS.OK && o.CostS.V > 0 {
			costly++
		}
	}
	if total := d.Outliers.Total; total > 0 && costly < int64(len(d.Outliers.Rows)) {
		which := prose.Count(costly)
		if costly == 0 {
			which = "none"
		}
		s += fmt.Sprintf(" Of %s, %s cost a job time.", prose.Plural(total, "outlier", "outliers"), which)
	}
	return s
}

func trustWords(d *Document) (string, bool) {
	c := d.Trust.Counts
	var weak []string
	if c.Incomplete > 0 {
		if c.Applications == 1 {
			weak = append(weak, "the log stops before the application's end")
		} else {
			weak = append(weak, fmt.Sprintf("%s of %s logs stop before the end", prose.Count(c.Incomplete), prose.Count(c.Applications)))
		}
	}
	if c.Rejects > 0 {
		weak = append(weak, prose.Plural(c.Rejects, "record was", "records were")+" rejected")
	}
	if n := d.Trust.Caveats.Total; n > 0 {
		weak = append(weak, prose.Plural(n, "caveat", "caveats")+" below")
	}
	switch {
	case c.Applications == 0 && c.Listed > 0:
		return fmt.Sprintf("No job was read: the logs say only what machines there are, %s of them.", prose.Count(c.Listed)), false
	case c.Applications == 0:
		return "Nothing was read.", false
	case c.Incomplete == 0 && c.Rejects == 0 && c.Applications == 1:
		return "The log is complete and nothing in it was rejected" + prose.After("; ", prose.Join(weak)) + ".", true
	case c.Incomplete == 0 && c.Rejects == 0:
		return "All logs are complete and nothing in them was rejected" + prose.After("; ", prose.Join(weak)) + ".", true
	}
	return prose.Upper(prose.Join(weak)) + ".", false
}

// assumptions states the assumptions behind the figures.
func assumptions(d *Document) []string {
	a := []string{
		"The time lost in a phase is how much earlier it would have ended if no task had taken longer than the median; or, if its tasks queued for slots and that is more, if its outliers had taken the median and its tasks had been scheduled again on as many slots as it held at once. A phase that only recomputed lost outputs is lost as a whole.",
		"The time lost in a job is how much earlier it would have ended if its phases had been shorter by the time lost in them, and each had started as long after the phases that it waited for as it did.",
		"Time lost at the end of a phase is divided equally among the tasks that still ran then, because it is saved only when all of them are faster; time lost by queueing is divided by excess. The share of a task goes to its causes in proportion to their seconds.",
		"An outlier is an attempt that a rule calls slow and that has an attribution: longer than 1.5 × its phase’s median, under half its median progress rate, or made again after a loss.",
	}
	unknown := 0
	for _, p := range d.Phases.Rows {
		if !p.LostS.OK {
			unknown++
		}
	}
	if d.Trust.Counts.Machines == 0 && d.Trust.Counts.Attempts > 0 {
		a = append(a, "The logs name no machines: nothing can be said about bad ones.")
	}
	if len(d.Trust.Applications.Rows) > 0 && d.Trust.Applications.Rows[0].TimeOrigin == "trace" {
		a = append(a, "The logs hide their date; times count from the start of the trace.")
	}
	replayed := false
	for _, c := range d.Cost.Causes {
		replayed = replayed || c.CostS.OK
	}
	if replayed {
		a = append(a, "‘Without it’ replays each job with the cause’s excess removed and its tasks taking slots as these come free, so it may be more than the time lost; causes overlap, so these figures do not sum to the whole.")
	}
	return a
}
