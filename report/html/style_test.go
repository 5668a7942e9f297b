package html

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"straggler/report"
	"straggler/schema"
)

// Every cause has a rule in the style sheet for its colour, in both themes, and for its pattern.
func TestCauseStyles(t *testing.T) {
	var all []schema.Cause
	for _, w := range schema.Cause("").Values() {
		all = append(all, schema.Cause(w))
	}
	letters := map[string]bool{}
	for _, c := range append(all, report.NotOutlier) {
		k := keyOf(c)
		if k.Title == "" || letters[k.Letter] {
			t.Errorf("%s has no title, or the letter %q of another", c, k.Letter)
		}
		letters[k.Letter] = true
		if n := strings.Count(styleText, "--"+k.Class+":"); n != 3 {
			t.Errorf("%s has its colour in %d places, want light, dark and dark by choice", k.Class, n)
		}
		for _, rule := range []string{".c-" + k.Class + " {", ".f-" + k.Class + " {"} {
			if !strings.Contains(styleText, rule) {
				t.Errorf("no style %s", rule)
			}
		}
		if report.InfoOf(c).Cause != c {
			t.Errorf("%s is not in the table of causes", c)
		}
	}
}

// Colours that carry text or meaning have the contrast that WCAG 2.2 requires: 4.5 for text, 3 for shapes.
func TestContrast(t *testing.T) {
	for _, theme := range []string{":root {", `:root[data-theme="dark"] {`} {
		colours := themeColours(t, theme)
		for _, bg := range []string{"bg", "paper"} {
			for _, text := range []string{"ink", "ink2", "accent", "good", "warn"} {
				atLeast(t, theme, colours, text, bg, 4.5)
			}
			for _, c := range schema.Cause("").Values() {
				atLeast(t, theme, colours, c, bg, 3)
			}
		}
		for _, c := range schema.Cause("").Values() {
			atLeast(t, theme, colours, "letter", c, 4)
		}
		for i := range 7 {
			atLeast(t, theme, colours, "hink", fmt.Sprintf("h%d", i), 4.5)
		}
		atLeast(t, theme, colours, "hink7", "h7", 4.5)
		atLeast(t, theme, colours, "ink2", "soft", 4.5)
	}
}

func themeColours(t *testing.T, theme string) map[string]string {
	t.Helper()
	_, block, ok := strings.Cut("\n"+styleText, "\n"+theme)
	if !ok {
		t.Fatalf("no %s", theme)
	}
	block, _, _ = strings.Cut(block, "}")
	colours := map[string]string{}
	for _, m := range regexp.MustCompile(`--([a-z0-9_]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(block, -1) {
		colours[m[1]] = m[2]
	}
	return colours
}

func atLeast(t *testing.T, theme string, colours map[string]string, fg, bg string, want float64) {
	t.Helper()
	a, b := luminance(t, colours[fg]), luminance(t, colours[bg])
	if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < want {
		t.Errorf("%s %s on %s has a contrast of %.2f, want %v", theme, fg, bg, ratio, want)
	}
}

// luminance returns the relative luminance of WCAG 2.2.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	var r, g, b int
	if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &r, &g, &b); err != nil {
		t.Fatalf("colour %q: %v", hex, err)
	}
	linear := func(v int) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}
