package causes

import (
	"cmp"
	"context"
	_ "embed"
	"math"
	"slices"

	"straggler/causes/machines"
	"straggler/engine"
	"straggler/schema"
	"straggler/stats"
	"straggler/store"
)

//go:embed history_attempts.sql
var historyAttemptsSQL string

// usualAttempt is an attempt that is slower than usual: a row of history_attempts.sql.
type usualAttempt struct {
	Application schema.Key           `col:"application_id"`
	Attempt     schema.Key           `col:"attempt_id"`
	Phase       schema.Key           `col:"phase_id"`
	Machine     string               `col:"machine"`
	DurationS   float64              `col:"duration_s"`
	ExcessS     float64              `col:"excess_s"`
	CPUS        schema.Null[float64] `col:"cpu_s"`
	WaitS       schema.Null[float64] `col:"wait_s"`
	WorkRatio   schema.Null[float64] `col:"work_ratio"`
	UsualCPUS   schema.Null[float64] `col:"usual_cpu_s"`
	UsualWaitS  schema.Null[float64] `col:"usual_wait_s"`
}

// historyWriter writes history_attributions, each under the input that it depends on.
type historyWriter struct {
	r     *run
	tx    *store.Tx
	input schema.Key
	rows  []schema.HistoryAttribution
	split historySplitter
}

// add splits the excess of an attempt over its usual duration; judged is nil if the machines of its run were not judged.
func (w *historyWriter) add(a *usualAttempt, judged *machines.RunJudgement) error {
	if input := w.r.part.inputOf("phases", a.Phase); input != w.input || len(w.rows) > 4096 {
		if err := w.flush(); err != nil {
			return err
		}
		w.input = input
	}
	w.rows = w.split.append(w.rows, a, judged)
	return nil
}

func (w *historyWriter) flush() error {
	err := store.Append(w.tx, w.input, w.rows)
	w.rows = w.rows[:0]
	return err
}

// againstHistory splits the excess of all attempts over their usual durations.
func (r *run) againstHistory(ctx context.Context, tx *store.Tx, judged map[schema.Key]*machines.RunJudgement) error {
	w := historyWriter{r: r, tx: tx}
	for a, err := range engine.ReadParts[usualAttempt](ctx, r.eng, "causes_unusual", historyAttemptsSQL, r.seen...) {
		if err != nil {
			return err
		}
		if err := w.add(a, judged[a.Application]); err != nil {
			return err
		}
	}
	return w.flush()
}

// historySplitter splits excesses over usual durations. It reuses its memory and must not be used concurrently.
type historySplitter struct {
	factors  []historyFactor
	sentence words
	text     []byte
}

// historyFactor is what one cause multiplies a usual duration by.
type historyFactor struct {
	cause schema.HistoryCause
	ln    float64
	place string
}

// append appends the causes of the excess. A duration is the usual one times a factor for each cause: the input, the slowdown
// common to most machines of the phase, the machine, and the remainder. Each cause gets at most the part of the whole factor
// that the causes before it leave, and never less than nothing. Seconds follow from the factors by logarithmic means
// (stats.LogMean), and the last cause includes the rounding error, so that they sum to the excess.
func (h *historySplitter) append(rows []schema.HistoryAttribution, a *usualAttempt, j *machines.RunJudgement) []schema.HistoryAttribution {
	usual := a.DurationS - a.ExcessS
	left := math.Log(a.DurationS / usual)
	take := func(ln float64) float64 {
		ln = min(max(ln, 0), left)
		left -= ln
		return ln
	}
	work := math.Max(1, a.WorkRatio.Or(1))
	factors := append(h.factors[:0], historyFactor{cause: schema.MoreWork, ln: take(math.Log(work))})
	if j != nil {
		factors = append(factors, historyFactor{cause: schema.SharedSlowness, ln: take(j.Shared[a.Phase])})
		if ln, ok := j.Machines[a.Machine]; ok {
			f := historyFactor{schema.SlowMachine, take(ln), "machine " + a.Machine}
			if node, ok := j.Nodes[a.Machine]; ok {
				f.cause, f.place = schema.SharedSlowness, "node "+node
			}
			factors = append(factors, f)
		}
	}
	factors = append(factors, historyFactor{cause: schema.Alone, ln: left})
	factors = slices.DeleteFunc(factors, func(f historyFactor) bool { return !(f.ln > 0) })
	slices.SortStableFunc(factors, func(a, b historyFactor) int { return cmp.Compare(b.ln, a.ln) })
	unit, rest := stats.LogMean(a.DurationS, usual), a.ExcessS
	waited, computed := beyond(a.WaitS, a.UsualWaitS, work), beyond(a.CPUS, a.UsualCPUS, work)
	h.factors = factors
	for i, f := range factors {
		s := unit * f.ln
		if i == len(factors)-1 {
			s = rest
		}
		rest -= s
		row := schema.HistoryAttribution{AttemptID: a.Attempt, PhaseID: a.Phase, Cause: f.cause, Seconds: s, Share: s / a.ExcessS, Rank: int32(i + 1),
			WaitedS: waited, ComputedS: computed, Evidence: h.evidence(a, f, usual, work)}
		if f.place != "" {
			row.Place = schema.Some(f.place)
		}
		rows = append(rows, row)
	}
	return rows
}

// beyond returns the amount by which a part of the duration exceeds its usual value.
func beyond(is, usual schema.Null[float64], work float64) (more schema.Null[float64]) {
	if is.OK && usual.OK {
		more = schema.Some(is.V - usual.V*work)
	}
	return more
}

// evidence states the factor, and what the attempt spent the time on.
func (h *historySplitter) evidence(a *usualAttempt, f historyFactor, usual, work float64) string {
	w, factor := &h.sentence, math.Exp(f.ln)
	*w = (*w)[:0]
	w.seconds(a.DurationS).say(" instead of the usual ").seconds(usual).say("; ")
	switch f.cause {
	case schema.MoreWork:
		w.say("the tasks of its stage have ").digits(work, 3).say(" times their usual input")
	case schema.SharedSlowness, schema.SlowMachine:
		w.say("tasks on ").say(cmp.Or(f.place, "most machines of its phase")).say(" take ").digits(factor, 3).say(" times as long as usual")
	case schema.Alone:
		w.say("that is ").digits(factor, 3).say(" times as long as what it shares with others explains")
	}
	compare := func(did string, is, usual schema.Null[float64]) {
		if is.OK && usual.OK {
			w.say("; it ").say(did).seconds(is.V).say(", usually ").seconds(usual.V * work)
		}
	}
	compare("waited for input for ", a.WaitS, a.UsualWaitS)
	compare("used processor time of ", a.CPUS, a.UsualCPUS)
	e := Evidence{Predictor: "usual", Coefficient: factor, Value: a.DurationS, Median: usual, Unit: "s", Text: string(*w)}
	h.text = e.append(h.text[:0])
	return string(h.text)
}
