package causes

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// Evidence is what a person can check an attribution by. It is stored as JSON; what does not apply is left out.
type Evidence struct {
	Predictor   string  `json:"predictor"`             // what the cause was read off: a column of attempts, machine, or residual
	Coefficient float64 `json:"coefficient,omitempty"` // of the phase's regression, seconds per unit; of a machine, its factor
	StdErr      float64 `json:"stderr,omitempty"`      // of the coefficient
	N           int     `json:"n,omitempty"`           // tasks the coefficient was fitted on; of a machine, its attempts
	Value       float64 `json:"value"`                 // of this task
	Median      float64 `json:"median"`                // of its phase
	Unit        string  `json:"unit,omitempty"`        // of value and median
	Low         float64 `json:"low,omitempty"`         // 95 % interval of the seconds
	High        float64 `json:"high,omitempty"`
	Reason      string  `json:"reason,omitempty"` // of unexplained: why no more can be said
	Text        string  `json:"text"`             // in plain words
	SQL         string  `json:"sql,omitempty"`    // the query that shows it
}

// append writes the evidence as JSON; a field that is NaN or infinite is left out. It is written by hand because a
// store has millions of them.
func (e *Evidence) append(b []byte) []byte {
	b = append(b, `{"predictor":`...)
	b = quote(b, e.Predictor)
	b = number(b, "coefficient", e.Coefficient, true)
	b = number(b, "stderr", e.StdErr, true)
	if e.N > 0 {
		b = append(b, `,"n":`...)
		b = strconv.AppendInt(b, int64(e.N), 10)
	}
	b = number(b, "value", e.Value, false)
	b = number(b, "median", e.Median, false)
	b = text(b, "unit", e.Unit)
	if e.Low != 0 || e.High != 0 {
		b = number(b, "low", e.Low, false)
		b = number(b, "high", e.High, false)
	}
	b = text(b, "reason", e.Reason)
	b = append(b, `,"text":`...)
	b = quote(b, e.Text)
	b = text(b, "sql", e.SQL)
	return append(b, '}')
}

func text(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return quote(b, s)
}

// number keeps six digits: more would be noise.
func number(b []byte, name string, x float64, omitZero bool) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 && omitZero {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendFloat(b, x, 'g', 6, 64)
}

