package causes

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// Evidence lets a person verify an attribution. It is stored as JSON; fields that do not apply are omitted.
type Evidence struct {
	// the source of the figure: a column of attempts, machine, or residual
	Predictor string `json:"predictor"`
	// of the phase's regression, seconds per unit; of a machine, its factor; of the residual, the phase's scatter
	Coefficient float64 `json:"coefficient,omitempty"`
	StdErr      float64 `json:"stderr,omitempty"` // of the coefficient
	N           int     `json:"n,omitempty"`      // tasks the coefficient was fitted on; of a machine, its attempts
	Value       float64 `json:"value"`            // of this task
	Median      float64 `json:"median"`           // of its phase
	Unit        string  `json:"unit,omitempty"`   // of value and median
	Low         float64 `json:"low,omitempty"`    // 95 % interval of the seconds
	High        float64 `json:"high,omitempty"`
	Reason      string  `json:"reason,omitempty"` // of unexplained: why no more can be said
	// for a machine that is not generally slow: phase if it was slow in this phase, time if it was slow at that time
	Scope string `json:"scope,omitempty"`
	Text  string `json:"text"`          // in plain words
	SQL   string `json:"sql,omitempty"` // the query that shows it
}

// append writes the evidence as JSON; fields that are NaN or infinite are omitted. It does not use encoding/json because a
// store has millions of them.
func (e *Evidence) append(b []byte) []byte {
	return finish(e.begin(b), e.Text, e.SQL)
}

// begin writes all but the text and the query.
func (e *Evidence) begin(b []byte) []byte {
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
	b = text(b, "scope", e.Scope)
	return b
}

// finish adds the text and the query, and closes what append began.
func finish[S string | []byte](b []byte, words, query S) []byte {
	b = append(b, `,"text":`...)
	b = quote(b, words)
	if len(query) > 0 {
		b = append(b, `,"sql":`...)
		b = quote(b, query)
	}
	return append(b, '}')
}

func text(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return quote(b, s)
}

// number writes six significant digits; more would be noise.
func number(b []byte, name string, x float64, omitZero bool) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 && omitZero {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendFloat(b, x, 'g', 6, 64)
}

// isPlain reports which bytes need no escape in a JSON string, nor in HTML.
var isPlain = func() (t [256]bool) {
	for c := 0x20; c < 0x7f; c++ {
		t[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return t
}()

// quote writes a JSON string. Names come from logs, so all bytes that are not plain are escaped.
func quote[S string | []byte](b []byte, s S) []byte {
	b = append(b, '"')
	plain := 0 // s[:plain] needs no escape
	for plain < len(s) && isPlain[s[plain]] {
		plain++
	}
	b = append(b, s[:plain]...)
	for _, r := range string(s[plain:]) {
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
