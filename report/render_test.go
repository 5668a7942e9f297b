package report_test

import (
	"bytes"
	"context"
	encoding "encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"

	"straggler/engine"
	"straggler/report"
	"straggler/report/html"
	"straggler/report/json"
	"straggler/report/markdown"
	"straggler/report/perfetto"
	"straggler/report/reporttest"
	"straggler/report/terminal"
	"straggler/schema"
	"straggler/selection"
)

// What a phase of a single task cost its job is unknown, and so is what an outlier of a phase without times cost, and what their
// jobs lost, also where other phases of the log have both: a report says 'unknown' with the reason, and not 0 s.
func TestUnknownCostsAmongKnown(t *testing.T) {
	m := reporttest.NewTrace()
	known := m.Job(0, 40)
	m.Phase(known, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4)
	undated := m.Job(50, 100)
	m.Phase(undated, 50, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 40)
	m.Trace.Phases[1].StartTime, m.Trace.Phases[1].FinishTime = schema.Null[schema.Time]{}, schema.Null[schema.Time]{}
	m.Phase(m.Job(100, 110), 100, 10)
	d, err := report.Build(t.Context(), reporttest.Stored(t, &m.Trace), report.Options{})
	reporttest.Check(t, err)
	if len(d.Phases.Rows) != 2 || len(d.Outliers.Rows) != 2 || len(d.Cost.Jobs.Rows) != 3 {
		t.Fatalf("%d phases, %d outliers, %d jobs", len(d.Phases.Rows), len(d.Outliers.Rows), len(d.Cost.Jobs.Rows))
	}
	for i, p := range d.Phases.Rows {
		if p.CostS.OK != (i == 0) || p.EarlierS.OK != (i == 0) {
			t.Errorf("phase %d cost %v", i, p.CostS)
		}
	}
	for i, o := range d.Outliers.Rows {
		if o.CostS.OK != (i == 0) {
			t.Errorf("outlier %d cost %v", i, o.CostS)
		}
	}
	for i, j := range d.Cost.Jobs.Rows {
		if l := j.Loss; l.LostS.OK != (i == 0) || (l.Note == "") != (i == 0) {
			t.Errorf("job %d: %+v", i, l)
		}
	}
	var text bytes.Buffer
	reporttest.Check(t, terminal.Write(&text, d, terminal.Options{Width: 200}))
	if got := strings.Count(text.String(), "unknown\n") + strings.Count(text.String(), " unknown  40.0"); got != 2 {
		t.Errorf("on a terminal %d of 2 costs are unknown:\n%s", got, &text)
	}
	text.Reset()
	reporttest.Check(t, markdown.Write(&text, d))
	for _, want := range []string{"unknown", "single task", "the log does not say when its phase ran"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, &text)
		}
	}
}

