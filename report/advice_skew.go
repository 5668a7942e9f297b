package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"straggler/report/prose"
	"straggler/schema"
)

// leastPartition is the size below which a partition is not worth splitting: 16 KiB. An estimate: even at 1 MB/s it is read in
// 16 ms, about the time of launching another task, so its size is not what takes long.
const leastPartition = 16 << 10

func adviseSkew(k *known) []Advice {
	type phaseKey struct{ program, phase, name string }
	byPhase := map[phaseKey]*skewed{}
	var order []*skewed
	for i := range k.d.Outliers.Rows {
		o := &k.d.Outliers.Rows[i]
		if skew := skewOf(o); o.CostS.V <= 0 || skew <= 0 || skew < k.mainPart*o.ExcessS.V || o.InputBytes.OK && o.InputBytes.V < leastPartition {
			continue
		}
		at := phaseKey{AppOf(k.d, o.Application), PhaseTitle(o.Phase, o.PhaseAttempt), prose.MaybeName(o.PhaseName)}
		g := byPhase[at]
		if g == nil {
			g = &skewed{}
			byPhase[at] = g
			order = append(order, g)
		}
		g.tasks = append(g.tasks, o)
		if !slices.Contains(g.phases, o.PhaseID) {
			g.phases = append(g.phases, o.PhaseID)
		}
	}
	for _, g := range order {
		for _, p := range g.phases {
			g.gain += k.evenGain(p, g.tasks)
		}
	}
	slices.SortStableFunc(order, func(a, b *skewed) int { return cmp.Compare(b.gain, a.gain) })
	var out []Advice
	for i, g := range order[:min(len(order), 3)] {
		out = append(out, k.split(g, i == 0))
	}
	return out
}

// skewed are the tasks slowed by their data in one phase, or in the same phase of several runs of a program.
type skewed struct {
	tasks  []*Outlier
	phases []schema.Key
	gain   float64 // s
}

// evenGain returns the job time that a phase's skewed tasks cost: what the phase lost to skew, or what its listed tasks did.
func (k *known) evenGain(phase schema.Key, tasks []*Outlier) float64 {
	lost, sum := 0.0, 0.0
	for _, p := range k.d.Phases.Rows {
		for _, part := range p.Parts {
			if p.PhaseID == phase && part.Cause == schema.DataSkew {
				lost = part.LostS
			}
		}
	}
	for _, t := range tasks {
		if t.PhaseID == phase {
			sum += t.CostS.V * min(skewOf(t)/t.ExcessS.V, 1)
		}
	}
	return max(lost, sum)
}

// split advises on skewed tasks.
func (k *known) split(g *skewed, settings bool) Advice {
	o := slices.MaxFunc(g.tasks, func(a, b *Outlier) int { return cmp.Compare(skewOf(a), skewOf(b)) })
	phase := PhaseTitle(o.Phase, o.PhaseAttempt)
	if n := prose.MaybeName(o.PhaseName); n != "" {
		phase += " (" + n + ")"
	}
	partitions := partitionsOf(g.tasks)
	a := Advice{Kind: Act, GainS: schema.Some(g.gain), GainBasis: "job time lost to it; an upper bound of what even partitions save",
		Title:    fmt.Sprintf("Split %s %s of %s", prose.PluralWord(len(partitions), "partition", "partitions"), prose.Join(partitions), phase),
		Action:   "Spread its keys over more tasks: salt the heavy key, aggregate before the shuffle, or partition by a finer key. A speculative copy reads the same data and is as slow, so leave these tasks alone otherwise.",
		Evidence: skewEvidence(g.tasks),
		SQL: fmt.Sprintf("SELECT phase_id, task, machine, duration_s, input_bytes, input_records FROM attempts\nWHERE phase_id IN (%s) AND status = 'success' ORDER BY input_bytes DESC NULLS LAST",
			schema.KeyList(g.phases))}
	for _, j := range k.d.Cost.Jobs.Rows {
		a.jobWorth = a.jobWorth || j.JobID == o.JobID && a.GainS.V >= max(1, k.worthJob*j.Loss.CompletionS.V)
	}
	if k.workflow() || o.StoredInput.V {
		a.Title = fmt.Sprintf("Divide the input of %s %s of %s", prose.PluralWord(len(partitions), "task", "tasks"), prose.Join(partitions), phase)
	}
	switch {
	case k.workflow():
		a.Action = "Divide the input among more tasks, or give these tasks more processors if their program can use them. A copy of a task reads the same data and is as slow, so leave them alone otherwise."
	case o.StoredInput.V:
		a.Action = "The parts of stored data that tasks read differ in size: write files of equal size in a format that can be split, limit how much one task reads, or repartition what was read. A speculative copy reads the same data and is as slow, so do not copy these tasks."
	}
	if app := AppOf(k.d, o.Application); app != "" {
		a.Title += " in " + app
	}
	if n := len(g.phases); n > 1 {
		a.Title += fmt.Sprintf(", over %d runs", n)
	}
	a.Confidence, a.Reason = k.sure(schema.DataSkew)
	if f := k.findingOf(g.phases); f != nil {
		a.ofQuery(f, g)
		return a
	}
	if !settings || !k.sparkSQL() || o.StoredInput.V {
		return a
	}
	if a.Settings = k.skewJoin(g.tasks); len(a.Settings) > 0 {
		a.Action += " Where the phase is a join of Spark SQL, the lines below let Spark split such partitions by itself."
	}
	return a
}

