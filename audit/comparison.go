package audit

import (
	"math"
	"slices"

	"straggler/audit/measure"
	"straggler/stats"
)

// comparison is one compared quantity.
type comparison struct {
	rule     Rule
	settings Settings
	sig      measure.Signature
	matches  *measure.Matches // of the run in the history
	what     string           // cause or machine
	scale    measure.Values
	series   series
	runs     []string         // of the history of the series
	speeds   []float64        // of those runs: logarithm of how much slower each was than the mean run
	stages   []*measure.Stage // of those runs
	tonight  measure.Values
	past     []measure.Values // of the history of the series
	speed    float64          // logarithm of how much slower the whole run was
	more     float64          // logarithm of how much longer tonight's work lets expect
	run      measure.Values   // mean of the runs
	changed  *Change
	unit     float64 // of the surprises of the rule
	prior    prior
	spread   spread
	verdict  verdict
	stage    *measure.Stage
}

// comparing collects the comparisons of a run with those of its history.
type comparing struct {
	run     *measure.Run
	history []*measure.Run
	matches *measure.Matches
	cfg     *Config
	known   func(finding string, of *measure.Run) bool // findings about earlier runs are not what is normal
	mean    measure.Values                             // of the history
	all     []comparison
}

// valuesOf is a function that returns the compared values of a run, if it has them.
type valuesOf func(*measure.Run) (measure.Values, bool)

func wholeRun(r *measure.Run) (measure.Values, bool) { return r.Values, true }

// compare matches tonight's values with those of the history.
func compare(r *measure.Run, history []*measure.Run, matches *measure.Matches, cfg *Config, known func(string, *measure.Run) bool) []comparison {
	c := comparing{run: r, history: history, matches: matches, cfg: cfg, known: known, mean: meanOf(history, wholeRun)}
	c.ofRun()
	for i := range r.Stages {
		c.ofStage(&r.Stages[i])
	}
	relativeToRun(c.all, r, history, matches)
	for i := range c.all {
		c.all[i].normalise()
	}
	return c.all
}

// ofRun compares the run as a whole.
func (c *comparing) ofRun() {
	for _, rule := range Rules() {
		switch {
		case rule.Stage:
		case rule.By == PerCause:
			for _, cause := range causesOf(c.run, c.history) {
				of := comparison{rule: rule, what: cause, scale: c.mean}
				of.rule.of = causeTime
				c.add(of, func(r *measure.Run) (measure.Values, bool) {
					return measure.Values{"seconds": r.Causes[cause], "squares": r.Squares[cause],
						"input_bytes": r.Values["input_bytes"], "attempts": r.Values["attempts"]}, true
				})
			}
		case rule.By == once:
			c.add(comparison{rule: rule, scale: c.mean}, wholeRun)
		}
	}
}

// ofStage compares one of its stages.
func (c *comparing) ofStage(s *measure.Stage) {
	find := func(h *measure.Run) (measure.Values, bool) {
		if t := c.matches.Stage(h, s); t != nil {
			return t.Values, true
		}
		return nil, false
	}
	scale := meanOf(c.history, find)
	for _, rule := range Rules() {
		if rule.Stage {
			c.add(comparison{rule: rule, sig: s.Signature, matches: c.matches, scale: scale, stage: s}, find)
		}
	}
}

// add adds a comparison if its rule is on, the run has the values and some of the history do.
func (c *comparing) add(of comparison, values valuesOf) {
	of.settings = c.cfg.settings(of.rule, c.run.Group, of.sig)
	if of.settings.Severity == Off {
		return
	}
	id := findingID(c.run.Group, of.rule.Name, of.sig, of.what)
	for _, h := range c.history {
		v, ok := values(h)
		if !ok || c.known(id, h) {
			continue
		}
		if p := of.rule.of(v, of.scale); p.ok {
			p.work = work(v)
			of.series.history = append(of.series.history, p)
			of.runs, of.past = append(of.runs, h.StartAndID()), append(of.past, v)
			if of.stage != nil {
				of.stages = append(of.stages, c.matches.Stage(h, of.stage))
			}
		}
	}
	of.tonight, _ = values(c.run)
	if of.series.tonight = of.rule.of(of.tonight, of.scale); of.series.tonight.ok && len(of.series.history) > 0 {
		of.series.tonight.work = work(of.tonight)
		of.run = c.mean
		c.all = append(c.all, of)
	}
}

// work returns the work of a run or stage: the bytes it read, or its number of tasks if these are unknown.
func work(v measure.Values) float64 {
	for _, name := range []string{"input_bytes", "tasks", "attempts"} {
		if v[name] > 0 {
			return v[name]
		}
	}
	return 0
}

