package html

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"straggler/engine"
	"straggler/report"
	"straggler/report/reporttest"
	"straggler/schema"
)

// The page is well formed, loads nothing, and every link in it leads somewhere.
func TestPage(t *testing.T) {
	wellFormed(t, rendered(t, built(t, reporttest.LabelledWithSavings(t, "mixed", "recompute"))))
}

// So is the page with hostile names.
func TestPageOfHostileNames(t *testing.T) {
	wellFormed(t, rendered(t, built(t, reporttest.Stored(t, reporttest.HostileTrace()))))
}

// And the page about little or nothing, which has no invalid numbers.
func TestPageOfLittleData(t *testing.T) {
	traces := reporttest.LittleTraces()
	machines := reporttest.NewTrace()
	machines.Applications = nil
	machines.Machines = []schema.Machine{{Machine: "node1"}}
	traces["machines alone"] = &machines.Trace
	for name, trace := range traces {
		t.Run(name, func(t *testing.T) {
			d := built(t, reporttest.Stored(t, trace))
			page := rendered(t, d)
			wellFormed(t, page)
			if body := withoutCode(page); strings.Contains(body, "NaN") || strings.Contains(body, "Inf") {
				t.Error("NaN or an infinity is on the page")
			}
			if strings.Contains(page, "run straggler detect") {
				t.Error("the page asks to run detect, of which it has the results")
			}
		})
	}
}

// A job before and after a policy is on the page.
func TestReplayed(t *testing.T) {
	eng := reporttest.Labelled(t, "skew")
	p := built(t, eng).Phases.Rows[0]
	bars := []report.ReplayedAttempt{{Phase: p.PhaseID, Machine: "m1", Slot: 1, EndS: 10}}
	d, err := report.Build(t.Context(), eng, report.Options{Replayed: &report.Replayed{JobID: p.JobID, Policy: "late<b>", Before: bars, After: bars}})
	reporttest.Check(t, err)
	page := rendered(t, d)
	wellFormed(t, page)
	if !strings.Contains(page, "The same job under late&lt;b&gt;") {
		t.Error("the replay is not on the page")
	}
}

func built(t testing.TB, eng engine.Engine) *report.Document {
	t.Helper()
	d, err := report.Build(context.Background(), eng, report.Options{})
	reporttest.Check(t, err)
	return d
}

func rendered(t testing.TB, d *report.Document) string {
	t.Helper()
	var b strings.Builder
	reporttest.Check(t, Write(&b, d))
	return b.String()
}

var (
	tagRE  = regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:[^<>"']|"[^"<>]*"|'[^'<>]*')*?)(/?)>`)
	attrRE = regexp.MustCompile(`([a-zA-Z:-]+)(?:="([^"]*)")?`)
	void   = []string{"meta", "br", "input", "link", "img", "hr"}
)

// wellFormed checks what browsers would forgive: unbalanced tags, duplicate ids, dangling references, inline handlers and
// styles, external addresses, and headings that skip a level.
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

// withoutCode returns a page without its style and its script.
func withoutCode(page string) string {
	return regexp.MustCompile(`(?s)<(style|script)>.*?</(style|script)>`).ReplaceAllString(page, "<$1></$2>")
}
