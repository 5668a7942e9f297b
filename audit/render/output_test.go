package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"straggler/audit"
	"straggler/audit/audittest"
	"straggler/audit/baseline"
	"straggler/audit/measure"
)

// hostile is a name that attacks every output: markup, terminal, tables, workflow commands, reordering, broken UTF-8.
const hostile = "<script>alert(1)</script>|`x`\x1b[31m\n::error::owned%0A\u202e]]>\xff & \"q\" at Main.scala:42"

// badNight has a finding of each kind, with hostile names.
func badNight() (*audit.Night, *audit.Config) {
	cfg := audit.DefaultConfig()
	var runs []measure.Run
	for n := range 7 {
		r := measure.Run{Group: strings.ToValidUTF8(hostile, "\uFFFD"), Name: "x", ID: fmt.Sprint("app-", n),
			Start: fmt.Sprintf("2026-01-%02dT00:00:00.000Z", n+1), Complete: n < 6, JudgedMachines: 10,
			Values: measure.Values{"time_s": 100 + float64(n%3), "slot_s": 4000, "attempts": 1000, "failed": 1,
				"excess_s": 500 + float64(n), "excess_sq": 5000, "lost_s": 1, "rejects": 0},
			Causes: measure.Values{"data_skew": 100}, Squares: measure.Values{"data_skew": 200}, Machines: map[string]measure.Machine{}}
		s := measure.Stage{Signature: measure.Signature{Job: "j", Stage: strings.ToValidUTF8(hostile, "\uFFFD"), Kind: "result"},
			Causes: measure.Values{"data_skew": 100}, Sketch: []float64{1, 1, 1, 1, 2, 3, 4},
			Values: measure.Values{"time_s": 50 + float64(n%2), "slot_s": 2000, "tasks": 500, "outliers": 50, "median_s": 4,
				"max_s": 16, "excess_s": 400 + float64(n), "excess_sq": 4000, "lost_s": 2, "slowdown_ratio": 4, "input_skew": 2}}
		if n == 6 {
			r.Values["time_s"], r.Values["failed"] = 200, 100
			s.Values["excess_s"], s.Values["excess_sq"] = 1200, 12000
			s.Causes["data_skew"] = 900
			r.Machines[hostile] = measure.Machine{Verdict: "slow", Factor: 2, Low: 1.8, High: 2.2, Q: 1e-8}
		}
		r.Stages = []measure.Stage{s}
		runs = append(runs, r)
	}
	n := judged(runs[6:], runs[:6], cfg, audit.Options{Now: time.Date(2026, 1, 8, 0, 0, 0, 0, time.UTC), Tool: "test", Baseline: "ci/base line.jsonl"})
	return n, cfg
}

