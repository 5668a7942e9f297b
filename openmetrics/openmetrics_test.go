package openmetrics

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"straggler/audit"
	"straggler/audit/measure"
)

// night returns runs and an audit with every kind of sample, and hostile names.
func night() ([]measure.Run, *audit.Night) {
	hostile := "etl \"x\"\\y\n{}\x1b[31m\xff"
	runs := []measure.Run{
		{Group: "etl", ID: "a1", Start: "2026-11-20T01:00:00Z", Causes: measure.Values{"data_skew": 1}},
		{Group: "etl", ID: "a2", Start: "2026-11-21T01:00:00Z", Causes: measure.Values{"data_skew": 30.5, "bad_machine": 12},
			Machines: map[string]measure.Machine{"m07": {Verdict: "slow", Factor: 2.1}, "m\"1": {Verdict: "flaky", Factor: 1.3}}},
		{Group: hostile, ID: "b1", Start: "2026-11-21T02:00:00Z", Causes: measure.Values{"transient": 3}},
	}
	n := &audit.Night{Summary: map[audit.Status]int{audit.New: 1, audit.Fixed: 1}, Runs: []audit.Judgement{
		{Group: "etl", Run: "a2", Start: "2026-11-21T01:00:00Z", Findings: []audit.Finding{
			{ID: "f1", Group: "etl", Rule: "lost_time", Severity: audit.Error, Status: audit.New},
			{ID: "f2", Group: "etl", Rule: "stage_time", Severity: audit.Note, Status: audit.Fixed}}},
		{Group: hostile, Run: "b1", Start: "2026-11-21T02:00:00Z"}}}
	return runs, n
}

func written(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	runs, n := night()
	if err := Write(&b, Of(runs, n)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The latest run of each application counts, and every line is a comment or a sample.
func TestMetrics(t *testing.T) {
	out := written(t)
	for _, want := range []string{
		`straggler_lost_seconds{application="etl",cause="data_skew"} 30.5`, `straggler_lost_seconds{application="etl",cause="bad_machine"} 12`,
		`straggler_machine_factor{machine="m07",verdict="slow"} 2.1`,
		`straggler_finding{application="etl",rule="lost_time",severity="error",status="new",id="f1"} 1`,
		`straggler_findings{status="ongoing"} 0`, `straggler_run_start_timestamp_seconds{application="etl"} 1.7952228e+09`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}
	line := regexp.MustCompile(`^(# .*|straggler_\w+\{(\w+="([^"\\\n]|\\["\\n])*",?)+\} -?[\d.e+-]+)$`)
	for _, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if !line.MatchString(l) {
			t.Errorf("%q is no line of the format", l)
		}
	}
	if strings.Contains(out, "f2") || strings.Contains(out, "\x1b") || !strings.HasSuffix(out, "# EOF\n") {
		t.Errorf("a fixed finding, a control character, or no end:\n%s", out)
	}
}

// Labels are bounded: of many applications those that lost least are summed as 'other', and nothing is lost.
func TestBoundedLabels(t *testing.T) {
	var runs []measure.Run
	n := &audit.Night{}
	sum := 0.0
	for i := range 5000 {
		r := measure.Run{Group: fmt.Sprint("app", i), ID: "x", Causes: measure.Values{"gc": float64(i + 1)},
			Machines: map[string]measure.Machine{fmt.Sprint("m", i): {Factor: 2}}}
		runs, sum = append(runs, r), sum+float64(i+1)
		j := audit.Judgement{Group: r.Group, Run: "x", Findings: []audit.Finding{{ID: fmt.Sprint(i), Group: r.Group}}}
		n.Runs = append(n.Runs, j)
	}
	got := 0.0
	for _, f := range Of(runs, n) {
		if len(f.Samples) > 501 {
			t.Errorf("%s has %d samples", f.Name, len(f.Samples))
		}
		if f.Name == "straggler_lost_seconds" {
			for _, s := range f.Samples {
				got += s.Value
			}
		}
	}
	if got != sum {
		t.Errorf("%v lost seconds of %v", got, sum)
	}
}

// promtool returns the path of Prometheus's own checker. Without it the test is skipped, or fails if STRAGGLER_REQUIRE has
// promtool.
func promtool(t *testing.T) string {
	path, err := exec.LookPath("promtool")
	if err != nil {
		if strings.Contains(os.Getenv("STRAGGLER_REQUIRE"), "promtool") {
			t.Fatal(err)
		}
		t.Skip("no promtool")
	}
	return path
}

func TestPromtool(t *testing.T) {
	check := exec.Command(promtool(t), "check", "metrics")
	check.Stdin = strings.NewReader(written(t))
	if out, err := check.CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
}

// queries returns the queries of the dashboard, for all applications.
func queries(t *testing.T) []string {
	t.Helper()
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(Dashboard, &d); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range d.Panels {
		for _, x := range p.Targets {
			out = append(out, strings.ReplaceAll(x.Expr, "$application", ".*"))
		}
	}
	if len(out) < 5 {
		t.Fatalf("%d queries", len(out))
	}
	return out
}

// Every metric and label that the dashboard asks for is in the file.
func TestDashboardNames(t *testing.T) {
	out := written(t)
	for _, q := range queries(t) {
		for _, m := range regexp.MustCompile(`straggler_\w+`).FindAllString(q, -1) {
			if !strings.Contains(out, "\n"+m+"{") {
				t.Errorf("%s: there is no metric %s", q, m)
			}
		}
		var labels []string
		for _, m := range regexp.MustCompile(`(\w+)(?:=|=~)"`).FindAllStringSubmatch(q, -1) {
			labels = append(labels, m[1])
		}
		for _, m := range regexp.MustCompile(`by \(([^)]*)\)`).FindAllStringSubmatch(q, -1) {
			labels = append(labels, strings.Split(m[1], ", ")...)
		}
		for _, l := range labels {
			if !strings.Contains(out, l+`="`) {
				t.Errorf("%s: there is no label %s", q, l)
			}
		}
	}
}

// Every query of the dashboard, evaluated by Prometheus itself on the file, gives a result.
func TestDashboardQueries(t *testing.T) {
	tool := promtool(t)
	var b strings.Builder
	b.WriteString("tests:\n- interval: 1m\n  input_series:\n")
	for _, l := range strings.Split(written(t), "\n") {
		if at := strings.LastIndexByte(l, ' '); at > 0 && !strings.HasPrefix(l, "#") {
			series, _ := json.Marshal(l[:at])
			fmt.Fprintf(&b, "  - series: %s\n    values: '%sx5'\n", series, l[at+1:]+"+0")
		}
	}
	b.WriteString("  promql_expr_test:\n")
	for _, q := range queries(t) {
		expr, _ := json.Marshal("count(" + q + ") > bool 0")
		fmt.Fprintf(&b, "  - expr: %s\n    eval_time: 3m\n    exp_samples:\n    - labels: '{}'\n      value: 1\n", expr)
	}
	file := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "test", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
