package audit

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/cespare/xxhash/v2"
)

// Status is what is known about a finding from the nights before.
type Status string

const (
	New        Status = "new"
	Ongoing    Status = "ongoing"
	Fixed      Status = "fixed"
	Accepted   Status = "accepted"   // somebody decided that it is normal from now on
	Suppressed Status = "suppressed" // the configuration says not to tell
	Learning   Status = "learning"   // seen with fewer runs than a judgement needs
)

// Finding is something that got worse.
type Finding struct {
	ID        string     `json:"id"` // the same every night
	Rule      string     `json:"rule"`
	Severity  Severity   `json:"severity"`
	Status    Status     `json:"status"`
	First     string     `json:"first_seen"` // start of the run that showed it first
	Group     string     `json:"application"`
	Run       string     `json:"run"`
	Stage     *Signature `json:"stage,omitempty"`
	Cause     string     `json:"cause,omitempty"`   // of a finding about one cause
	Machine   string     `json:"machine,omitempty"` // of a finding about a machine
	Unit      string     `json:"unit,omitempty"`
	Value     *float64   `json:"value"` // tonight
	Normal    *float64   `json:"normal"`
	Low       *float64   `json:"low"` // 95 % prediction interval for a run like those before
	High      *float64   `json:"high"`
	Change    *float64   `json:"change"` // fraction of normal
	Runs      int        `json:"runs"`   // of history that it is compared with
	P         *float64   `json:"p_value"`
	Q         *float64   `json:"q_value"` // false discovery rate over all comparisons of the night
	Detail    string     `json:"detail,omitempty"`
	Likely    string     `json:"likely_cause,omitempty"`
	LikelyBy  *float64   `json:"likely_cause_s,omitempty"` // seconds that the cause grew by
	SQL       string     `json:"sql,omitempty"`
	Reason    string     `json:"reason,omitempty"` // of a suppression or decision
	Expires   string     `json:"expires,omitempty"`
	signature Signature
}

// Subject says in one line what the finding is about; hostile as the log it comes from.
func (f *Finding) Subject() string {
	s := f.Group
	if f.Stage != nil {
		s += ": " + f.Stage.String()
	}
	switch {
	case f.Cause != "":
		s += ": " + f.Cause
	case f.Machine != "":
		s += ": machine " + f.Machine
	}
	return s
}

// findingID is short enough to type and the same in every run.
func findingID(group, rule string, s Signature, what string) string {
	h := xxhash.New()
	for _, part := range []string{group, rule, s.Job, s.Stage, s.Kind, fmt.Sprint(s.Depth, s.Nth), what} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return fmt.Sprintf("F%010x", h.Sum64()>>24)
}

// comparison is one thing compared.
type comparison struct {
	rule     Rule
	settings Settings
	sig      Signature
	what     string // cause or machine
	scale    Values
	series   series
	runs     []string // of the history of the series
	tonight  Values
	past     []Values // of the history of the series
	speed    float64  // logarithm of how much slower the whole run was
	prior    prior
	spread   spread
	verdict  verdict
	stage    *Stage
}

// Judgement is what comparing one run with its history gives.
type Judgement struct {
	Group       string    `json:"application"`
	Run         string    `json:"run"`
	Start       string    `json:"start"`
	History     int       `json:"history"`     // runs compared with
	Comparisons int       `json:"comparisons"` // over which the false discovery rate is held
	Learning    bool      `json:"learning"`
	NewStages   []string  `json:"new_stages"`  // of tonight that no run before had
	GoneStages  []string  `json:"gone_stages"` // that every run before had
	Findings    []Finding `json:"findings"`
	Detectable  *float64  `json:"detectable_change"` // median over stages of the least change of lost time that would have been significant alone (p < 0.001)
	seen        map[string]bool
}