func rendered(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestBadNight(t *testing.T) {
	n, _ := badNight()
	var rules []string
	for _, f := range n.Findings() {
		rules = append(rules, f.Rule)
	}
	slices.Sort(rules)
	for _, want := range []string{"run_time", "failed_attempts", "bad_machine", "log_complete", "stage_lost_time"} {
		if !slices.Contains(rules, want) {
			t.Errorf("no %s among %v", want, rules)
		}
	}
	for _, f := range n.Findings() {
		if f.Rule == "stage_lost_time" && (f.Likely != "data_skew" || *f.LikelyBy != 800) {
			t.Errorf("likely cause %s, %v s", f.Likely, *f.LikelyBy)
		}
	}
}

// A machine that is slow in most runs is in every rendering, with what is known of it in each run.
func TestRecurringMachine(t *testing.T) {
	runs := audittest.Runs(7)
	for i := range runs {
		switch i {
		case 2:
			runs[i].Healthy = []string{"m17"}
		case 4:
		default:
			runs[i].Machines["m17"] = measure.Machine{Verdict: "slow", Factor: 1.6, Low: 1.3, High: 2, Q: 0.001}
		}
	}
	b, cfg := &baseline.Baseline{}, audit.DefaultConfig()
	b.Add(cfg.History, runs[:6]...)
	n, err := audit.Judge(runs[6:], b, cfg, audit.Options{Now: time.Date(2026, 1, 8, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	const says, rows = "slow in 5 of the last 7 runs, with 1.60× the time of the others", "2026-01-03 like the others; 2026-01-04 slow, 1.60×; 2026-01-05 not known"
	for name, out := range map[string]string{
		"text":   rendered(t, func(w io.Writer) error { return Text(w, n, false) }),
		"md":     rendered(t, func(w io.Writer) error { return Markdown(w, n) }),
		"junit":  rendered(t, func(w io.Writer) error { return JUnit(w, n, cfg) }),
		"github": rendered(t, func(w io.Writer) error { return Annotations(w, n, cfg) }),
		"json":   rendered(t, func(w io.Writer) error { return JSON(w, n) }),
		"sarif":  rendered(t, func(w io.Writer) error { return SARIF(w, n) }),
	} {
		if !strings.Contains(out, says) {
			t.Errorf("%s does not say it: %s", name, out)
		}
		if name != "json" && name != "sarif" && !strings.Contains(out, rows) {
			t.Errorf("%s has no runs: %s", name, out)
		}
	}
	var night struct {
		Runs []struct {
			Findings []struct {
				Rule string             `json:"rule"`
				Runs []audit.MachineRun `json:"machine_runs"`
			} `json:"findings"`
		} `json:"runs"`
	}
	if err := json.Unmarshal([]byte(rendered(t, func(w io.Writer) error { return JSON(w, n) })), &night); err != nil {
		t.Fatal(err)
	}
	for _, f := range night.Runs[0].Findings {
		if f.Rule == "recurring_machine" && (len(f.Runs) != 7 || f.Runs[4].Verdict != nil || *f.Runs[2].Verdict != "healthy" || *f.Runs[3].Factor != 1.6) {
			t.Errorf("%+v", f.Runs)
		}
	}
}

// Names from logs reach terminals, pages, tables and workflow commands only as text.
func TestOutputsEscape(t *testing.T) {
	n, cfg := badNight()
	for name, out := range map[string]string{
		"text":   rendered(t, func(w io.Writer) error { return Text(w, n, false) }),
		"md":     rendered(t, func(w io.Writer) error { return Markdown(w, n) }),
		"junit":  rendered(t, func(w io.Writer) error { return JUnit(w, n, cfg) }),
		"sarif":  rendered(t, func(w io.Writer) error { return SARIF(w, n) }),
		"json":   rendered(t, func(w io.Writer) error { return JSON(w, n) }),
		"github": rendered(t, func(w io.Writer) error { return Annotations(w, n, cfg) }),
	} {
		if strings.ContainsAny(out, "\x1b\u202e") && name != "json" || !strings.Contains(out, "alert(1)") && name != "md" {
			t.Errorf("%s lets controls through, or lost the name", name)
		}
		if name != "text" && name != "github" && strings.Contains(out, "<script>") {
			t.Errorf("%s lets markup through", name)
		}
		if name != "github" && name != "json" && regexp.MustCompile(`(?m)^\s*::error`).MatchString(out) {
			t.Errorf("%s lets a workflow command through", name)
		}
	}
	command := regexp.MustCompile(`^::(error|warning|notice) (file=[^,:]+,line=\d+,)?title=[^,:]+::[^\r\n]+$`)
	located := 0
	for _, line := range strings.Split(strings.TrimSpace(rendered(t, func(w io.Writer) error { return Annotations(w, n, cfg) })), "\n") {
		if !command.MatchString(line) {
			t.Errorf("no workflow command: %s", line)
		}
		if strings.Contains(line, "file=Main.scala,line=42,") {
			located++
		}
	}
	if located == 0 {
		t.Error("no annotation stands at the call site")
	}
}

// JUnit as read by CI systems (the Jenkins xunit schema): counts agree with the cases, and names are present.
func TestJUnit(t *testing.T) {
	n, cfg := badNight()
	var got struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Suites   []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Skipped  int    `xml:"skipped,attr"`
			Time     string `xml:"timestamp,attr"`
			Cases    []struct {
				Name    string    `xml:"name,attr"`
				Class   string    `xml:"classname,attr"`
				Skipped *struct{} `xml:"skipped"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Type    string `xml:"type,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(rendered(t, func(w io.Writer) error { return JUnit(w, n, cfg) })), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Suites[0]
	failures, skipped := 0, 0
	for _, c := range s.Cases {
		if c.Failure != nil {
			failures++
		}
		if c.Skipped != nil {
			skipped++
		}
		if c.Name == "" || c.Class == "" || c.Failure != nil && (c.Failure.Message == "" || c.Failure.Type == "") {
			t.Errorf("a case without name, class or message: %+v", c)
		}
	}
	if len(got.Suites) != 1 || s.Tests != len(s.Cases) || s.Failures != failures || got.Failures != n.Failing ||
		failures != n.Failing || s.Skipped != skipped || s.Time != "2026-01-07T00:00:00" {
		t.Errorf("%d suites, %+v, %d failures, %d failing", len(got.Suites), s, failures, n.Failing)
	}
}

// SARIF is checked against the parts of the published 2.1.0 schema that the output uses, with everything else forbidden. The
// whole schema of 120 KB is not included here.
func TestSARIF(t *testing.T) {
	n, _ := badNight()
	out := rendered(t, func(w io.Writer) error { return SARIF(w, n) })
	validate(t, sarifSubset, out)
	var log sarifLog
	if err := json.Unmarshal([]byte(out), &log); err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for _, r := range log.Runs[0].Results {
		if log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("rule %s at %d", r.RuleID, r.RuleIndex)
		}
		p := r.Locations[0].Physical
		at[fmt.Sprintf("%s:%d", p.Artifact.URI, p.Region.StartLine)]++
	}
	if at["Main.scala:42"] == 0 || at["ci/base%20line.jsonl:1"] == 0 || len(at) != 2 {
		t.Errorf("locations %v", at)
	}
}

const sarifSubset = `{"type":"object","additionalProperties":false,"required":["version","runs","$schema"],"properties":{
 "$schema":{"type":"string","format":"uri"},"version":{"enum":["2.1.0"]},"runs":{"type":"array","minItems":1,"items":{"type":"object","additionalProperties":false,"required":["tool","results"],"properties":{
  "tool":{"type":"object","additionalProperties":false,"required":["driver"],"properties":{"driver":{"type":"object","additionalProperties":false,"required":["name"],"properties":{
    "name":{"type":"string"},"version":{"type":"string"},"rules":{"type":"array","uniqueItems":true,"items":{"type":"object","additionalProperties":false,"required":["id"],"properties":{
      "id":{"type":"string"},"shortDescription":{"$ref":"#/$defs/m"},"help":{"$ref":"#/$defs/m"},
      "defaultConfiguration":{"type":"object","additionalProperties":false,"properties":{"level":{"enum":["none","note","warning","error"]}}}}}}}}}},
  "results":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["message"],"properties":{
    "ruleId":{"type":"string"},"ruleIndex":{"type":"integer","minimum":-1},"level":{"enum":["none","note","warning","error"]},"message":{"$ref":"#/$defs/m"},
    "baselineState":{"enum":["new","unchanged","updated","absent"]},"partialFingerprints":{"type":"object","additionalProperties":{"type":"string"}},
    "suppressions":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["kind"],"properties":{"kind":{"enum":["inSource","external"]},"justification":{"type":"string"}}}},
    "properties":{"type":"object"},
    "locations":{"type":"array","minItems":1,"items":{"type":"object","additionalProperties":false,"properties":{
      "physicalLocation":{"type":"object","additionalProperties":false,"required":["artifactLocation"],"properties":{
        "artifactLocation":{"type":"object","additionalProperties":false,"properties":{"uri":{"type":"string","format":"uri-reference"}}},
        "region":{"type":"object","additionalProperties":false,"properties":{"startLine":{"type":"integer","minimum":1}}}}},
      "logicalLocations":{"type":"array","uniqueItems":true,"items":{"type":"object","additionalProperties":false,"properties":{"fullyQualifiedName":{"type":"string"},"kind":{"type":"string"}}}}}}}}}}}}}},
 "$defs":{"m":{"type":"object","additionalProperties":false,"required":["text"],"properties":{"text":{"type":"string","minLength":1}}}}}`

// validate checks a JSON text against a schema.
func validate(t *testing.T, schema, text string) {
	t.Helper()
	if err := audittest.CheckJSON(schema, text); err != nil {
		t.Error(err)
	}
}

// The same input gives the same bytes, and an empty one gives an outcome.
func TestDeterministic(t *testing.T) {
	write := func() string {
		n, cfg := badNight()
		return rendered(t, func(w io.Writer) error {
			return errors.Join(Text(w, n, true), JSON(w, n), Markdown(w, n), JUnit(w, n, cfg), SARIF(w, n), Annotations(w, n, cfg))
		})
	}
	if first, second := write(), write(); first != second {
		t.Error("two times differ")
	}
	empty := judged(nil, nil, audit.DefaultConfig(), audit.Options{})
	var b bytes.Buffer
	if err := errors.Join(Text(&b, empty, false), JSON(&b, empty), Markdown(&b, empty), JUnit(&b, empty, audit.DefaultConfig()),
		SARIF(&b, empty)); err != nil || empty.Failing != 0 {
		t.Errorf("%v, %d failing", err, empty.Failing)
	}
}

// A page escapes text from logs.
func TestPairEscapes(t *testing.T) {
	runs := audittest.Runs(2)
	runs[1].Stages[0].Stage = hostile
	p := audit.Compare(&runs[0], &runs[1], audit.DefaultConfig())
	page := rendered(t, func(w io.Writer) error { return errors.Join(PairHTML(w, p), PairMarkdown(w, p)) })
	if bytes.Contains([]byte(page), []byte("<script>")) || bytes.Contains([]byte(page), []byte("\x1b")) {
		t.Error("a page lets markup through")
	}
}

// Two runs are compared in sentences and a table of differences: measures that are equal are left out, and so is what only a
// database would say.
func TestPairIsReadable(t *testing.T) {
	runs := audittest.Runs(2)
	p := audit.Compare(&runs[0], &runs[1], audit.DefaultConfig())
	if len(p.Differences) < 3 {
		t.Fatal("too little to compare")
	}
	stages := slices.DeleteFunc(slices.Clone(p.Differences), func(d audit.Difference) bool { return d.Stage == nil })
	stages[0].A, stages[0].Change = nil, nil
	stages[1].A = stages[1].B
	p.Differences = append(stages, p.Differences...)
	text := rendered(t, func(w io.Writer) error { return errors.Join(PairText(w, p, 0), PairMarkdown(w, p), PairHTML(w, p)) })
	for _, s := range []string{"The run took ", " in a and ", "%).", " the same", "a log does not say enough"} {
		if strings.Count(text, s) < 3 {
			t.Errorf("no %q in each of\n%s", s, text)
		}
	}
	if !regexp.MustCompile(`(?m)^measure +of +a +b +change +false_discovery_rate$`).MatchString(text) {
		t.Errorf("the columns have other names in\n%s", text)
	}
	if strings.Contains(text, "NULL") || strings.Contains(text, "unknown") {
		t.Errorf("it shows what is not known:\n%s", text)
	}
	p.Differences = slices.Repeat(stages, 100)
	if text := rendered(t, func(w io.Writer) error { return PairText(w, p, 0) }); strings.Count(text, "\n") > pairLines+30 ||
		!strings.Contains(text, "smaller differences; -o compare.html") {
		t.Errorf("a text of %d lines", strings.Count(text, "\n"))
	}
}

func judged(tonight, history []measure.Run, cfg *audit.Config, o audit.Options) *audit.Night {
	n, err := audit.Judge(tonight, &baseline.Baseline{Runs: history}, cfg, o)
	if err != nil {
		panic(err)
	}
	return n
}

// Where the interval has no width to the digits shown, it is one value.
func TestExpected(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		f    audit.Finding
		want string
	}{
		{audit.Finding{Rule: "run_time", Unit: "s", Runs: 7, Low: at(1), High: at(2.5)}, "95 % of runs like the 7 before would lie between 1.00 s and 2.50 s"},
		{audit.Finding{Rule: "stage_late", Unit: "s", Runs: 5, Low: at(0.0601), High: at(0.0603)},
			"95 % of runs like the 5 before, with other stages as fast as tonight, would have 60 ms"},
	} {
		if got := expected(&c.f); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// Figures are those of reports: three digits, in the unit that suits them.
func TestFiguresOfFindings(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	f := audit.Finding{Rule: "lost_time", Unit: "slot s", Runs: 7, Value: at(13.76), Normal: at(0.442), Low: at(0.4), High: at(7300),
		Likely: "data_skew", LikelyBy: at(800)}
	text := title(&f) + "\n" + strings.Join(evidenceOf(&f), "\n")
	for _, want := range []string{": 13.8 slot s, normally 442 slot ms", "between 400 slot ms and 2.03 slot h", "data_skew, +13.3 min of excess"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
