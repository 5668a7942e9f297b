package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"straggler/schema"
)

// evidence is what report reads of attributions.evidence; what is not there stays at its zero.
type evidence struct {
	Predictor   string   `json:"predictor"`
	Coefficient *float64 `json:"coefficient"`
	StdErr      *float64 `json:"stderr"`
	N           float64  `json:"n"`
	Value       *float64 `json:"value"`
	Median      *float64 `json:"median"`
	Unit        string   `json:"unit"`
	Reason      string   `json:"reason"`
	Text        string   `json:"text"`
	SQL         string   `json:"sql"`
}

// parseEvidence reads what it can: the store may have been written by another version.
func parseEvidence(text string) evidence {
	var e evidence
	if json.Unmarshal([]byte(text), &e) == nil {
		return e
	}
	var any map[string]any
	if json.Unmarshal([]byte(text), &any) != nil {
		return evidence{}
	}
	e = evidence{}
	for key, to := range map[string]*string{"predictor": &e.Predictor, "unit": &e.Unit, "reason": &e.Reason, "text": &e.Text} {
		if s, ok := any[key].(string); ok {
			*to = s
		}
	}
	return e
}

// ratio is how many times the median the value is, 0 where that means nothing.
func (e *evidence) ratio() float64 {
	if e.Value == nil || e.Median == nil || !(*e.Median > 0) || !(*e.Value > 0) {
		return 0
	}
	return *e.Value / *e.Median
}

// causeWords says in a clause why the seconds of an attribution go to its cause.
func causeWords(o *Outlier, a *Attribution) string {
	e := parseEvidence(a.Evidence)
	verb := map[string]string{"input_bytes": "read", "input_records": "read", "remote_bytes": "read from other machines", "spill_bytes": "spilled",
		"output_bytes": "wrote", "shuffle_write_bytes": "wrote", "output_bytes + shuffle_write_bytes": "wrote"}[e.Predictor]
	if r := e.ratio(); verb != "" && r > 1.05 && (e.Unit == "bytes" || e.Unit == "records") {
		unit := e.Unit
		size := func(v float64) string { return byteSize(v) }
		if unit == "records" {
			size = func(v float64) string { return count(int64(v)) }
		}
		return fmt.Sprintf("%s %s the median %s (%s against %s)", verb, times(r), unit, size(*e.Value), size(*e.Median))
	}
	if a.Cause == schema.BadMachine && e.Coefficient != nil && *e.Coefficient > 0 && o.Machine.OK {
		s := fmt.Sprintf("ran on %s, which takes %s the predicted time", name(o.Machine.V), times(*e.Coefficient))
		if e.N > 0 {
			s += fmt.Sprintf(" (%s)", plural(int64(e.N), "attempt", "attempts"))
		}
		return s
	}
	return clean(e.Text, textRunes)
}

// outlierWords says in a sentence why an attempt was slow.
func outlierWords(o *Outlier) string {
	if len(o.Causes) == 0 {
		return "Its excess was not attributed: run straggler causes on the store."
	}
	var clauses []string
	for i := range o.Causes {
		a := &o.Causes[i]
		worth := a.Rank == 1 || o.ExcessS.OK && a.Seconds >= 0.15*o.ExcessS.V && len(clauses) < 3
		if !worth || a.Rank != 1 && a.Seconds <= 0 {
			continue
		}
		words := a.Words
		if words == "" {
			words = infoOf(a.Cause).Doc
		}
		if a.Cause == schema.Transient || a.Cause == schema.UnexplainedCause {
			clauses = append(clauses, fmt.Sprintf("%s (%s)", words, ofExcess(o, a.Seconds, len(clauses) == 0)))
			continue
		}
		clauses = append(clauses, fmt.Sprintf("%s; that explains %s", words, ofExcess(o, a.Seconds, len(clauses) == 0)))
	}
	return upper(strings.Join(clauses, ". Also: ")) + "."
}

// ofExcess says how much a cause explains, and of its first cause how much that is of the excess.
func ofExcess(o *Outlier, s float64, first bool) string {
	switch {
	case !first || !o.ExcessS.OK:
		return seconds(s)
	case s > 1.005*o.ExcessS.V:
		return seconds(s) + ", more than its " + seconds(o.ExcessS.V) + " excess, because something else made it faster"
	}
	if excess := seconds(o.ExcessS.V); seconds(s) != excess {
		return seconds(s) + " of its " + excess + " excess"
	}
	return "all of its " + seconds(s) + " excess"
}

func upper(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}

// words writes the headline, the assumptions and the advice, from what is in the document by now.
func (b *builder) words() {
	d := b.doc
	d.Headline = Headline{Verdict: verdictWords(d), Why: whyWords(d)}
	d.Headline.Trust, d.Headline.Sound = trustWords(d)
	d.Trust.Assumptions = assumptions(d)
	d.Advice = advise(d, &b.facts)
}

const tooFewTasks = "No phase has enough tasks to tell slow ones from others."