// judge compares a run with those before. known leaves out of the history what a decision or a finding says is no
// example of what is normal.
func judge(r *Run, history []*Run, cfg *Config, known func(id string, h *Run) bool) Judgement {
	j := Judgement{Group: r.Group, Run: r.ID, Start: r.Start, History: len(history), Learning: len(history) < cfg.MinRuns,
		NewStages: []string{}, GoneStages: []string{}, Findings: []Finding{}, seen: map[string]bool{}}
	all := compare(r, history, cfg, known)
	pools := poolsOf(all)
	var p []float64
	var tested []*comparison
	for i := range all {
		c := &all[i]
		if c.test(pools[c.rule.Name]) {
			p = append(p, c.verdict.p)
			tested = append(tested, c)
		}
	}
	machines, mp := newMachines(r, history, cfg, known)
	q := discoveries(append(p, mp...))
	j.Comparisons = len(q)
	for i, c := range tested {
		if q[i] <= cfg.FDR && exceeds(c.verdict.surprise, pools[c.rule.Name].surprises) && c.large() {
			j.Findings = append(j.Findings, c.finding(r, history, q[i]))
		}
	}
	for i, f := range machines {
		if f.ID != "" && q[len(tested)+i] <= cfg.FDR {
			x := q[len(tested)+i]
			f.Q = number(x)
			j.Findings = append(j.Findings, f)
		}
	}
	j.Findings = append(j.Findings, incomplete(r, history, cfg)...)
	j.stages(r, history)
	j.Detectable = detectable(tested)
	return j
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

func median(v []float64) float64 {
	sort.Float64s(v)
	n := len(v)
	if n == 0 {
		return math.NaN()
	}
	return (v[(n-1)/2] + v[n/2]) / 2
}

// compare lines up tonight's values with those of the history.
func compare(r *Run, history []*Run, cfg *Config, known func(string, *Run) bool) []comparison {
	var all []comparison
	add := func(c comparison, values func(*Run) (Values, bool)) {
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
				c.runs, c.past = append(c.runs, h.night()), append(c.past, v)
			}
		}
		c.tonight, _ = values(r)
		if c.series.tonight = c.rule.of(c.tonight, c.scale); c.series.tonight.ok && len(c.series.history) > 0 {
			all = append(all, c)
		}
	}
	whole := func(r *Run) (Values, bool) { return r.Values, true }
	for _, rule := range Rules() {
		switch {
		case rule.stage:
		case rule.by == perCause:
			for _, cause := range causesOf(r, history) {
				c := comparison{rule: rule, what: cause, scale: meanOf(history, whole)}
				c.rule.of = causeTime
				add(c, func(r *Run) (Values, bool) {
					return Values{"seconds": r.Causes[cause], "squares": r.Squares[cause]}, true
				})
			}
		case rule.by == once:
			add(comparison{rule: rule, scale: meanOf(history, whole)}, whole)
		}
	}
	for i := range r.Stages {
		s := &r.Stages[i]
		find := func(h *Run) (Values, bool) {
			if t := h.stage(s.Signature); t != nil {
				return t.Values, true
			}
			return nil, false
		}
		scale := meanOf(history, find)
		for _, rule := range Rules() {
			if rule.stage {
				add(comparison{rule: rule, sig: s.Signature, scale: scale, stage: s}, find)
			}
		}
	}
	relativeToRun(all, r, history)
	return all
}

// causeTime compares seconds of a cause on a scale that begins at a fiftieth of the application's slot time.
func causeTime(v, scale Values) point {
	c := max(1, 0.02*scale["slot_s"])
	x := max(0, v["seconds"])
	return point{value: x, y: math.Log(x + c), w: 1, ok: true}
}

