package causes

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// Evidence is JSON that reads back unchanged, whatever its strings, and is safe in HTML.
func TestEvidenceJSON(t *testing.T) {
	for _, s := range []string{"", "plain", `quo"te \ back`, "tab\tnew\nnul\x00", "a <b> & c", "± é 漢 🙂", "bad \xff utf", "\u2028"} {
		e := Evidence{Predictor: s, Coefficient: 1.5e-9, StdErr: 2, N: 7, Value: -3, Median: 0, Unit: s, Low: -1, High: 2, Reason: s, Text: s, SQL: s}
		b := e.append(nil)
		if strings.ContainsAny(string(b), "<>&\n\x00") {
			t.Errorf("%s cannot stand in HTML", b)
		}
		var got Evidence
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		want := strings.ToValidUTF8(s, "\ufffd")
		e.Predictor, e.Unit, e.Reason, e.Text, e.SQL = want, want, want, want, want
		if got != e {
			t.Errorf("%+v reads back as %+v", e, got)
		}
	}
	e := Evidence{Predictor: "x", Value: math.NaN(), Median: math.Inf(1)}
	if got := string(e.append(nil)); got != `{"predictor":"x","text":""}` {
		t.Errorf("numbers that JSON has not: %s", got)
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		say  func(w *words)
		want string
	}{
		{func(w *words) { w.seconds(0) }, "0 s"},
		{func(w *words) { w.seconds(0.0123) }, "12 ms"},
		{func(w *words) { w.seconds(-2.345) }, "-2.35 s"},
		{func(w *words) { w.seconds(1234.5) }, "1234 s"},
		{func(w *words) { w.amount(64e6, "bytes") }, "64 MB"},
		{func(w *words) { w.amount(512, "bytes") }, "512 B"},
		{func(w *words) { w.amount(1500, "records") }, "1.5 k records"},
		{func(w *words) { w.rate(1.8/64e6, 1e-9, "bytes") }, "0.0281 ± 0.001 s per MB"},
	} {
		var w words
		c.say(&w)
		if string(w) != c.want {
			t.Errorf("%q, want %q", w, c.want)
		}
	}
}
