package published

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

var shown = []Row{
	{Paper: "LATE", Section: "§1", Quantity: "a | b", Published: 2, Ours: 2.5, Tolerance: 1, Kind: Rule, Verdict: Met, Note: "own", Seconds: 1.26},
	{Paper: "LATE", Section: "§2", Quantity: "<script>", Published: 2, Ours: 5, Tolerance: 1, Kind: Rebuilt, Verdict: Missed, Note: "shared"},
	{Paper: "LATE", Section: "§3", Quantity: "c", Published: 0, Ours: 0, Kind: Rule, Verdict: Met, Note: "shared"},
	{Paper: "MANTRI", Section: "§4", Quantity: "d", Published: 32, Ours: math.NaN(), Tolerance: math.NaN(), Kind: Missing, Verdict: NotTried, Note: "a production cluster"},
}

func TestHTML(t *testing.T) {
	var b bytes.Buffer
	if err := HTML(&b, shown, "body{}"); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"Of the 3 published numbers that count, 2 are met and 1 missed. Of 0 more, for which the papers leave a parameter open, 0 lie inside our band. 0 are only of what is compared with, and 1 cannot be rebuilt.", "&lt;script&gt;", "missed, rebuilt", "not tried", "<style>body{}</style>",
		`<rect x="4%" width="92%"`, `<circle cx="73%"`, // 1 to 3 over the whole width, 2.5 at three quarters of it
		`<rect x="4%" width="46%"`, `<circle cx="96%" cy="9" r="4" class="fdot slow"`, // 1 to 5, of which 1 to 3 is tolerated
		"Note 1", "<li>shared</li>", "a production cluster", "published 2 ± 1, ours 2.5",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	for _, bad := range []string{"<script>", "NaN", "http://", "https://", "src="} {
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
		"| §1 | a \\| b | 2 | 2.5 | 1 | met | 1.3 | own |\n", "| missed, rebuilt | 0.0 | (1) |\n", "\n(1) shared\n", "| §4 | d | 32 | – | – | not tried | 0.0 | a production cluster |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the document does not have %q:\n%s", want, b.String())
		}
	}
}
