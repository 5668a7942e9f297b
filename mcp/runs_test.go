package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"straggler/audit"
)

// A finding about a machine that is slow again and again has what is known of each run, with names of the log marked as such.
func TestFindingRow(t *testing.T) {
	slow, factor := "slow", 1.7
	row := newFindingRow(&audit.Finding{Rule: "recurring_machine", Machine: "m4", MachineRuns: []audit.MachineRun{
		{Run: "app-1\x1b[2J", Start: "2026-11-22T00:00:00Z", Verdict: &slow, Factor: &factor}, {Run: "app-2", Start: "2026-11-23T00:00:00Z"}}})
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"machine_runs":[{"run_from_log":`, `"verdict":"slow","factor":1.7}`, `"verdict":null,"factor":null}`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if strings.Contains(row.MachineRuns[0].Run, "\x1b") {
		t.Errorf("%q", row.MachineRuns[0].Run)
	}
}
