package published

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

var shown = []Row{
	{Paper: "LATE", Section: "§1", Quantity: "a | b", Published: 2, Ours: 2.5, Tolerance: 1, Kind: Rule, Verdict: Met, Note: "own", Seconds: 1.26},
	{Paper: "LATE", Section: "§2", Quantity: "<script>", Published: 2, Ours: 5, Tolerance: 1, Kind: Rebuilt, Verdict: Missed, Assumed: []string{"shared", "too"}, NoAction: Range{4, 4.5}, WithoutRule: Range{3, 3}},
	{Paper: "LATE", Section: "§3", Quantity: "c", Published: 0, Ours: 0, Kind: Rule, Verdict: Met, Assumed: []string{"too"}},
	{Paper: "MANTRI", Section: "§4", Quantity: "d", Published: 32, Ours: math.NaN(), Tolerance: math.NaN(), Kind: Missing, Verdict: NotTried, Note: "a production cluster"},
}

// shownFigures are a curve that rises from 5 to 95 % between 0 and 1, and bars, the published one half as high as ours.
var shownFigures = []Figure{
	{Paper: "LATE", Section: "§5", Title: "figure <1>", X: "time off", Curves: []Curve{{Name: "ours", Points: []Point{{0, 0.05}, {0.5, 0.5}, {1, 0.95}}}, quantiles("theirs", 0.5, 0.25)}},
	{Paper: "LATE", Section: "§5", Title: "figure 2", Unit: "times", Bars: []Bar{{"sort", 1, 2, 1.5, 2}}},
	{Paper: "FAIR", Section: "§6", Title: "of a paper that was not run", Unit: "times", Bars: []Bar{{"x", 1, 2, 2, 2}}},
}

func TestHTML(t *testing.T) {
	var b bytes.Buffer
	if err := HTML(&b, shown, shownFigures, "body{}"); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"Of the 3 published numbers that count, 2 are met and 1 missed.", "For 0 others the papers leave a parameter open, and ours is a band: 0 lie inside it, 0 in a wide one, 0 are inconclusive, and 0 lie outside.", "0 numbers are baselines, and 1 cannot be rebuilt.", "<b>inconclusive</b>: it does, but a policy that does nothing",
		"A policy that does nothing: 4 to 4.5; ours without its main rule: 3", "&lt;script&gt;", "missed, rebuilt", "Not tried: 1", "<style>body{}</style>",
		`<rect x="4%" width="92%"`, `<circle cx="73%"`, // 1 to 3 over the whole width, 2.5 at three quarters of it
		`<rect x="4%" width="46%"`, `<circle cx="96%" cy="9" r="4" class="fdot slow"`, // 1 to 5, of which 1 to 3 is tolerated
		"§5, figure &lt;1&gt;; share of the phases", `<line x1="0.00%" y1="112.5" x2="50.00%" y2="63.0" class="sl s-1"`, `<circle cx="50.00%" cy="90.5" r="4" class="sl s-2"><title>theirs, published: 50.0 % at 25 %`,
		`<rect x="18.00%" y="63.0" width="30.00%" height="55.0" class="fdot"/><rect x="52.00%" y="8.0" width="30.00%" height="110.0" class="bin"/><line x1="67.00%" x2="67.00%" y1="35.5" y2="8.0" class="whisk"/>`, "sort: published 1×, ours 2× (1.5× to 2×)",
		"Assumptions: 1, 2", "<li>shared</li>", "a production cluster", "published 2 ± 1, ours 2.5",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	for _, bad := range []string{"<script>", "NaN", "was not run", "http://", "https://", "src="} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := Markdown(&b, shown); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| §1 | a \\| b | 2 | 2.5 | 1 |  |  | met | 1.3 | own |\n", "| 4 to 4.5 | 3 | missed, rebuilt | 0.0 | (1) (2) |\n", "\n(1) shared\n", "| §4 | d | 32 | – | – |  |  | not tried | 0.0 | a production cluster |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the document does not have %q:\n%s", want, b.String())
		}
	}
}
