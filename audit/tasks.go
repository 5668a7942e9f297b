package audit

import (
	"math"

	"straggler/stats"
)

// byTasks returns a lower bound of p from the tasks.
func (c *comparison) byTasks() float64 {
	n := float64(len(c.past) + 1)
	least := max(0.005*c.scale["slot_s"], 1e-3)
	switch c.rule.Name {
	case "cause_time":
		g, ok := c.tasksOf(causeSums, max(1, 0.02*c.scale["slot_s"]), 0)
		return chance(g, ok, n)
	case "stage_lost_time", "lost_time":
		g, ok := c.tasksOf(excessSums, least, c.speed)
		return chance(g, ok, n) * c.missing(g.k)
	case "stage_late", "slowdown_ratio":
		return c.longest(n)
	case "stage_time":
		return min(c.longest(n), c.withoutLate())
	case "outlier_share":
		before := 0.0
		for _, v := range c.past {
			before += v["outliers"] / v["tasks"] / float64(len(c.past))
		}
		return math.Pow(n, -max(0, c.tonight["outliers"]-before*c.tonight["tasks"]))
	case "task_time":
		if c.byMedians() {
			return 0
		}
		g, ok := c.tasksOf(excessSums, least, c.speed)
		return chance(g, ok, n)
	case "run_time":
		g, ok := c.tasksOf(excessSums, least, c.speed)
		return min(chance(g, ok, n), c.withoutLate())
	}
	return 0
}

// byMedians reports whether most of the additional time of all tasks is due to slower medians of their stages, which are based
// on many tasks.
func (c *comparison) byMedians() bool {
	more, medians := 0.0, 0.0
	for _, v := range c.past {
		more += (c.tonight["slot_s"] - v["slot_s"]) / float64(len(c.past))
		medians += (c.tonight["slot_s"] - c.tonight["excess_s"] - v["slot_s"] + v["excess_s"]) / float64(len(c.past))
	}
	return medians > more/2
}

// sums names the sum of the excess of tasks, and that of its squares, among the values of a run or stage.
type sums struct{ excess, squares string }

var excessSums, causeSums = sums{"excess_s", "excess_sq"}, sums{"seconds", "squares"}

// tasksOf compares tonight's excess with that of the history. A time of least is negligible, and is added to both.
func (c *comparison) tasksOf(of sums, least, speed float64) (growth, bool) {
	e, sq := c.tonight[of.excess]*math.Exp(-speed), c.tonight[of.squares]*math.Exp(-2*speed)
	if _, ok := c.tonight[of.squares]; !ok || len(c.past) == 0 {
		return growth{}, false
	}
	before, w := 0.0, 0.0
	for _, v := range c.past {
		x := v[of.excess] + least
		before += x
		w += v[of.squares] / (x * x)
	}
	before, w = before/float64(len(c.past)), w/float64(len(c.past))
	e += least
	g := growth{more: e - before}
	const clear = 0.85 // w differs from night to night too
	switch rise := sq/(e*e) - clear*w; {
	case g.more <= 0:
	case rise <= 0:
		g.k = math.Inf(1)
	default:
		g.k = g.more * g.more / (e * e * rise)
	}
	if g.more > 0 {
		g.k = min(g.k, g.more*e/sq)
	}
	return g, true
}

// growth computes how much more time was lost tonight than before, and to how many tasks.
//
// A single task that was slow by chance must not fail a night, however slow it was: with n runs before, none of which
// had such a task, the chance that it falls on tonight is 1/(n+1), and (n+1)^−k for k tasks that are slow
// independently (a binomial test of k events against none, given k). k is counted in tasks' worth, by the smaller of two
// counts, with lost time E = Σe and w = Σe²/E² (one over the number of tasks that E is spread over):
//
//   - tasks as slow as the slow ones are: the growth Δ over Σe²/E, the excess that a second of excess is part of;
//   - few tasks, slower than the others: Δ from k tasks of Δ/k each raises w by about (Δ/E)²/k.
//
// Tasks that are newly slow are also counted among the outliers. Where tonight has fewer new outliers than k, the tasks
// that were slow before are slower, and chance would need outliers that went missing at the same time: k − c of them,
// against what their number scatters from run to run.
type growth struct {
	more float64 // E tonight − E before, at the speed of the runs before
	k    float64 // tasks' worth
}

func chance(g growth, ok bool, n float64) float64 {
	if !ok {
		return 1
	}
	return math.Pow(n, -g.k)
}

// missing returns the probability that k newly slow tasks add as little to the number of outliers as observed, or 1 if unknown.
func (c *comparison) missing(k float64) float64 {
	if _, ok := c.tonight["outliers"]; !ok || len(c.past) < 3 || math.IsInf(k, 1) {
		return 1
	}
	n, before, scatter := float64(len(c.past)), 0.0, 0.0
	for _, v := range c.past {
		before += v["outliers"] / n
	}
	for _, v := range c.past {
		d := v["outliers"] - before
		scatter += d * d / (n - 1)
	}
	sd := math.Sqrt(max(1, scatter) * (1 + 1/n))
	short := k - (c.tonight["outliers"] - before)
	return stats.Student{DF: n - 1}.Survival(max(0, short) / sd)
}

// longest returns the probability that as many of tonight's tasks as observed are longer, in units of the median, than any of the
// earlier runs.
func (c *comparison) longest(n float64) float64 {
	most := 0.0
	for _, v := range c.past {
		if v["median_s"] > 0 {
			most = max(most, v["max_s"]/v["median_s"])
		}
	}
	k := 0
	for _, d := range c.stage.Longest {
		if d > most*c.tonight["median_s"] {
			k++
		}
	}
	return math.Pow(n, -float64(k))
}

// withoutLate tests a completion time as if no more of it had been spent waiting for late tasks than before.
func (c *comparison) withoutLate() float64 {
	before := 0.0
	for _, v := range c.past {
		before += v["lost_s"]
	}
	late := c.tonight["lost_s"] - before/float64(len(c.past))*math.Exp(c.speed)
	if late <= 0 {
		return 0
	}
	t := c.series.tonight
	net := math.Max(t.value-late, 1e-6)
	s := c.series
	s.tonight.y = t.y + math.Log(net/t.value)
	return s.judge(c.spread, c.prior).p
}