func causesOf(r *measure.Run, history []*measure.Run) []string {
	var names []string
	for _, h := range append(slices.Clone(history), r) {
		for name := range h.Causes {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// meanOf returns the mean of each value over the history, summed in a fixed order.
func meanOf(history []*measure.Run, of valuesOf) measure.Values {
	out, n := measure.Values{}, map[string]float64{}
	for _, h := range history {
		v, ok := of(h)
		if !ok {
			continue
		}
		for name, x := range v {
			out[name] += x
			n[name]++
		}
	}
	for name := range out {
		out[name] /= n[name]
	}
	return out
}

// causeTime compares seconds of a cause on a scale that begins at a fiftieth of the application's slot time.
func causeTime(v, scale measure.Values) point {
	c := max(1, 0.02*scale["slot_s"])
	x := max(0, v["seconds"])
	return point{value: x, y: math.Log(x + c), w: 1, ok: true}
}

// relativeToRun subtracts from the times of stages the slowdown of the whole run: the median over the stages of the logarithm
// of their medians. A slower night is then one finding about the application and not one about each stage. With few stages
// nothing is subtracted, because a stage must not be compared with itself.
func relativeToRun(all []comparison, r *measure.Run, history []*measure.Run, matches *measure.Matches) {
	const leastStages = 5 // the median of five hardly depends on a single one
	runs := append(slices.Clone(history), r)
	var logs [][]float64
	for i := range r.Stages {
		s := &r.Stages[i]
		var v []float64
		for _, h := range runs {
			t := matches.Stage(h, s)
			if t == nil || !(t.Values["median_s"] > 0) {
				break
			}
			v = append(v, math.Log(t.Values["median_s"]))
		}
		if len(v) == len(runs) {
			logs = append(logs, v)
		}
	}
	if len(logs) < leastStages {
		return
	}
	speed := map[string]float64{}
	for k, h := range runs {
		var d []float64
		for _, v := range logs {
			d = append(d, v[k]-mean(v))
		}
		speed[h.StartAndID()] = stats.Median(d)
	}
	for i := range all {
		all[i].shift(r, speed)
	}
}

// shift subtracts the speed of each run from a stage's values.
func (c *comparison) shift(r *measure.Run, speed map[string]float64) {
	if !c.rule.Stage {
		return
	}
	c.speed = speed[r.StartAndID()]
	for _, night := range c.runs {
		c.speed -= speed[night] / float64(len(c.runs))
		c.speeds = append(c.speeds, speed[night])
	}
	if !c.series.tonight.speed {
		return
	}
	for i := range c.series.history {
		c.series.history[i].y -= speed[c.runs[i]]
	}
	c.series.tonight.y -= speed[r.StartAndID()]
}

// learnPriors computes the spread of each comparison, and its prior from all series of its rule.
func learnPriors(all []comparison) {
	spreads := map[string][]spread{}
	for i := range all {
		c := &all[i]
		c.spread = c.series.spread()
		spreads[c.rule.pool()] = append(spreads[c.rule.pool()], c.spread)
	}
	priors := map[string]prior{}
	for name, s := range spreads {
		priors[name] = learnPrior(s)
	}
	for i := range all {
		all[i].prior = priors[all[i].rule.pool()]
	}
}

// pool names the group of rules with similar variances: an application learns from its stages.
func (r *Rule) pool() string {
	switch r.Name {
	case "run_time", "task_time":
		return "stage_time"
	case "lost_time":
		return "stage_lost_time"
	}
	return r.Name
}

// test reports whether there are enough data for a test.
func (c *comparison) test() bool {
	if c.spread.n < 2 || c.spread.n-1+int(c.prior.df) < 1 || !c.series.tonight.ok {
		return false
	}
	c.verdict = c.series.judge(c.spread, c.prior)
	c.verdict.p = max(c.verdict.p, c.byTasks())
	return !math.IsNaN(c.verdict.p)
}

// large reports whether the change is larger than the rule allows, and large enough to matter.
func (c *comparison) large() bool {
	return c.exceeds(c.series.tonight.value, c.normal(), c.tonight)
}

// wasLarge is the same as large, for a night of the history.
func (c *comparison) wasLarge(k int) bool {
	return c.exceeds(c.series.history[k].value, c.usual(), c.past[k])
}

// exceeds reports whether a value is larger than a normal one by what the rule allows and by what matters to a run.
func (c *comparison) exceeds(value, normal float64, of measure.Values) bool {
	by, share := value-normal, c.settings.MinShare
	switch c.rule.Unit {
	case "s":
		if by < share*c.run["time_s"] {
			return false
		}
	case "slot s":
		if by < share*c.run["slot_s"] {
			return false
		}
	default:
		if c.stage != nil && of["slot_s"] < share*c.run["slot_s"] {
			return false
		}
	}
	return by >= c.settings.MinAbs && by >= c.settings.MinChange*normal && by > 0
}

// normal returns the median of the history, adjusted to the work of tonight.
func (c *comparison) normal() float64 { return c.usual() * math.Exp(c.more) }

func (c *comparison) usual() float64 {
	var v []float64
	for _, p := range c.series.history {
		v = append(v, p.value)
	}
	return stats.Median(v)
}
