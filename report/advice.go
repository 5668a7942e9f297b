package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"straggler/report/prose"
	"straggler/schema"
)

// Advice is something to do, or the statement that there is nothing to do.
type Advice struct {
	Rule       string               `col:"rule" doc:"name of the rule in advice.go"`
	Kind       Kind                 `col:"kind"`
	Title      string               `col:"title"`
	Action     string               `col:"action" doc:"what to do, as specific as the evidence allows"`
	Settings   []Setting            `col:"settings" doc:"configuration lines to set"`
	Evidence   string               `col:"evidence"`
	GainS      schema.Null[float64] `col:"gain_s" unit:"s" doc:"job time it should save; an upper bound where gain_low is NULL"`
	GainLow    schema.Null[float64] `col:"gain_low" unit:"s"`
	GainHigh   schema.Null[float64] `col:"gain_high" unit:"s"`
	GainBasis  string               `col:"gain_basis" doc:"how the gain was estimated"`
	Confidence Confidence           `col:"confidence"`
	Reason     string               `col:"reason" doc:"why not more confident"`
	SQL        string               `col:"sql"`

	jobWorth bool // worthwhile for one job, although the total gains little
	everyRun bool // about what every run has and no setting changes: it comes after what is about faults
}

// Kind is the kind of an advice.
type Kind string

const (
	Act        Kind = "act"
	Nothing    Kind = "nothing_worth_doing"
	CannotTell Kind = "cannot_tell"
)

// Confidence is how sure an advice is.
type Confidence string

const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// Setting is a configuration line.
type Setting struct {
	Name    string              `col:"name"`
	Value   string              `col:"value"`
	Current schema.Null[string] `col:"current" doc:"value in the log; NULL where the log does not say"`
	Line    string              `col:"line" doc:"a line of a program or a hint of a statement, in place of name and value"`
}

// rule makes the advice of one kind.
type rule struct {
	name  string
	doc   string
	apply func(k *known) []Advice
}

// rules is the table of advice; advise sorts the results by gain.
var rules = [...]rule{
	{"drain_machine", "a machine that takes longer than the others for the same work", adviseDrain},
	{"split_partition", "tasks with more data than the others: copies would be as slow", adviseSkew},
	{"fix_network", "tasks that waited for data from other machines", adviseNetwork},
	{"keep_outputs", "lost outputs and their recomputation", ofCause(schema.Recompute, adviseRecompute)},
	{"give_memory", "garbage collection", ofCause(schema.GC, adviseGC)},
	{"avoid_spill", "data that did not fit in memory", ofCause(schema.Spill, adviseSpill)},
	{"relieve_driver", "delays between launch and run", ofCause(schema.Scheduler, adviseScheduler)},
	{"slim_tasks", "unpacking code and variables", ofCause(schema.Deserialize, adviseDeserialize)},
	{"keep_executors", "the first tasks on machines and executors", ofCause(schema.Startup, adviseStartup)},
	{"wait_for_locality", "tasks that did not run where their data was", ofCause(schema.LocalityMiss, adviseLocality)},
	{"speculate", "tasks that were slow for no recorded reason, which a copy elsewhere would beat", adviseSpeculation},
	{"cannot_tell", "lost time that no cause explains", adviseUnexplained},
}

// known is the input of rules.
type known struct {
	d *Document
	f *facts
	thresholds
}

// advise applies all rules. Advice is sorted by savings; advice about what all runs have in common comes after that about
// faults, and then what cannot be decided. If no advice is worthwhile, it says so.
func advise(d *Document, f *facts) []Advice { return adviseBy(usualThresholds(), d, f) }

func adviseBy(t thresholds, d *Document, f *facts) []Advice {
	k := &known{d, f, t}
	if c := d.Trust.Counts; c.Attempts == 0 && c.Listed > 0 && c.Applications == 0 {
		return []Advice{{Rule: "cannot_tell", Kind: CannotTell, Title: "Cannot tell: only a list of machines was read",
			Action: "Read the log of the jobs that ran on them too, into the same store or the same report."}}
	}
	if c := d.Trust.Counts; c.Attempts == 0 && c.Applications > 0 && c.Incomplete == 0 && c.Rejects == 0 {
		return []Advice{{Rule: "nothing", Kind: Nothing, Title: "Nothing to advise: no task was read",
			Action: "What was read is complete, and has no tasks."}}
	}
	if d.Trust.Counts.Attempts == 0 {
		return []Advice{{Rule: "cannot_tell", Kind: CannotTell, Title: "Cannot tell: no attempts were read",
			Action: "Look at the rejects and caveats above, and name the format with --from if it was not recognised."}}
	}
	var acts, others []Advice
	small := 0.0
	for _, r := range rules {
		for _, a := range r.apply(k) {
			a.Rule = r.name
			switch {
			case a.Kind != Act:
				others = append(others, a)
			case a.GainLow.OK && a.GainLow.V <= 0: // it may save nothing
				small += a.GainS.V
			case a.GainS.OK && !a.jobWorth && a.GainS.V < k.worth*d.Cost.Loss.CompletionS.V:
				small += a.GainS.V
			default:
				acts = append(acts, a)
			}
		}
	}
	slices.SortStableFunc(acts, func(a, b Advice) int {
		switch {
		case a.everyRun && !b.everyRun:
			return 1
		case b.everyRun && !a.everyRun:
			return -1
		}
		return -cmp.Compare(a.GainS.V, b.GainS.V)
	})
	if len(acts) == 0 {
		acts = append(acts, k.nothing(small, others))
		if acts[0].Kind == CannotTell {
			return others
		}
	}
	return append(acts, others...)
}

