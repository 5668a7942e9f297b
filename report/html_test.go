package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"straggler/schema"
)

// The page is well formed, loads nothing, and every link in it leads somewhere.
func TestPage(t *testing.T) {
	d := built(t, labelled(t, "mixed", "recompute"))
	d.Whatif = madeWhatif()
	wellFormed(t, rendered(t, d))
}

var (
	tagRE  = regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:[^<>"']|"[^"<>]*"|'[^'<>]*')*?)(/?)>`)
	attrRE = regexp.MustCompile(`([a-zA-Z:-]+)(?:="([^"]*)")?`)
	void   = []string{"meta", "br", "input", "link", "img", "hr"}
)

// wellFormed checks what a browser would forgive and we do not: balanced tags, unique ids, dangling references, inline
// handlers and styles, addresses outside, and headings that skip a level.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	body := withoutCode(page)
	if i := strings.IndexByte(body, '<'); i != 0 || !strings.HasPrefix(body, "<!DOCTYPE html>") {
		t.Error("no doctype")
	}
	rest := tagRE.ReplaceAllString(strings.TrimPrefix(body, "<!DOCTYPE html>"), "")
	if i := strings.IndexAny(rest, "<>"); i >= 0 {
		t.Errorf("a stray angle bracket: %.80q", rest[max(0, i-20):])
	}
	var open, refs []string
	ids := map[string]bool{}
	level := 0
	for _, m := range tagRE.FindAllStringSubmatch(body, -1) {
		tag := m[2]
		switch {
		case m[1] == "/":
			if len(open) == 0 || open[len(open)-1] != tag {
				t.Fatalf("</%s> closes %v", tag, open)
			}
			open = open[:len(open)-1]
			continue
		case m[4] == "" && !slices.Contains(void, tag):
			open = append(open, tag)
		}
		if len(tag) == 2 && tag[0] == 'h' && tag[1] >= '1' && tag[1] <= '6' {
			if next := int(tag[1] - '0'); next > level+1 {
				t.Errorf("h%d follows h%d", next, level)
				level = next
			} else {
				level = next
			}
		}
		for _, a := range attrRE.FindAllStringSubmatch(m[3], -1) {
			name, value := strings.ToLower(a[1]), a[2]
			switch {
			case name == "id" && ids[value]:
				t.Errorf("id %q stands twice", value)
			case name == "id":
				ids[value] = true
			case name == "href" && strings.HasPrefix(value, "#"):
				refs = append(refs, value[1:])
			case name == "aria-labelledby":
				refs = append(refs, strings.Fields(value)...)
			case name == "href" || name == "src" || name == "action" || name == "srcset" || name == "data":
				t.Errorf("%s=%q leads out of the file", name, value)
			case strings.HasPrefix(name, "on") || name == "style":
				t.Errorf("inline %s=%q on %s", name, value, tag)
			}
		}
		if tag == "svg" && !strings.Contains(m[3], "aria-hidden") && strings.Contains(m[3], "role=") && !strings.Contains(m[3], "aria-label") {
			t.Errorf("a picture without words: %s", m[0])
		}
	}
	if len(open) != 0 {
		t.Errorf("not closed: %v", open)
	}
	for _, p := range patterns() {
		refs = append(refs, "p-"+p.Class)
	}
	for _, r := range refs {
		if !ids[r] {
			t.Errorf("nothing has the id %q", r)
		}
	}
	if n := strings.Count(body, "<caption"); n != strings.Count(body, "<table") {
		t.Errorf("%d captions for %d tables", n, strings.Count(body, "<table"))
	}
}

// withoutCode is a page without its style and its script.
func withoutCode(page string) string {
	return regexp.MustCompile(`(?s)<(style|script)>.*?</(style|script)>`).ReplaceAllString(page, "<$1></$2>")
}

// Every cause has a rule in the style sheet for its colour, in both themes, and for its pattern.
func TestCauseStyles(t *testing.T) {
	var all []schema.Cause
	for _, w := range schema.Cause("").Words() {
		all = append(all, schema.Cause(w))
	}
	letters := map[string]bool{}
	for _, c := range append(all, notOutlier) {
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
		if infoOf(c).Cause != c {
			t.Errorf("%s is not in the table of causes", c)
		}
	}
}

// Colours that carry text or meaning have the contrast that WCAG 2.2 asks: 4.5 for text, 3 for shapes.
func TestContrast(t *testing.T) {
	for _, theme := range []string{":root {", `:root[data-theme="dark"] {`} {
		colours := themeColours(t, theme)
		for _, bg := range []string{"bg", "paper"} {
			for _, text := range []string{"ink", "ink2", "accent", "good", "warn"} {
				atLeast(t, theme, colours, text, bg, 4.5)
			}
			for _, c := range schema.Cause("").Words() {
				atLeast(t, theme, colours, c, bg, 3)
			}
		}
		for _, c := range schema.Cause("").Words() {
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

// luminance is the relative luminance of WCAG 2.2.
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