// quote writes a JSON string. Names come from logs: whatever is not plain is escaped.
func quote(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < 0x20 || r == 0x7f || r == '<' || r == '>' || r == '&' || r == 0x2028 || r == 0x2029 || r == utf8.RuneError:
			b = append(b, `\u`...)
			b = append(b, fmt.Sprintf("%04x", r)...)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// columns names the terms as columns of attempts, with units.
var columns = [terms]struct{ name, unit string }{
	ofBytes: {"input_bytes", "bytes"}, ofRecords: {"input_records", "records"}, ofWritten: {"output_bytes + shuffle_write_bytes", "bytes"},
	ofRemote: {"remote_bytes", "bytes"}, ofSpill: {"spill_bytes", "bytes"}, ofAway: {"locality", "1 = away from its data"},
	ofFirst: {"start_time", "1 = among the first on its machine"}, ofWait: {"fetch_wait_s", "s"}, ofGC: {"gc_s", "s"},
	ofDelay: {"scheduler_delay_s", "s"}, ofConvert: {"deserialize_s + result_s", "s"}, ofLink: {"scheduler_delay_s", "s"},
	ofWaitForMore: {"fetch_wait_s", "s"}, ofMachine: {"machine", "factor"}, ofItself: {"residual", "factor"},
	ofRedo: {"recompute", "s"},
}

// evidence puts a line of a split in words. The attempt's phase must be the prepared one.
func (a *Attributor) evidence(s *split, l *line) Evidence {
	c := columns[l.top]
	e := Evidence{Predictor: c.name, Unit: c.unit, Low: l.seconds - 1.96*l.sd, High: l.seconds + 1.96*l.sd}
	if l.sd == 0 {
		e.Low, e.High = 0, 0
	}
	i := s.index
	switch k := l.top; {
	case k <= ofFirst:
		a.regressed(&e, s, i, k)
	case k == ofMachine:
		a.machineEvidence(&e, s, i)
	case k == ofItself:
		a.leftOver(&e, s)
	case k == ofRedo:
		e.Value, e.N = s.task.Duration, 0
		e.Text = fmt.Sprintf("made an output again that had been lost: all of its %s are work done twice", seconds(s.task.Duration))
	default:
		a.measuredEvidence(&e, s, i, k)
	}
	if l.seconds < 0 {
		e.Text += fmt.Sprintf("; this made it %s faster than the median task", seconds(-l.seconds))
	}
	e.SQL = query(s.task, l.top)
	return e
}

func (a *Attributor) regressed(e *Evidence, s *split, i int, k term) {
	f := &a.bench.fit
	e.Coefficient, e.StdErr, e.N = f.coef[k], f.se[k], f.n
	e.Value, e.Median = a.bench.x[k][i], f.mid[k]
	switch k {
	case ofFirst:
		e.Text = fmt.Sprintf("was among the first of its phase on its machine; those took %s ± %s longer (%d tasks fitted), for classes, connections and caches that later ones find ready",
			seconds(f.coef[k]), seconds(f.se[k]), f.n)
		e.Reason = "the log does not say what the first tasks of a phase spend their time on"
	case ofAway:
		e.Text = fmt.Sprintf("ran away from its data; such tasks took %s ± %s longer (%d tasks fitted)", seconds(f.coef[k]), seconds(f.se[k]), f.n)
	case ofRemote:
		e.Text = fmt.Sprintf("read %s more from other machines than usual for its input, at %s (%d tasks fitted)",
			amount(e.Value-e.Median, e.Unit), rate(f.coef[k], f.se[k], e.Unit), f.n)
	default:
		verb := map[term]string{ofBytes: "read", ofRecords: "read", ofWritten: "wrote", ofSpill: "spilled"}[k]
		e.Text = fmt.Sprintf("%s %s where the median task %s %s%s; %s (%d tasks fitted)", verb, amount(e.Value, e.Unit), verb,
			amount(e.Median, e.Unit), times(e.Value, e.Median), rate(f.coef[k], f.se[k], e.Unit), f.n)
	}
}

func (a *Attributor) machineEvidence(e *Evidence, s *split, i int) {
	t := s.task
	f := math.Exp(s.machine)
	e.Coefficient, e.StdErr = f, f*s.machineSD
	e.Value, e.Median = f, 1
	var heard testimony
	if t.Machine >= 0 && t.Machine < int64(len(a.model.machines)) {
		heard = a.model.machines[t.Machine]
	}
	e.N = int(heard.attempts)
	e.Text = fmt.Sprintf("its machine takes %.2f times the predicted time (95 %% interval %.2f to %.2f), by its other %d attempts in %d phases",
		f, math.Exp(s.machine-1.96*s.machineSD), math.Exp(s.machine+1.96*s.machineSD), max(0, heard.attempts-1), heard.phases)
}

func (a *Attributor) measuredEvidence(e *Evidence, s *split, i int, k term) {
	part := map[term]int{ofWait: waiting, ofGC: collecting, ofDelay: delayed, ofConvert: converting, ofLink: delayed, ofWaitForMore: waiting}[k]
	e.Value, e.Median, e.N = a.bench.part[part][i], a.mid[part], a.bench.fit.n
	what := map[term]string{
		ofWait: "waited %s for blocks from other machines", ofGC: "its process collected garbage for %s",
		ofDelay: "was delayed %s between launch and run and after its end", ofConvert: "spent %s deserialising itself and serialising its result",
		ofLink:        "was delayed %s by messages that queued behind the blocks on its machine's link",
		ofWaitForMore: "waited %s for blocks, as its larger input lets expect",
	}[k]
	e.Text = fmt.Sprintf(what, seconds(e.Value)) + fmt.Sprintf("; the median task %s", seconds(e.Median))
}

func (a *Attributor) leftOver(e *Evidence, s *split) {
	f := &a.bench.fit
	e.Coefficient, e.StdErr, e.N = f.sigma, 0, f.n
	e.Value, e.Median = math.Exp(s.itself), 1
	e.Text = fmt.Sprintf("took %.2f times what its work and its machine predict, where tasks of the phase scatter by %.0f %%; nothing recorded explains it",
		e.Value, 100*f.sigma)
	if s.cannot != "" {
		e.Reason = s.cannot
		e.Text = "no cause can be named: " + s.cannot
	}
}

// query shows a cause in the tables.
func query(t *Task, k term) string {
	switch k {
	case ofMachine:
		return fmt.Sprintf("SELECT b.phase_id, b.machine, count(*) AS attempts, avg(b.duration_s) AS mean_s FROM attempts a JOIN attempts b ON b.job_id = a.job_id WHERE a.attempt_id = %d AND b.status = 'success' GROUP BY b.phase_id, b.machine ORDER BY b.phase_id NULLS LAST, mean_s DESC NULLS LAST", t.Attempt)
	case ofRedo:
		return fmt.Sprintf("SELECT * FROM losses WHERE recomputed_by = %d", t.Attempt)
	}
	return fmt.Sprintf("SELECT task, number, machine, duration_s, %s FROM attempts WHERE phase_id = %d AND status = 'success' ORDER BY duration_s DESC NULLS LAST",
		map[bool]string{true: "input_bytes", false: columns[k].name}[k == ofItself], t.Phase)
}

func seconds(s float64) string {
	switch a := math.Abs(s); {
	case a == 0:
		return "0 s"
	case a < 0.1:
		return strconv.FormatFloat(s*1000, 'g', 2, 64) + " ms"
	case a < 100:
		return strconv.FormatFloat(s, 'g', 3, 64) + " s"
	}
	return strconv.FormatFloat(s, 'f', 0, 64) + " s"
}

func times(value, median float64) string {
	if median <= 0 || value <= 0 {
		return ""
	}
	return fmt.Sprintf(", %.1f times", value/median)
}

// amount is a number of bytes or records in words.
func amount(x float64, unit string) string {
	s, prefix := scaled(x)
	if unit == "bytes" {
		return fmt.Sprintf("%.3g %sB", s, prefix)
	}
	return fmt.Sprintf("%.3g%s %s", s, prefix, unit)
}

// rate is a coefficient in words, in seconds per million of its unit.
func rate(coef, se float64, unit string) string {
	if unit == "bytes" {
		return fmt.Sprintf("%.3g ± %.1g s a MB here", coef*1e6, se*1e6)
	}
	return fmt.Sprintf("%.3g ± %.1g s a million %s here", coef*1e6, se*1e6, unit)
}

func scaled(x float64) (float64, string) {
	for _, p := range []struct {
		f float64
		s string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(x) >= p.f {
			return x / p.f, p.s
		}
	}
	return x, ""
}
