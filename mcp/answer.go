package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"straggler/report/prose"
	"straggler/schema"
)

// mostBytes bounds an answer to 8 000 tokens: a token is about four bytes of English, three of JSON, and two of rare scripts.
const mostBytes = 16_000

// answer is the answer of a tool. The lists that may be truncated are at its end.
type answer struct {
	About      string   `json:"about"` // what the rows are, in a sentence of our own
	Facts      any      `json:"facts,omitempty"`
	Caveats    []string `json:"caveats,omitempty"`
	CannotTell []string `json:"cannot_tell,omitempty"`
	SQL        string   `json:"sql,omitempty"` // shows the rows
	Rows       []any    `json:"rows,omitempty"`
	From       int      `json:"from,omitempty"` // of the first row, from 0
	Total      int      `json:"total,omitempty"`
	NextFrom   *int     `json:"next_from,omitempty"` // of the first row that is left out

	begin int  // which of all rows the first of Rows is
	more  bool // there are rows after Rows, and their number is unknown
}

// age notes that the answer is from an earlier state of the store.
func (a *answer) age(current bool) {
	if !current {
		a.Caveats = append(a.Caveats, "This is of an earlier state of the store: what has changed since is being added up; ask again later.")
	}
}

// text returns the answer as JSON, with as many rows as there is room for.
func (a *answer) text() (string, error) {
	first := min(max(a.From-a.begin, 0), len(a.Rows))
	rows := a.Rows[first:]
	a.From = a.begin + first
	end := a.From + len(rows)
	if !a.more {
		a.Total = end
	}
	for n := len(rows); ; n = n * 3 / 4 {
		a.Rows, a.NextFrom = rows[:n], nil
		if next := a.From + n; next < end || a.more {
			a.NextFrom = &next
		}
		text, err := encode(a)
		if err != nil || len(text) <= mostBytes {
			return text, err
		}
		if n <= 1 {
			return "", fmt.Errorf("an answer of %d bytes is over the limit of %d; ask for less, or select single columns with the tool sql", len(text), mostBytes)
		}
	}
}

func encode(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.String(), err
}

// paging is the first row of a list to return.
type paging struct {
	From int `json:"from,omitempty" jsonschema:"the row to begin at; next_from of the answer before"`
}

// errorText returns the text of an error, cleaned, since errors may quote logs and queries.
func errorText(err error) string {
	text, failed := encode(map[string]string{"error_from_log": prose.Clean(err.Error(), 4*prose.TextRunes)})
	if failed != nil {
		return "internal error"
	}
	return text
}

// key parses a key.
func key(text string) (schema.Key, error) {
	k, err := strconv.ParseInt(text, 10, 64)
	if err != nil || k <= 0 {
		return 0, errors.New("a key is decimal digits, as other tools give it")
	}
	return k, nil
}

func keyText(k schema.Key) string { return strconv.FormatInt(k, 10) }

// number returns a value rounded to six significant digits, since more would only cost tokens, or nil if it is unknown.
func number(v schema.Null[float64]) *float64 {
	if !v.OK || !prose.Finite(v.V) {
		return nil
	}
	return rounded(v.V)
}

func rounded(v float64) *float64 {
	if !prose.Finite(v) {
		return nil
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return nil
	}
	return &r
}

// name returns a name from a log, cleaned and truncated.
func name(s string) string { return prose.Clean(s, prose.NameRunes) }

func maybeName(s schema.Null[string]) *string {
	if n := prose.MaybeName(s); n != "" {
		return &n
	}
	return nil
}

func instant(t schema.Null[schema.Time]) *string {
	if !t.OK {
		return nil
	}
	s := time.UnixMicro(int64(t.V)).UTC().Format(time.RFC3339)
	return &s
}
