package audit

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"straggler/audit/measure"
	"straggler/strictyaml"
)

func configNames[T any]() []string { return strictyaml.Names(reflect.TypeFor[T]()) }

// configCases are texts with the position and a word of the expected error; an empty position means no error.
var configCases = []struct {
	text, place, word string
	readerOnly        bool // not expressible in a schema
}{
	{text: ""},
	{text: "# nothing\n"},
	{text: "version: 1\nhistory: 10\nmin_runs: 3\nfdr: 0.05\nfail_while_learning: true\ngroup_by: '^(.*)-\\d+$'\n"},
	{text: "rules:\n  - rule: run_time\n    severity: note\n    min_change: 0.5\n"},
	// YAML reads a date; JSON has none
	{text: "suppress:\n  - rule: run_time\n    reason: known\n    until: 2026-12-31\n", readerOnly: true},
	{text: "hystory: 10\n", place: "1:1", word: "hystory"},
	{text: "version: 2\n", place: "1:10", word: "between"},
	{text: "history: many\n", place: "1:10", word: "number"},
	{text: "history: 1.5\n", place: "1:10", word: "number"},
	{text: "fdr: .nan\n", place: "1:6", word: "", readerOnly: true},
	{text: "rules:\n  - rule: run_tyme\n", place: "2:11", word: "run_tyme"},
	{text: "rules:\n  - severity: fatal\n", place: "2:15", word: "fatal"},
	{text: "rules: run_time\n", place: "1:8", word: "list"},
	{text: "rules:\n  - run_time\n", place: "2:5", word: "values"},
	{text: "rules:\n  - min_change: [1]\n", place: "2:17", word: "list"},
	{text: "suppress:\n  - rule: run_time\n    until: 2026-12-31\n", place: "2:5", word: "reason is missing", readerOnly: true},
	{text: "suppress:\n  - reason: x\n    until: soon\n", place: "3:12", word: "soon"},
	{text: "group_by: '('\n", place: "1:11", word: "missing"},
	{text: "history: 5\nhistory: 6\n", place: "2:1", word: "twice", readerOnly: true},
	{text: "a: &a [1]\nrules: *a\n", place: "1:4", word: "anchors", readerOnly: true},
	{text: "min_runs: 31\n", word: "never stop learning", readerOnly: true}, // history is 30 unless it is given
	{text: "history: 4\n", word: "never stop learning", readerOnly: true},
	{text: "history: [\n", place: "", word: "YAML", readerOnly: true},
}

func TestConfigErrorsNameThePlace(t *testing.T) {
	for _, c := range configCases {
		_, err := parseConfig("straggler.yaml", []byte(c.text))
		if c.place == "" && c.word == "" {
			if err != nil {
				t.Errorf("%q: %v", c.text, err)
			}
			continue
		}
		if err == nil || !errors.Is(err, ErrConfig) {
			t.Errorf("%q: error %v", c.text, err)
			continue
		}
		if !strings.Contains(err.Error(), c.word) || c.place != "" && !strings.Contains(err.Error(), "straggler.yaml:"+c.place+":") {
			t.Errorf("%q: %v, want %s and %q", c.text, err, c.place, c.word)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		glob Glob
		text string
		want bool
	}{{"", "x", true}, {"*", "a/b\nc", true}, {"nightly-*", "nightly-1", true}, {"nightly-*", "a nightly-1", false},
		{"a?c", "abc", true}, {"a?c", "ac", false}, {"a.c", "abc", false}, {"*x*", "axb", true}} {
		if got := c.glob.matches(c.text); got != c.want {
			t.Errorf("%q on %q: %v", c.glob, c.text, got)
		}
	}
}

// The last entry that matches counts, and a stage pattern does not affect applications.
func TestSettings(t *testing.T) {
	c, err := parseConfig("f", []byte("rules:\n  - rule: '*'\n    severity: note\n  - rule: stage_time\n    stage: '*collect*'\n    severity: off\n    min_change: 0.9\n  - application: other\n    severity: error\n"))
	if err != nil {
		t.Fatal(err)
	}
	stage, _ := RuleNamed("stage_time")
	run, _ := RuleNamed("run_time")
	sig := measure.Signature{Stage: "collect at Main.scala:1"}
	if s := c.settings(stage, "app", sig); s.Severity != Off || s.MinChange != 0.9 || s.MinAbs != stage.MinAbs {
		t.Errorf("%+v", s)
	}
	if s := c.settings(stage, "app", measure.Signature{Stage: "count"}); s.Severity != Note || s.MinChange != stage.MinChange {
		t.Errorf("%+v", s)
	}
	if s := c.settings(run, "other", measure.Signature{}); s.Severity != Error {
		t.Errorf("%+v", s)
	}
}