func causesOf(r *Run, history []*Run) []string {
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
func meanOf(history []*Run, of func(*Run) (Values, bool)) Values {
	out, n := Values{}, map[string]float64{}
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

// stage finds a stage by its signature; stages are in its order.
func (r *Run) stage(sig Signature) *Stage {
	i := sort.Search(len(r.Stages), func(i int) bool { return !r.Stages[i].Signature.less(sig) })
	if i < len(r.Stages) && r.Stages[i].Signature == sig {
		return &r.Stages[i]
	}
	return nil
}

// relativeToRun takes from the times of stages what the whole run was slower than the other runs: the median over the
// stages of the logarithm of their medians. A slower night is one finding about the application and not one about each
// stage. With few stages nothing is taken: a stage must not be compared with itself.
func relativeToRun(all []comparison, r *Run, history []*Run) {
	const leastStages = 5
	runs := append(slices.Clone(history), r)
	logs := map[Signature][]float64{}
	for i := range r.Stages {
		s := &r.Stages[i]
		var v []float64
		for _, h := range runs {
			t := h.stage(s.Signature)
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
		speed[h.night()] = median(d)
	}
	for i := range all {
		all[i].shift(r, speed)
	}
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// number is a figure of an output; NaN and infinities are unknown.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	x = round(x)
	return &x
}

// newMachines are the slow machines that no run before had. Their p is the q-value that causes
// found among the machines of the night, which is no smaller; every machine that was judged is a comparison.
func newMachines(r *Run, history []*Run, cfg *Config, known func(string, *Run) bool) ([]Finding, []float64) {
	rule, _ := RuleNamed("bad_machine")
	set := cfg.settings(rule, r.Group, Signature{})
	if set.Severity == Off || len(history) == 0 {
		return nil, nil
	}
	findings := make([]Finding, 0, r.machines)
	var p []float64
	for _, name := range sortedKeys(r.Machines) {
		m := r.Machines[name]
		f := Finding{ID: findingID(r.Group, rule.Name, Signature{}, name), Rule: rule.Name, Severity: set.Severity, Group: r.Group, Run: r.ID,
			Machine: name, Unit: rule.Unit, Value: number(m.Factor), Normal: number(1), Low: number(m.Low), High: number(m.High), Change: number(m.Factor - 1),
			Runs: len(history), Likely: "bad_machine", Detail: fmt.Sprintf("%s: takes %.2f × the time of the others (95 %% interval %.2f to %.2f)", m.Verdict, m.Factor, m.Low, m.High)}
		f.P = number(m.Q)
		f.SQL = "SELECT * FROM machine_health WHERE verdict IN ('slow', 'flaky') ORDER BY factor DESC NULLS LAST"
		if m.Factor-1 < set.MinAbs || wasBad(name, history, f.ID, known) {
			f.ID = ""
		}
		findings, p = append(findings, f), append(p, m.Q)
	}
	for len(p) < r.machines { // those like the others
		findings, p = append(findings, Finding{}), append(p, 1)
	}
	return findings, p
}

func wasBad(name string, history []*Run, id string, known func(string, *Run) bool) bool {
	for _, h := range history {
		if _, ok := h.Machines[name]; ok && !known(id, h) {
			return true
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// incomplete compares what the log says of itself with what the logs before said.
func incomplete(r *Run, history []*Run, cfg *Config) []Finding {
	rule, _ := RuleNamed("log_complete")
	set := cfg.settings(rule, r.Group, Signature{})
	whole, rejects := 0, 0.0
	for _, h := range history {
		if h.Complete {
			whole++
		}
		rejects = max(rejects, h.Values["rejects"])
	}
	f := Finding{ID: findingID(r.Group, rule.Name, Signature{}, ""), Rule: rule.Name, Severity: set.Severity, Group: r.Group, Run: r.ID, Runs: len(history)}
	switch {
	case set.Severity == Off || len(history) == 0:
		return nil
	case !r.Complete && whole > 0:
		f.Detail = fmt.Sprintf("the log has no end; those of %d of %d runs before had one", whole, len(history))
		f.SQL = fmt.Sprintf("SELECT code, count, detail FROM caveats WHERE application_id = %d ORDER BY code NULLS LAST", r.key)
	case r.Values["rejects"] > rejects:
		f.Detail = fmt.Sprintf("%.0f records could not be read; of the runs before, at most %.0f", r.Values["rejects"], rejects)
		f.SQL = "SELECT source_file, line, reason FROM rejects ORDER BY source_file NULLS LAST, byte_offset NULLS LAST LIMIT 20"
	default:
		return nil
	}
	return []Finding{f}
}

// stages names those that came and went.
func (j *Judgement) stages(r *Run, history []*Run) {
	if len(history) == 0 {
		return
	}
	for i := range r.Stages {
		sig := r.Stages[i].Signature
		if !slices.ContainsFunc(history, func(h *Run) bool { return h.stage(sig) != nil }) {
			j.NewStages = append(j.NewStages, sig.String())
		}
	}
	last := history[len(history)-1]
	for i := range last.Stages {
		sig := last.Stages[i].Signature
		if r.stage(sig) == nil && !slices.ContainsFunc(history, func(h *Run) bool { return h.stage(sig) == nil }) {
			j.GoneStages = append(j.GoneStages, sig.String())
		}
	}
}