// Names that are markup, terminal controls or SQL stay text in every rendering.
func TestHostileNames(t *testing.T) {
	tr := reporttest.HostileTrace()
	eng := reporttest.Stored(t, tr)
	d, err := report.Build(context.Background(), eng, report.Options{Store: "/tmp/" + reporttest.Hostile})
	reporttest.Check(t, err)
	if len(d.Outliers.Rows) == 0 || len(d.Timelines) == 0 || len(d.Trust.Rejects.Rows) == 0 || len(d.Trust.Caveats.Rows) == 0 {
		t.Fatal("the hostile names are not in the report at all")
	}
	t.Run("html", func(t *testing.T) {
		var b strings.Builder
		reporttest.Check(t, html.Write(&b, d))
		for _, bad := range []string{"<script>alert", "<img", "onerror=alert(1)>", "\u202e", "\u2066", "\u200b", "\x1b", "\x00", "\x07"} {
			if strings.Contains(b.String(), bad) {
				t.Errorf("%q reached the page", bad)
			}
		}
		if !strings.Contains(b.String(), "&lt;script&gt;") {
			t.Error("the name is not shown at all")
		}
	})
	t.Run("markdown", func(t *testing.T) {
		var b strings.Builder
		reporttest.Check(t, markdown.Write(&b, d))
		noControls(t, b.String())
		text := regexp.MustCompile("(?s)(````*)(.*?)\n````*\n").ReplaceAllString(b.String(), "")
		for _, bad := range []string{"<script", "<img", "**b**", "[a](", "https://"} {
			if strings.Contains(text, bad) {
				t.Errorf("%q is markup: %s", bad, around(text, bad))
			}
		}
		for line := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(line, "| ") && strings.Count(unescapedPipes(line), "|") < 3 {
				t.Errorf("a broken row: %s", line)
			}
		}
	})
	t.Run("text", func(t *testing.T) {
		for _, w := range []int{40, 80, 200} {
			var b strings.Builder
			reporttest.Check(t, terminal.Write(&b, d, terminal.Options{Width: w}))
			noControls(t, b.String())
			for line := range strings.SplitSeq(b.String(), "\n") {
				if uniseg.StringWidth(line) > w && !strings.Contains(line, "SELECT") {
					t.Errorf("%d columns of %d: %s", uniseg.StringWidth(line), w, line)
				}
			}
		}
	})
	t.Run("json", func(t *testing.T) {
		var b bytes.Buffer
		reporttest.Check(t, json.Write(&b, d))
		noControls(t, b.String())
		var back map[string]any
		if err := encoding.Unmarshal(b.Bytes(), &back); err != nil {
			t.Fatal(err)
		}
		apps := back["trust"].(map[string]any)["applications"].(map[string]any)["rows"].([]any)
		if got := apps[0].(map[string]any)["native_id"]; got != tr.Applications[0].NativeID {
			t.Errorf("native_id came back as %q", got)
		}
		key := strconv.FormatInt(tr.Applications[0].ApplicationID, 10)
		if got := apps[0].(map[string]any)["application_id"]; got != key { // as a reader has it who takes numbers for doubles
			t.Errorf("application_id %s came back as %v", key, got)
		}
	})
	t.Run("perfetto", func(t *testing.T) {
		var b bytes.Buffer
		reporttest.Check(t, perfetto.Write(context.Background(), &b, eng, selection.Applications{}))
		noControls(t, b.String())
		if !encoding.Valid(b.Bytes()) {
			t.Error("not JSON")
		}
	})
}

func noControls(t *testing.T, s string) {
	t.Helper()
	for i, r := range s {
		if r != '\n' && (unicode.IsControl(r) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069) {
			t.Fatalf("a control character %U: %q", r, s[max(0, i-40):i+4])
		}
	}
}

func around(s, sub string) string {
	i := strings.Index(s, sub)
	return s[max(0, i-30):min(len(s), i+50)]
}

func unescapedPipes(s string) string { return strings.ReplaceAll(s, `\|`, "") }

// The same store gives the same bytes, with any number of threads.
func TestSameBytes(t *testing.T) {
	render := func(eng engine.Engine) string {
		var b strings.Builder
		d, err := report.Build(t.Context(), eng, report.Options{})
		reporttest.Check(t, err)
		reporttest.Check(t, html.Write(&b, d))
		reporttest.Check(t, json.Write(&b, d))
		reporttest.Check(t, markdown.Write(&b, d))
		reporttest.Check(t, terminal.Write(&b, d, terminal.Options{}))
		reporttest.Check(t, perfetto.Write(context.Background(), &b, eng, selection.Applications{}))
		return b.String()
	}
	first := render(reporttest.LabelledOn(t, engine.Options{Threads: 1}, "mixed"))
	eng := reporttest.LabelledOn(t, engine.Options{Threads: 4}, "mixed")
	for range 3 {
		if render(eng) != first {
			t.Fatal("reports on the same logs differ, of one thread and of four")
		}
	}
}
