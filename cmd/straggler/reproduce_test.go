package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"straggler/whatif/published"
)

// Rows are for programs, pages for people. testdata/reproduce.txtar runs the experiments of a paper, which takes seconds;
// here a single row suffices.
func TestReproduceEncodings(t *testing.T) {
	none := published.Range{Low: math.NaN(), High: math.NaN()}
	rows := []published.Row{{Paper: "LATE", Section: "§4.2", Quantity: "estimated time left of T1 (s)", Published: 13.3, Ours: 40.0 / 3, Tolerance: 0.05,
		Kind: published.Rule, Verdict: published.Met, NoAction: none, WithoutRule: none}}
	for _, c := range []struct {
		o    output
		want []string
	}{
		{output{file: "late.html"}, []string{`<h2 id="late">LATE</h2>`, "Content-Security-Policy"}},
		{output{file: "page", as: "html"}, []string{`<h2 id="late">LATE</h2>`}},
		{output{file: "late.md"}, []string{"\n| §4.2 | estimated time left of T1 (s) | 13.3 | 13.33 |"}},
		{output{file: "late.txt"}, []string{"LATE   §4.2     met      13.3       13.33  0.05       estimated time left of T1 (s)\n"}},
		{output{file: "rows", as: "json"}, []string{`"quantity":"estimated time left of T1 (s)","published":13.3,`, `"no_action_low":null,`}},
	} {
		c.o.file = filepath.Join(t.TempDir(), c.o.file)
		if err := newEnv().published(c.o, rows, nil); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(c.o.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(string(text), want) {
				t.Errorf("%+v: no %s in\n%s", c.o, want, text)
			}
		}
		if strings.Contains(string(text), "http:") || strings.Contains(string(text), "https:") {
			t.Errorf("%+v: an address of something that is not in the page", c.o)
		}
	}
}
