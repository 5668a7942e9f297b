package report

import (
	"encoding/json"
	"fmt"
	"strings"

	"straggler/report/prose"
	"straggler/schema"
)

func adviseSpeculation(k *known) []Advice {
	if k.lost(schema.Transient) == 0 {
		return nil // where only bad machines cost time, to drain them is better than to copy their tasks
	}
	a := Advice{Title: "Run copies of slow tasks elsewhere", Evidence: k.words(schema.Transient), SQL: causeSQL(schema.Transient),
		Action: "Tasks were slow for a time, for no recorded reason; copies on other machines would have been fast."}
	if k.f.copies > 0 {
		a.Title = "Run copies of slow tasks earlier"
		a.Evidence = withSentence(a.Evidence, fmt.Sprintf("Copies ran already: %s, of which %s won.", prose.Count(k.f.copies), prose.Count(k.f.wins)))
	}
	everywhere := k.is("spark.speculation", "true", "false")
	on := k.f.copies > 0 || everywhere
	switch {
	case !k.spark():
	case on:
		a.Settings = []Setting{k.set("spark.speculation.multiplier", "1.3"), k.set("spark.speculation.quantile", "0.5")}
		if !everywhere {
			a.Settings = append([]Setting{k.set("spark.speculation", "true")}, a.Settings...)
		}
	default:
		a.Settings = []Setting{k.set("spark.speculation", "true"), k.set("spark.speculation.multiplier", "1.5"), k.set("spark.speculation.quantile", "0.75")}
	}
	a = k.gain(a, schema.Transient)
	if s := k.bestSpark(); s != nil && k.spark() {
		a.GainS, a.GainLow, a.GainHigh = s.SavingS, s.SavingLow, s.SavingHigh
		a.GainBasis = "Spark’s speculation replayed on these jobs" + prose.After(", slot time ", prose.OrDash(s.SlotTimeChange, signed))
		a.Settings = k.sparkSettings(s)
		a.Evidence = withSentence(withSentence(a.Evidence, "Copies also help tasks on slow machines."), s.Outlook("copies"))
		switch {
		case !s.SavingLow.OK:
			a.Confidence, a.Reason = Low, "the saving has no interval"
		case s.Verdict == schema.CannotTell:
			a.Confidence, a.Reason = Low, "the saving is within the error of the replay"
		case s.SavingLow.V <= 0:
			a.Confidence, a.Reason = Low, "the interval of the saving contains 0"
		}
		if s.LessThanRunsDiffer() {
			a.GainLow, a.GainHigh = s.ThisRunLow, s.ThisRunHigh
			a.GainBasis = "Spark’s speculation replayed on this run" + prose.After(", slot time ", prose.OrDash(s.SlotTimeChange, signed))
			a.Confidence, a.Reason = Medium, "it saves less than runs differ by themselves"
			return []Advice{a}
		}
		if l := k.d.Cost.Loss; s.SavingLow.OK && s.SavingLow.V <= 0 && k.lost(schema.Transient) >= max(k.mentionedPart*l.LostS.V, k.worth*l.CompletionS.V) {
			a = Advice{Kind: CannotTell, Evidence: a.Evidence, SQL: a.SQL, Settings: a.Settings,
				Title: fmt.Sprintf("Cannot tell whether copies would save much of the %s lost to transient slowness", prose.Seconds(k.lost(schema.Transient))),
				Action: fmt.Sprintf("Spark’s speculation, replayed, saves %s, but two runs of these jobs may differ by more (%s). Run them several times with the lines below and without, and compare.",
					prose.Seconds(s.SavingS.V), prose.Interval(s.SavingLow, s.SavingHigh, prose.Seconds))}
		}
	}
	return []Advice{a}
}

// withSentence appends a sentence to a text, of which either may be empty.
func withSentence(text, s string) string { return strings.Join(prose.NonEmpty(text, s), " ") }

// bestSpark returns the replay of Spark's own speculation that saves most. There is none for a part of a store, since savings are
// sums over all its applications.
func (k *known) bestSpark() *Saving {
	var best *Saving
	if k.f.leftOut > 0 && !k.f.ownSavings {
		return nil
	}
	for i := range k.d.Whatif.Savings.Rows {
		s := &k.d.Whatif.Savings.Rows[i]
		if strings.HasPrefix(s.Policy, "spark") && s.SavingS.OK && s.SavingS.V > 0 && (best == nil || s.SavingS.V > best.SavingS.V) {
			best = s
		}
	}
	return best
}

// sparkSettings returns the lines that enable Spark's speculation as in a replay; defaults of the log's version need no line.
func (k *known) sparkSettings(s *Saving) []Setting {
	lines := []Setting{k.set("spark.speculation", "true")}
	var p map[string]any
	if json.Unmarshal([]byte(s.Parameters), &p) != nil {
		return lines
	}
	for _, o := range [...]struct{ option, setting string }{{"quantile", "spark.speculation.quantile"}, {"multiplier", "spark.speculation.multiplier"},
		{"min_task_runtime", "spark.speculation.minTaskRuntime"}, {"task_duration_threshold", "spark.speculation.task.duration.threshold"}} {
		v, ok := p[o.option].(float64)
		if !ok || v == 0 { // 0 means not set here; as a setting of Spark it would copy every task at once
			continue
		}
		text := fmt.Sprintf("%g", v)
		if strings.HasPrefix(o.option, "min_") || strings.HasPrefix(o.option, "task_") {
			text = fmt.Sprintf("%dms", int64(1000*v+0.5))
		}
		lines = append(lines, k.set(o.setting, text))
	}
	return lines
}

// signed formats a change in percent.
func signed(v float64) string {
	if v > 0 {
		return "+" + prose.Percent(v)
	}
	return prose.Percent(v)
}
