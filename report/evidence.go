package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"straggler/report/prose"
	"straggler/schema"
)

// outlierWords explains in a sentence why an attempt was slow.
func outlierWords(o *Outlier) string {
	if len(o.Causes) == 0 {
		return "Its excess was not attributed: run straggler causes on the store."
	}
	var clauses []string
	for i := range o.Causes {
		a := &o.Causes[i]
		mentioned := i == 0 || o.ExcessS.OK && a.Seconds >= usualThresholds().mentionedPart*o.ExcessS.V && len(clauses) < 3
		if !mentioned || i > 0 && a.Seconds <= 0 {
			continue
		}
		words := a.Words
		if strings.TrimSpace(words) == "" {
			words = cmp.Or(InfoOf(a.Cause).Doc, "its cause is "+prose.Clean(string(a.Cause), prose.TextRunes))
		}
		if a.Cause == schema.Transient || a.Cause == schema.UnexplainedCause {
			clauses = append(clauses, fmt.Sprintf("%s (%s)", words, ofExcess(o, a.Seconds, len(clauses) == 0)))
			continue
		}
		clauses = append(clauses, fmt.Sprintf("%s; that explains %s", words, ofExcess(o, a.Seconds, len(clauses) == 0)))
	}
	return prose.Upper(strings.Join(clauses, ". Also: ")) + "."
}

// ofExcess returns the seconds that a cause explains, and for the first cause also its share of the excess.
func ofExcess(o *Outlier, s float64, first bool) string {
	switch {
	case !first || !o.ExcessS.OK:
		return prose.Seconds(s)
	case s > 1.005*o.ExcessS.V:
		return prose.Seconds(s) + ", more than its " + prose.Seconds(o.ExcessS.V) + " excess, because something else made it faster"
	}
	if excess := prose.Seconds(o.ExcessS.V); prose.Seconds(s) != excess {
		return prose.Seconds(s) + " of its " + excess + " excess"
	}
	return "all of its " + prose.Seconds(s) + " excess"
}

// causeWords explains in a clause why the seconds of an attribution are due to its cause.
func causeWords(o *Outlier, a *Attribution) string {
	e := parseEvidence(a.Evidence)
	verb := map[string]string{"input_bytes": "read", "input_records": "read", "remote_bytes": "read from other machines", "spill_bytes": "spilled",
		"output_bytes": "wrote", "shuffle_write_bytes": "wrote", "output_bytes + shuffle_write_bytes": "wrote"}[e.Predictor]
	if r := e.ratio(); verb != "" && r > 1.05 && (e.Unit == "bytes" || e.Unit == "records") {
		unit := e.Unit
		size := func(v float64) string { return prose.Bytes(v) }
		if unit == "records" {
			size = func(v float64) string { return prose.Count(int64(v)) }
		}
		return fmt.Sprintf("%s %s the median %s (%s against %s)", verb, prose.Times(r), unit, size(*e.Value), size(*e.Median))
	}
	if a.Cause == schema.BadMachine && e.Coefficient != nil && *e.Coefficient > 0 && o.Machine.OK {
		name, factor := prose.Name(o.Machine.V), prose.Times(*e.Coefficient)
		switch e.Scope {
		case "phase":
			return fmt.Sprintf("ran on %s, which took %s the predicted time in this phase", name, factor)
		case "time":
			return fmt.Sprintf("ran on %s, which took %s the predicted time about then", name, factor)
		}
		s := fmt.Sprintf("ran on %s, which takes %s the predicted time", name, factor)
		if e.N > 0 {
			s += fmt.Sprintf(" (%s)", prose.Plural(int64(e.N), "attempt", "attempts"))
		}
		return s
	}
	return prose.Clean(e.Text, prose.TextRunes)
}

// evidence are the fields of attributions.evidence that a report uses; a missing field is zero.
type evidence struct {
	Predictor   string   `json:"predictor"`
	Coefficient *float64 `json:"coefficient"`
	StdErr      *float64 `json:"stderr"`
	N           float64  `json:"n"`
	Value       *float64 `json:"value"`
	Median      *float64 `json:"median"`
	Unit        string   `json:"unit"`
	Reason      string   `json:"reason"`
	Scope       string   `json:"scope"`
	Text        string   `json:"text"`
	SQL         string   `json:"sql"`
}

// ratio returns value / median, or 0 if either is unknown or not positive.
func (e *evidence) ratio() float64 {
	if e.Value == nil || e.Median == nil || !(*e.Median > 0) || !(*e.Value > 0) {
		return 0
	}
	return *e.Value / *e.Median
}

// parseEvidence reads the fields that have the expected types: the store may be of another version.
func parseEvidence(text string) evidence {
	var e evidence
	if json.Unmarshal([]byte(text), &e) == nil {
		return e
	}
	var any map[string]any
	if json.Unmarshal([]byte(text), &any) != nil {
		return evidence{}
	}
	e = evidence{}
	for key, to := range map[string]*string{"predictor": &e.Predictor, "unit": &e.Unit, "reason": &e.Reason, "scope": &e.Scope, "text": &e.Text} {
		if s, ok := any[key].(string); ok {
			*to = s
		}
	}
	return e
}
