package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"straggler/audit"
)

// Text writes the night for a terminal.
func Text(w io.Writer, n *audit.Night, color bool) error {
	out := bufio.NewWriter(w)
	paint := func(code, s string) string {
		if !color {
			return s
		}
		return "\x1b[" + code + "m" + s + "\x1b[0m"
	}
	head := "32;1"
	if n.Failing > 0 {
		head = "31;1"
	}
	fmt.Fprintf(out, "%s\n", paint(head, "audit of "+n.Date+": "+verdictOf(n)))
	for i := range n.Runs {
		j := &n.Runs[i]
		fmt.Fprintf(out, "\n%s  %s  %s\n  %s\n", paint("1", safe(j.Group)), safe(j.Run), safe(j.Start), safe(judgedBy(j)))
		for _, line := range against(j.Slowness) {
			fmt.Fprintf(out, "  %s\n", safe(line))
		}
		for _, list := range []struct {
			what  string
			names []string
		}{{"new stage", j.NewStages}, {"stage that is gone", j.GoneStages}} {
			for k, name := range list.names {
				if k == 5 {
					fmt.Fprintf(out, "  … and %s more\n", plural(len(list.names)-k, list.what))
					break
				}
				fmt.Fprintf(out, "  %s: %s\n", list.what, safe(name))
			}
		}
		for k := range j.Findings {
			writeFinding(&j.Findings[k], out, k < fullFindings, paint)
		}
		if len(j.Findings) > fullFindings {
			fmt.Fprintf(out, "\n  the evidence of all of them: -o audit.json, or -o audit.md\n")
		}
	}
	for _, d := range n.Accepted {
		fmt.Fprintf(out, "\naccepted %s as normal from %s on: %s\n", safe(d.ID), safe(d.From), safe(d.Subject))
	}
	for _, e := range n.Expired {
		fmt.Fprintf(out, "\na suppression has expired: %s\n", safe(e))
	}
	if slices.ContainsFunc(n.Runs, func(j audit.Judgement) bool { return j.History >= n.MinRuns }) {
		fmt.Fprintf(out, "\nFalse discovery rate %g. How it is judged: %s.\n", n.FDR, n.Method)
	}
	return out.Flush()
}

// fullFindings is the number of findings of a run that are shown with their evidence.
const fullFindings = 5

func writeFinding(f *audit.Finding, out io.Writer, full bool, paint func(code, s string) string) {
	gap := ""
	if full {
		gap = "\n"
	}
	fmt.Fprintf(out, "%s  %s %s\n", gap, paint(severityColor(f), fmt.Sprintf("%s %s %s", f.Severity, f.Status, f.ID)), safe(title(f)))
	if !full {
		return
	}
	for _, e := range evidenceOf(f) {
		fmt.Fprintf(out, "      %s\n", safe(e))
	}
	if f.Status != audit.Fixed {
		fmt.Fprintf(out, "      first seen %s; straggler audit --explain %s\n", safe(f.First), f.Rule)
	}
	if f.SQL != "" {
		fmt.Fprintf(out, "      %s\n", f.SQL)
	}
}

func severityColor(f *audit.Finding) string {
	switch {
	case f.Status == audit.Fixed:
		return "32"
	case f.Severity == audit.Error:
		return "31"
	case f.Severity == audit.Warning:
		return "33"
	}
	return "2"
}

// Explain writes what a rule compares and why.
func Explain(w io.Writer, r audit.Rule) error {
	least := ""
	switch {
	case r.MinChange > 0:
		least = fmt.Sprintf("at least %.0f %% and %g %s more than normal", 100*r.MinChange, r.MinAbs, r.Unit)
	case r.Unit == "runs":
		least = fmt.Sprintf("slow in at least %g runs, and more often than the other machines", r.MinAbs)
	case r.MinAbs > 0 && r.Unit == "share":
		least = fmt.Sprintf("at least %.0f percentage points more than normal", 100*r.MinAbs)
	case r.MinAbs > 0:
		least = fmt.Sprintf("at least %g over normal", r.MinAbs)
	default:
		least = "any difference"
	}
	switch {
	case r.MinShare > 0 && r.Unit == "s":
		least += fmt.Sprintf(", and %g %% of the run's time", 100*r.MinShare)
	case r.MinShare > 0 && r.Unit == "slot s":
		least += fmt.Sprintf(", and %g %% of the run's slot time", 100*r.MinShare)
	case r.MinShare > 0:
		least += fmt.Sprintf(", in a stage with %g %% of the run's slot time", 100*r.MinShare)
	}
	scope := "each application"
	switch {
	case r.Stage:
		scope = "each stage"
	case r.By == audit.PerCause:
		scope = "each application and cause"
	case r.By == audit.PerMachine:
		scope = "each machine"
	}
	_, err := fmt.Fprintf(w, "%s (%s): %s\n\n  compared for  %s\n  a finding is  %s\n  in straggler.yaml\n    rules:\n      - rule: %s\n        severity: %s\n        min_change: %g\n        min_absolute: %g\n        min_share: %g\n\n%s\n",
		r.Name, r.Severity, r.Doc, scope, least, r.Name, r.Severity, r.MinChange, r.MinAbs, r.MinShare, r.Why)
	return err
}