// partitionsOf lists the partitions of the first tasks, five at most.
func partitionsOf(tasks []*Outlier) []string {
	var seen []int64
	for _, t := range tasks {
		if !slices.Contains(seen, t.Task) && len(seen) < 5 {
			seen = append(seen, t.Task)
		}
	}
	slices.Sort(seen)
	var out []string
	for _, p := range seen {
		out = append(out, strconv.FormatInt(p, 10))
	}
	return out
}

// skewEvidence returns the evidence for the first three of the partitions, from the highest-ranked attempt at each.
func skewEvidence(tasks []*Outlier) string {
	var out []string
	var seen []int64
	for _, t := range tasks {
		if slices.Contains(seen, t.Task) {
			continue
		}
		for _, c := range t.Causes {
			if c.Cause == schema.DataSkew && len(out) < 3 {
				seen = append(seen, t.Task)
				out = append(out, fmt.Sprintf("Task %d %s: %s.", t.Task, c.Words, ofExcess(t, c.Seconds, true)))
			}
		}
	}
	return strings.Join(out, " ")
}

// skewJoin returns the settings, among those not in force, with which Spark SQL splits the largest of these partitions.
func (k *known) skewJoin(tasks []*Outlier) []Setting {
	largest, median := 0.0, 0.0
	for _, t := range tasks {
		for _, c := range t.Causes {
			if e := parseEvidence(c.Evidence); c.Cause == schema.DataSkew && e.Unit == "bytes" && e.ratio() > 1 && *e.Value > largest {
				largest, median = *e.Value, *e.Median
			}
		}
	}
	if largest == 0 {
		return nil
	}
	out := []Setting{k.set("spark.sql.adaptive.enabled", "true"), k.set("spark.sql.adaptive.skewJoin.enabled", "true")}
	if factor := largest / median; factor < 6.25 { // the default is 5
		out = append(out, k.set("spark.sql.adaptive.skewJoin.skewedPartitionFactor", strconv.FormatFloat(math.Max(1.5, math.Floor(factor*8)/10), 'f', -1, 64)))
	}
	if largest < 320<<20 { // the default is 256 MiB
		out = append(out, k.set("spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes", sparkSize(largest/2)))
	}
	return slices.DeleteFunc(out, func(s Setting) bool { return s.Current.OK && s.Current.V == s.Value })
}

// sparkSize formats a size for a setting of Spark.
func sparkSize(v float64) string {
	if v >= 1<<20 {
		return fmt.Sprintf("%dm", int64(v)>>20)
	}
	return fmt.Sprintf("%dk", max(1, int64(v)>>10))
}

// skewOf returns the part of an outlier's excess that is due to its data.
func skewOf(o *Outlier) float64 {
	for _, c := range o.Causes {
		if c.Cause == schema.DataSkew {
			return c.Seconds
		}
	}
	return 0
}