// nothing returns the advice that nothing is worth doing, unless that cannot be decided.
func (k *known) nothing(small float64, others []Advice) Advice {
	l := k.d.Cost.Loss
	switch {
	case len(others) > 0:
		return Advice{Kind: CannotTell}
	case !l.LostS.OK && l.Outliers > 0:
		return Advice{Rule: "nothing", Kind: Nothing, Title: "Cannot tell what slow tasks cost", Confidence: Low,
			Reason: l.Note,
			Action: fmt.Sprintf("%s, with %s of excess. The log does not say whether a job waited.",
				prose.Upper(prose.Plural(l.Outliers, "attempt is an outlier", "attempts are outliers")), prose.Seconds(l.ExcessS))}
	case l.Note == phasesUndated:
		return Advice{Rule: "nothing", Kind: Nothing, Title: "Nothing to advise: no attempt is an outlier", Confidence: Low,
			Reason: phasesUndated, Action: "What slower attempts cost jobs is not known."}
	case !l.LostS.OK:
		return Advice{Rule: "nothing", Kind: Nothing, Title: "Nothing to advise: no phase has enough tasks to compare",
			Action: "A phase needs three tasks that ended well before one can be called slow."}
	}
	a := Advice{Rule: "nothing", Kind: Nothing, Title: "Nothing worth doing about stragglers", Confidence: High,
		Action: fmt.Sprintf("Stragglers cost %s of job time; the log does not say how long the jobs took.", prose.Seconds(l.LostS.V))}
	if l.CompletionS.OK && l.LostShare.OK {
		a.Action = fmt.Sprintf("Stragglers cost %s of %s of job time (%s).", prose.Seconds(l.LostS.V),
			prose.Seconds(l.CompletionS.V), prose.Percent(l.LostShare.V))
	}
	// summing the individual savings counts shared ones twice; no remedy saves more than was lost
	small = min(small, l.LostS.V)
	if small > 0 {
		a.Action += fmt.Sprintf(" All remedies together would save at most %s.", prose.Seconds(small))
	}
	if l.CompletionS.OK && small >= k.worth*l.CompletionS.V {
		a.Title, a.Confidence, a.Reason = "No remedy is sure to save anything", Low, "the saving of each is small, or has an interval that begins at zero"
	}
	if k.d.Trust.Counts.Incomplete > 0 {
		a.Confidence, a.Reason = Low, "the log is not complete"
	}
	return a
}

// lost returns the job time that a cause cost.
func (k *known) lost(c schema.Cause) float64 {
	for _, x := range k.d.Cost.Causes {
		if x.Cause == c {
			return x.LostS.V
		}
	}
	return 0
}

// gain fills in what removing a cause would save: according to the replay if there is one, otherwise the time lost to it.
func (k *known) gain(a Advice, c schema.Cause) Advice {
	a.Kind = Act
	a.GainS, a.GainBasis = schema.Some(k.lost(c)), "job time lost to it; an upper bound of what removing it saves"
	for _, x := range k.d.Cost.Causes {
		if x.Cause == c && x.CostS.OK && x.CostLow.OK && x.CostHigh.OK {
			a.GainS, a.GainLow, a.GainHigh, a.GainBasis = x.CostS, x.CostLow, x.CostHigh, "jobs replayed without any of it; an upper bound"
		}
	}
	if a.Confidence == "" {
		a.Confidence, a.Reason = k.sure(c)
	}
	return a
}

// sure returns the mean confidence of the verdicts for a cause.
func (k *known) sure(c schema.Cause) (Confidence, string) {
	f := k.f.causes[c]
	if f == nil {
		return Low, "it is not the main cause of any task"
	}
	if f.rated == 0 {
		return Low, "the confidence of its verdicts is unknown"
	}
	mean := f.confidence / float64(f.rated)
	reason := fmt.Sprintf("%s, mean confidence %s", prose.Plural(f.n, "verdict", "verdicts"), prose.Percent(mean))
	switch {
	case mean >= k.mostlyRight:
		return High, reason
	case mean >= k.oftenRight:
		return Medium, reason
	}
	return Low, reason
}

// spark reports whether all listed applications are Spark's, so that advice may name its settings.
func (k *known) spark() bool {
	for _, a := range k.d.Trust.Applications.Rows {
		if a.Framework != "spark" {
			return false
		}
	}
	return len(k.d.Trust.Applications.Rows) > 0
}

// workflow reports whether all applications are workflows, whose tasks are programs with files: they have no keys and no
// shuffle.
func (k *known) workflow() bool {
	for _, a := range k.d.Trust.Applications.Rows {
		if !slices.Contains([]string{"nextflow", "workflow", "wta"}, a.Framework) {
			return false
		}
	}
	return len(k.d.Trust.Applications.Rows) > 0
}

// sparkSQL reports whether any application used Spark SQL.
func (k *known) sparkSQL() bool {
	for n := range k.f.settings {
		if strings.HasPrefix(n, "spark.sql.") {
			return k.spark()
		}
	}
	return false
}

// set returns a setting with its value in the log.
func (k *known) set(name, value string) Setting {
	return Setting{Name: name, Value: value, Current: k.f.settings[name]}
}

// is reports whether a setting has a value; def is its default if the log does not have it.
func (k *known) is(name, value, def string) bool {
	return strings.EqualFold(k.f.settings[name].Or(def), value)
}

// worstOf lists the outliers of a cause, as ranked.
func (k *known) worstOf(c schema.Cause) []*Outlier {
	var out []*Outlier
	for i := range k.d.Outliers.Rows {
		if k.d.Outliers.Rows[i].Cause == c {
			out = append(out, &k.d.Outliers.Rows[i])
		}
	}
	return out
}