func verdictWords(d *Document) string {
	l := d.Cost.Loss
	jobs := plural(d.Trust.Counts.Jobs, "job", "jobs")
	switch {
	case d.Trust.Counts.Attempts == 0:
		return "No task attempt was read, so there is nothing to say about stragglers."
	case !l.LostS.OK && l.Outliers > 0:
		return fmt.Sprintf("%s ran %s longer than their phases’ medians in all; what that cost jobs the log does not say.", upper(plural(l.Outliers, "attempt", "attempts")), seconds(l.ExcessS))
	case !l.LostS.OK:
		return tooFewTasks
	case !l.CompletionS.OK:
		return fmt.Sprintf("Stragglers cost %s of job time; the log does not say how long the jobs took.", seconds(l.LostS.V))
	case l.LostS.V == 0 && l.Outliers == 0:
		return fmt.Sprintf("No stragglers: %s, %s of job time, no time lost.", jobs, seconds(l.CompletionS.V))
	}
	if d.Trust.Counts.Jobs == 1 {
		return fmt.Sprintf("Stragglers cost %s of the %s that the job took (%s).", seconds(l.LostS.V), seconds(l.CompletionS.V), null(l.LostShare, percent))
	}
	return fmt.Sprintf("Stragglers cost %s of %s of job time (%s), over %s.", seconds(l.LostS.V), seconds(l.CompletionS.V), null(l.LostShare, percent), jobs)
}

func whyWords(d *Document) string {
	l := d.Cost.Loss
	if !(l.LostS.V > 0) {
		if l.Outliers > 0 && l.LostS.OK {
			return fmt.Sprintf("%s ran longer than the rules allow, and no job waited for them.", upper(plural(l.Outliers, "attempt", "attempts")))
		}
		return ""
	}
	var named []string
	for _, c := range d.Cost.Causes {
		if c.Cause == notOutlier || !c.LostS.OK || c.LostS.V < 0.05*l.LostS.V || len(named) == 3 {
			continue
		}
		named = append(named, fmt.Sprintf("%s (%s)", infoOf(c.Cause).Title, seconds(c.LostS.V)))
	}
	s := "No cause stands out."
	if len(named) > 0 {
		s = "Mostly " + join(named) + "."
	}
	costly := int64(0)
	for _, o := range d.Outliers.Rows {
		if o.CostS.OK && o.CostS.V > 0 {
			costly++
		}
	}
	if total := d.Outliers.Total; total > 0 && costly < int64(len(d.Outliers.Rows)) {
		which := count(costly)
		if costly == 0 {
			which = "none"
		}
		s += fmt.Sprintf(" Of %s, %s cost a job time.", plural(total, "outlier", "outliers"), which)
	}
	return s
}

// join lists things as a sentence does.
func join(s []string) string {
	if len(s) < 2 {
		return strings.Join(s, "")
	}
	return strings.Join(s[:len(s)-1], ", ") + " and " + s[len(s)-1]
}

func trustWords(d *Document) (string, bool) {
	c := d.Trust.Counts
	var weak []string
	if c.Incomplete > 0 {
		if c.Applications == 1 {
			weak = append(weak, "the log stops before the application's end")
		} else {
			weak = append(weak, fmt.Sprintf("%s of %s logs stop before the end", count(c.Incomplete), count(c.Applications)))
		}
	}
	if c.Rejects > 0 {
		weak = append(weak, plural(c.Rejects, "record was", "records were")+" rejected")
	}
	if n := d.Trust.Caveats.Total; n > 0 {
		weak = append(weak, plural(n, "caveat", "caveats")+" below")
	}
	switch {
	case c.Applications == 0 && c.Listed > 0:
		return fmt.Sprintf("No job was read: the logs say only what machines there are, %s of them.", count(c.Listed)), false
	case c.Applications == 0:
		return "Nothing was read.", false
	case c.Incomplete == 0 && c.Rejects == 0 && c.Applications == 1:
		return "The log is complete and nothing in it was rejected" + after("; ", join(weak)) + ".", true
	case c.Incomplete == 0 && c.Rejects == 0:
		return "All logs are complete and nothing in them was rejected" + after("; ", join(weak)) + ".", true
	}
	return upper(join(weak)) + ".", false
}

// replayWords says how far the replays can be believed.
func replayWords(d *Document) string {
	w := &d.Whatif
	s := "Every job was replayed under each policy with the same luck."
	switch {
	case !w.ReplayErrorS.OK:
		return s + " The log does not say how long its jobs took, so the replay cannot be checked."
	case w.ReplayErrorS.V < 0.0005:
		return s + " A replay of the log as it was ends when the log does."
	}
	return s + fmt.Sprintf(" A replay of the log as it was misses its job times by %s (%s); a smaller saving cannot be told from that.", seconds(w.ReplayErrorS.V), null(w.ReplayErrorShare, percent))
}

// assumptions says what the figures rest on.
func assumptions(d *Document) []string {
	a := []string{
		"A phase lost what it would have won with every task at most at its median, or, where its tasks queued for slots and that is more, what it would have won with its outliers at the median and its tasks packed anew onto as many slots as it held at once. A phase that only made lost outputs again counts as a whole.",
		"A job lost what it would have won with its phases so much shorter, each starting as long after the last of those it waited for as it did.",
		"A stretch of time at the end of a phase is divided equally among the tasks that ended after it, because it is won only when all of them are faster; what tasks lost by queueing is divided by excess. Parts go to causes in proportion to the seconds that each cause added.",
		"An outlier is what a rule calls slow and what has an attribution: longer than 1.5 × its phase’s median, under half its median progress rate, or made again after a loss.",
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
		a = append(a, "‘Without it’ replays each job with the cause’s excess removed; causes overlap, so these figures do not sum to the whole.")
	}
	return a
}
