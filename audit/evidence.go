package audit

import (
	"fmt"
	"math"

	"straggler/audit/measure"
)

// finding puts a comparison into words and figures.
func (c *comparison) finding(r *measure.Run, history []*measure.Run, q float64) Finding {
	f := Finding{ID: findingID(r.Group, c.rule.Name, c.sig, c.what), Rule: c.rule.Name, Severity: c.settings.Severity, Group: r.Group, Run: r.ID,
		Unit: c.rule.Unit, Runs: c.spread.n, P: number(c.verdict.p), Q: number(q)}
	normal := c.normal()
	f.Value, f.Normal = number(c.series.tonight.value), number(normal)
	if normal > 0 {
		f.Change = number(c.series.tonight.value/normal - 1)
	}
	low, high := c.verdict.interval()
	f.Low, f.High = number(c.back(low)), number(c.back(high))
	if normal == 0 { // what a logarithm adds to 0 becomes more or less of it at the speed of tonight
		f.Low = number(0)
	}
	if c.rule.By == PerCause {
		f.Cause = c.what
	}
	if c.stage != nil {
		sig := c.sig
		f.Stage = &sig
	}
	c.likely(&f, r, history)
	c.query(&f, r)
	return f
}

// back converts a position on the scale of comparison to the unit of the rule, for the speed of tonight's run.
func (c *comparison) back(y float64) float64 {
	raw := c.rule.of(c.tonight, c.scale)
	if c.rule.Unit == "share" { // the angle of (k + 3/8) / (n + 3/4)
		y = min(max(y, 0), math.Pi/2)
		n := (1/raw.w - 2) / 4
		return min(max(((n+0.75)*math.Sin(y)*math.Sin(y)-0.375)/n, 0), 1)
	}
	if c.rule.Name == "stage_lost_time" { // ln((value + constant) / median)
		y += raw.y - c.series.tonight.y + math.Log(c.tonight["median_s"])
		raw.y += math.Log(c.tonight["median_s"])
		return max(0, math.Exp(y)-math.Exp(raw.y)+raw.value)
	}
	constant := math.Exp(raw.y) - raw.value // of ln(value + constant)
	return max(0, math.Exp(y+raw.y-c.series.tonight.y)-constant)
}

// likely names the cause whose seconds grew most over the mean of the history.
func (c *comparison) likely(f *Finding, r *measure.Run, history []*measure.Run) {
	causes := func(r *measure.Run) (measure.Values, bool) { return r.Causes, true }
	tonight := r.Causes
	if c.stage != nil {
		tonight = c.stage.Causes
		causes = func(r *measure.Run) (measure.Values, bool) {
			if s := c.matches.Stage(r, c.stage); s != nil {
				return s.Causes, true
			}
			return nil, false
		}
	}
	if c.rule.By == PerCause {
		f.Likely = c.what
		return
	}
	switch {
	case c.rule.Name == "input_skew":
		f.Likely = "data_skew"
		return
	case c.rule.Name == "task_time" && c.byMedians(): // causes are of tasks that are slow within their stage
		return
	}
	n := 0.0
	before := measure.Values{}
	for _, h := range history {
		if v, ok := causes(h); ok {
			n++
			for name, x := range v {
				before[name] += x
			}
		}
	}
	best := 0.0
	for _, name := range sortedKeys(tonight) {
		if by := tonight[name] - before[name]/max(n, 1); by > best {
			best, f.Likely = by, name
		}
	}
	if best > 0 {
		f.LikelyBy = number(best)
	}
}

// query sets a finding's SQL, which shows the attempts or phases behind it.
func (c *comparison) query(f *Finding, r *measure.Run) {
	switch {
	case c.rule.Name == "input_skew":
		f.SQL = fmt.Sprintf("SELECT task, input_bytes, duration_s, machine FROM attempts WHERE phase_id = %d ORDER BY input_bytes DESC NULLS LAST LIMIT 20", c.stage.ApplicationKey)
	case c.stage != nil:
		f.SQL = fmt.Sprintf("SELECT a.task, a.machine, a.duration_s, t.cause, t.seconds FROM attempts a LEFT JOIN attributions t ON t.attempt_id = a.attempt_id AND t.rank = 1 WHERE a.phase_id = %d ORDER BY a.duration_s DESC NULLS LAST LIMIT 20", c.stage.ApplicationKey)
	case c.rule.Name == "failed_attempts":
		f.SQL = fmt.Sprintf("SELECT reason, machine, count(*) AS attempts FROM attempts WHERE application_id = %d AND status IN ('failed', 'lost') GROUP BY reason, machine ORDER BY attempts DESC NULLS LAST", r.ApplicationKey)
	case c.rule.Name == "recomputed_attempts":
		f.SQL = fmt.Sprintf("SELECT machine, count(*) AS losses FROM losses l JOIN phases p ON p.phase_id = l.phase_id JOIN jobs j ON j.job_id = p.job_id WHERE j.application_id = %d GROUP BY machine ORDER BY losses DESC NULLS LAST", r.ApplicationKey)
	case c.rule.By == PerCause:
		f.SQL = fmt.Sprintf("SELECT p.name, a.task, a.machine, t.seconds, t.evidence FROM attributions t JOIN attempts a ON a.attempt_id = t.attempt_id JOIN phases p ON p.phase_id = t.phase_id WHERE a.application_id = %d AND t.cause = '%s' ORDER BY t.seconds DESC NULLS LAST LIMIT 20", r.ApplicationKey, safeWord(c.what))
	default:
		f.SQL = fmt.Sprintf("SELECT p.native_id, p.name, s.median_s, s.max_s, s.lost_s FROM phase_stats s JOIN phases p ON p.phase_id = s.phase_id JOIN jobs j ON j.job_id = p.job_id WHERE j.application_id = %d ORDER BY s.lost_s DESC NULLS LAST LIMIT 20", r.ApplicationKey)
	}
}

// safeWord keeps only letters and underscores, the characters of causes.
func safeWord(s string) string {
	out := []rune{}
	for _, r := range s {
		if r >= 'a' && r <= 'z' || r == '_' {
			out = append(out, r)
		}
	}
	return string(out)
}
