package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"straggler/schema"
)

func adviseSkew(k *known) []Advice {
	byPhase := map[schema.Key][]*Outlier{}
	var order []schema.Key
	for i := range k.d.Outliers.Rows {
		o := &k.d.Outliers.Rows[i]
		if skew := skewOf(o); o.CostS.V <= 0 || skew <= 0 || skew < 0.25*o.ExcessS.V {
			continue
		}
		if byPhase[o.PhaseID] == nil {
			order = append(order, o.PhaseID)
		}
		byPhase[o.PhaseID] = append(byPhase[o.PhaseID], o)
	}
	var out []Advice
	for i, p := range order[:min(len(order), 3)] {
		out = append(out, k.split(byPhase[p], i == 0))
	}
	return out
}

// skewOf is how much of an outlier's excess goes to its data.
func skewOf(o *Outlier) float64 {
	for _, c := range o.Causes {
		if c.Cause == schema.DataSkew {
			return c.Seconds
		}
	}
	return 0
}

// split advises on the skewed tasks of one phase.
func (k *known) split(tasks []*Outlier, settings bool) Advice {
	o := slices.MaxFunc(tasks, func(a, b *Outlier) int { return cmp.Compare(skewOf(a), skewOf(b)) })
	gain, sum, largest, median := 0.0, 0.0, 0.0, 0.0
	for _, p := range k.d.Phases.Rows {
		if p.PhaseID == o.PhaseID {
			for _, part := range p.Parts {
				if part.Cause == schema.DataSkew {
					gain = part.LostS
				}
			}
		}
	}
	var list, evidence []string
	for i, t := range tasks {
		sum += t.CostS.V * min(skewOf(t)/t.ExcessS.V, 1)
		if i < 5 {
			list = append(list, strconv.FormatInt(t.Task, 10))
		}
		for _, c := range t.Causes {
			if e := parseEvidence(c.Evidence); c.Cause == schema.DataSkew && e.Unit == "bytes" && e.ratio() > 1 && *e.Value > largest {
				largest, median = *e.Value, *e.Median
			}
			if c.Cause == schema.DataSkew && len(evidence) < 3 {
				evidence = append(evidence, fmt.Sprintf("Task %d %s: %s of its %s excess.", t.Task, c.Words, seconds(c.Seconds), null(t.ExcessS, seconds)))
			}
		}
	}
	phase := phaseTitle(o.Phase, o.PhaseAttempt)
	if n := named(o.PhaseName); n != "" {
		phase += " (" + n + ")"
	}
	a := Advice{Kind: Act, GainS: schema.Some(max(gain, sum)), GainBasis: "job time lost to it; the most that even partitions bring",
		Title:    fmt.Sprintf("Split %s %s of %s", pluralWord(len(tasks), "partition", "partitions"), join(list), phase),
		Action:   "Spread its keys over more tasks: salt the heavy key, aggregate before the shuffle, or partition by something finer. A speculative copy reads the same data and is as slow, so leave these tasks alone otherwise.",
		Evidence: strings.Join(evidence, " "),
		SQL:      fmt.Sprintf("SELECT task, machine, duration_s, input_bytes, input_records FROM attempts\nWHERE phase_id = %d AND status = 'success' ORDER BY input_bytes DESC NULLS LAST", o.PhaseID)}
	for _, j := range k.d.Cost.Jobs.Rows {
		a.jobWorth = a.jobWorth || j.JobID == o.JobID && a.GainS.V >= max(1, worthJob*j.Loss.CompletionS.V)
	}
	if app := appOf(k.d, o.Application); app != "" {
		a.Title += " in " + app
	}
	a.Confidence, a.Reason = k.sure(schema.DataSkew)
	if settings && k.sparkSQL() && largest > 0 {
		a.Action += " Where the phase is a join of Spark SQL, the lines below let Spark split such partitions by itself."
		a.Settings = []Setting{k.set("spark.sql.adaptive.enabled", "true"), k.set("spark.sql.adaptive.skewJoin.enabled", "true")}
		if factor := largest / median; factor < 6.25 { // the default is 5
			a.Settings = append(a.Settings, k.set("spark.sql.adaptive.skewJoin.skewedPartitionFactor", strconv.FormatFloat(math.Max(1.5, math.Floor(factor*8)/10), 'f', -1, 64)))
		}
		if largest < 320<<20 { // the default is 256 MiB
			a.Settings = append(a.Settings, k.set("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", sparkSize(largest/2)))
		}
	}
	return a
}

// sparkSize is a size as Spark's settings take it.
func sparkSize(v float64) string {
	if v >= 1<<20 {
		return fmt.Sprintf("%dm", int64(v)>>20)
	}
	return fmt.Sprintf("%dk", max(1, int64(v)>>10))
}

func pluralWord(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
