package audit

import (
	"math"
	"slices"

	"straggler/audit/measure"
)

// comparison is one thing compared.
type comparison struct {
	rule     Rule
	settings Settings
	sig      measure.Signature
	what     string // cause or machine
	scale    measure.Values
	series   series
	runs     []string // of the history of the series
	tonight  measure.Values
	past     []measure.Values // of the history of the series
	speed    float64          // logarithm of how much slower the whole run was
	prior    prior
	spread   spread
	verdict  verdict
	stage    *measure.Stage
}

// compare lines up tonight's values with those of the history.
func compare(r *measure.Run, history []*measure.Run, cfg *Config, known func(string, *measure.Run) bool) []comparison {
	var all []comparison
	add := func(c comparison, values func(*measure.Run) (measure.Values, bool)) {
		c.settings = cfg.settings(c.rule, r.Group, c.sig)
		if c.settings.Severity == Off {
			return
		}
		id := findingID(r.Group, c.rule.Name, c.sig, c.what)
		for _, h := range history {
			v, ok := values(h)
			if !ok || known(id, h) {
				continue
			}
			if p := c.rule.of(v, c.scale); p.ok {
				c.series.history = append(c.series.history, p)
				c.runs, c.past = append(c.runs, h.StartAndID()), append(c.past, v)
			}
		}
		c.tonight, _ = values(r)
		if c.series.tonight = c.rule.of(c.tonight, c.scale); c.series.tonight.ok && len(c.series.history) > 0 {
			all = append(all, c)
		}
	}
	whole := func(r *measure.Run) (measure.Values, bool) { return r.Values, true }
	for _, rule := range Rules() {
		switch {
		case rule.Stage:
		case rule.By == PerCause:
			for _, cause := range causesOf(r, history) {
				c := comparison{rule: rule, what: cause, scale: meanOf(history, whole)}
				c.rule.of = causeTime
				add(c, func(r *measure.Run) (measure.Values, bool) {
					return measure.Values{"seconds": r.Causes[cause], "squares": r.Squares[cause]}, true
				})
			}
		case rule.By == once:
			add(comparison{rule: rule, scale: meanOf(history, whole)}, whole)
		}
	}
	for i := range r.Stages {
		s := &r.Stages[i]
		find := func(h *measure.Run) (measure.Values, bool) {
			if t := h.Stage(s.Signature); t != nil {
				return t.Values, true
			}
			return nil, false
		}
		scale := meanOf(history, find)
		for _, rule := range Rules() {
			if rule.Stage {
				add(comparison{rule: rule, sig: s.Signature, scale: scale, stage: s}, find)
			}
		}
	}
	relativeToRun(all, r, history)
	return all
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

// meanOf is the mean of each value over the history, in a fixed order.
func meanOf(history []*measure.Run, of func(*measure.Run) (measure.Values, bool)) measure.Values {
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

// relativeToRun takes from the times of stages what the whole run was slower than the other runs: the median over the
// stages of the logarithm of their medians. A slower night is one finding about the application and not one about each
// stage. With few stages nothing is taken: a stage must not be compared with itself.
func relativeToRun(all []comparison, r *measure.Run, history []*measure.Run) {
	const leastStages = 5
	runs := append(slices.Clone(history), r)
	logs := map[measure.Signature][]float64{}
	for i := range r.Stages {
		s := &r.Stages[i]
		var v []float64
		for _, h := range runs {
			t := h.Stage(s.Signature)
			if t == nil || !(t.Values["median_s"] > 0) {
				break
			}
			v = append(v, math.Log(t.Values["median_s"]))
		}
		if len(v) == len(runs) {
			logs[s.Signature] = v
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
		speed[h.StartAndID()] = median(d)
	}
	for i := range all {
		all[i].shift(r, speed)
	}
}

// shift takes the speed of each run from a stage's values.
func (c *comparison) shift(r *measure.Run, speed map[string]float64) {
	if !c.rule.Stage {
		return
	}
	c.speed = speed[r.StartAndID()]
	for _, night := range c.runs {
		c.speed -= speed[night] / float64(len(c.runs))
	}
	if !c.series.tonight.speed {
		return
	}
	for i := range c.series.history {
		c.series.history[i].y -= speed[c.runs[i]]
	}
	c.series.tonight.y -= speed[r.StartAndID()]
}

// pool is what the comparisons of one rule say together.
type pool struct {
	prior     prior
	surprises []float64
}

func poolsOf(all []comparison) map[string]*pool {
	spreads := map[string][]spread{}
	for i := range all {
		c := &all[i]
		c.spread = c.series.spread()
		spreads[c.rule.pool()] = append(spreads[c.rule.pool()], c.spread)
	}
	pools := map[string]*pool{}
	for i := range all {
		c := &all[i]
		po := pools[c.rule.Name]
		if po == nil {
			po = &pool{prior: learnPrior(spreads[c.rule.pool()])}
			pools[c.rule.Name] = po
		}
		po.surprises = c.series.surprises(c.spread, po.prior, po.surprises)
	}
	return pools
}

// pool names the rules whose variances are alike: an application learns from its stages.
func (r *Rule) pool() string {
	switch r.Name {
	case "run_time":
		return "stage_time"
	case "lost_time":
		return "stage_lost_time"
	}
	return r.Name
}

// test says whether there is enough to test with.
func (c *comparison) test(po *pool) bool {
	if c.spread.n < 2 || c.spread.n-1+int(po.prior.df) < 1 || !c.series.tonight.ok {
		return false
	}
	c.prior = po.prior
	c.verdict = c.series.judge(c.spread, po.prior)
	c.verdict.p = max(c.verdict.p, c.byTasks())
	return !math.IsNaN(c.verdict.p)
}

// large says that the change is larger than the rule allows.
func (c *comparison) large() bool {
	normal, by := c.normal(), c.series.tonight.value-c.normal()
	return by >= c.settings.MinAbs && by >= c.settings.MinChange*normal && by > 0
}

// normal is the median of the history.
func (c *comparison) normal() float64 {
	var v []float64
	for _, p := range c.series.history {
		v = append(v, p.value)
	}
	return median(v)
}
