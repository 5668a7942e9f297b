package main

import (
	"bytes"
	"strings"
	"testing"

	"straggler/audit"
	"straggler/ingest/formats"
	"straggler/schema"
	"straggler/whatif/policy"
)

// The manual has an entry for every column, policy, option, cause and rule.
func TestManualIsComplete(t *testing.T) {
	help := func(topic string) string {
		e := newEnv()
		root := newRoot(e)
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetArgs([]string{"help", topic})
		if err := root.Execute(); err != nil {
			t.Fatalf("help %s: %v", topic, err)
		}
		return out.String()
	}
	has := func(topic, text string, words ...string) {
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("help %s does not speak of %q", topic, w)
			}
		}
	}
	tables := help("tables")
	for _, table := range schema.Tables() {
		has("tables", tables, table.Name, table.Doc)
		for _, c := range table.Columns {
			has("tables", tables, c.Name, c.Doc)
		}
	}
	policies := help("policies")
	for _, s := range policy.Specs() {
		has("policies", policies, "\n"+s.Name+": ", s.Source)
		for _, o := range s.Options() {
			has("policies", policies, o.Name+"="+o.Default, o.Doc)
		}
	}
	unwrapped := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	causes, detect := unwrapped(help("causes")), unwrapped(help("detect"))
	for _, e := range schema.Causes() {
		has("causes", causes, e.Word, e.Meaning)
	}
	for _, e := range schema.Rules() {
		has("detect", detect, e.Word, e.Meaning)
	}
	rules, recognised := help("audit"), help("formats")
	for _, r := range audit.Rules() {
		has("audit", rules, "\n  "+r.Name, r.Doc)
	}
	for _, f := range formats.All() {
		has("formats", recognised, "\n  "+f.Name, f.Doc)
	}
	if len(help("store")) < 200 {
		t.Error("help store says little")
	}
}
