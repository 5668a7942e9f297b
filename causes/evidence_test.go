package causes

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"straggler/report/prose"
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
		{func(w *words) { w.seconds(0.442) }, "442 ms"},
		{func(w *words) { w.seconds(-2.345) }, "−2.35 s"},
		{func(w *words) { w.seconds(1234.5) }, "20.6 min"},
		{func(w *words) { w.amount(64e6, "bytes") }, "61.0 MiB"},
		{func(w *words) { w.amount(512, "bytes") }, "512 B"},
		{func(w *words) { w.amount(1500, "records") }, "1.5 k records"},
		{func(w *words) { w.rate(1.8/64e6, 1e-9, "bytes") }, "0.0295 ± 0.001 s per MiB"},
	} {
		var w words
		c.say(&w)
		if string(w) != c.want {
			t.Errorf("%q, want %q", w, c.want)
		}
	}
}

// A report shows evidence beside its own figures, so both write them alike.
func TestFiguresLikeReports(t *testing.T) {
	for _, x := range []float64{0, 1e-5, 0.0005, 0.0123, 0.0999, 0.442, 0.9994, 0.9996, 1, 2.5, 9.994, 9.996, 41.23, 99.94, 99.96, 312, 599, 600, 7199, 7200, 86400, 172800, 9e6} {
		for _, x := range []float64{x, -x} {
			var w words
			if want := strings.ReplaceAll(prose.Seconds(x), prose.NBSP, " "); string(*w.seconds(x)) != want && !strings.HasPrefix(want, "≈") {
				t.Errorf("%g s is %q, in reports %q", x, w, want)
			}
		}
	}
	for _, x := range []float64{0, 1, 512, 1023, 1023.6, 1024, 2e6, 274e3, 583 << 20, 1 << 40} {
		var w words
		if want := strings.ReplaceAll(prose.Bytes(x), prose.NBSP, " "); string(*w.amount(x, "bytes")) != want {
			t.Errorf("%g bytes are %q, in reports %q", x, w, want)
		}
	}
}
