package render

import (
	"fmt"
	"regexp"
	"strings"

	"straggler/audit"
	"straggler/report/prose"
	"straggler/table"
)

// title returns one line about a finding. It contains names from the log, unescaped.
func title(f *audit.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", f.Rule, f.Subject())
	if f.Value != nil && !f.OnMachines() {
		fmt.Fprintf(&b, ": %s, normally %s", figure(f.Value, f.Unit), figure(f.Normal, f.Unit))
		if f.Change != nil && f.Unit != "share" {
			b.WriteString(" (" + signed("%+.0f %%", 100**f.Change) + ")")
		}
	} else if f.Detail != "" {
		b.WriteString(": " + f.Detail)
	}
	return b.String()
}

// evidenceOf returns the evidence for a finding, a sentence per line.
func evidenceOf(f *audit.Finding) []string {
	var out []string
	if f.Value != nil && !f.OnMachines() {
		out = append(out, expected(f))
	}
	if f.P != nil {
		line := fmt.Sprintf("p = %.2g", *f.P)
		if f.Q != nil {
			line += fmt.Sprintf(", false discovery rate %.2g", *f.Q)
		}
		out = append(out, line)
	}
	if s := machineRuns(f.MachineRuns); s != "" {
		out = append(out, s)
	}
	if f.Likely != "" {
		line := "likely cause: " + f.Likely
		if f.LikelyBy != nil {
			line += ", " + more(*f.LikelyBy) + " of excess"
		}
		out = append(out, line)
	}
	if f.Kind != "" {
		out = append(out, "against the history, the time went to: "+spentOn(f.Kind))
	}
	if f.Reason != "" {
		out = append(out, fmt.Sprintf("suppressed until %s: %s", f.Expires, f.Reason))
	}
	return out
}

// expected describes the range in which a normal run would be.
func expected(f *audit.Finding) string {
	s := fmt.Sprintf("95 %% of runs like the %d before", f.Runs)
	if f.Rule == "stage_time" || f.Rule == "stage_late" || f.Rule == "stage_lost_time" {
		s += ", with other stages as fast as tonight,"
	}
	low, high := figure(f.Low, f.Unit), figure(f.High, f.Unit)
	if low == high {
		return s + " would have " + high
	}
	return s + " would lie between " + low + " and " + high
}

// machineRuns describes the health of a machine in each of the last runs.
func machineRuns(runs []audit.MachineRun) string {
	var parts []string
	for _, r := range runs {
		day, _, _ := strings.Cut(r.Start, "T")
		switch {
		case r.Verdict == nil:
			parts = append(parts, day+" not known")
		case r.Factor == nil:
			parts = append(parts, day+" like the others")
		default:
			parts = append(parts, fmt.Sprintf("%s %s, %.2f×", day, *r.Verdict, *r.Factor))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "runs, oldest first: " + strings.Join(parts, "; ")
}

// callPlace is the call site of a stage.
type callPlace struct {
	File string
	Line int
}

var callSite = regexp.MustCompile(`(?:^|[\s(])at ([A-Za-z0-9_$.<>-]{1,120}\.(?:scala|java|py|kt|sql|R|r|go|clj)|<console>|<stdin>):(\d{1,7})\)?$`)

// place returns the call site at the end of a stage's name, as in 'collect at Main.scala:42'.
func place(name string) (callPlace, bool) {
	m := callSite.FindStringSubmatch(strings.TrimSpace(name))
	if m == nil || strings.ContainsAny(m[1], "<>") {
		return callPlace{}, false
	}
	var line int
	if _, err := fmt.Sscanf(m[2], "%d", &line); err != nil || line < 1 {
		return callPlace{}, false
	}
	return callPlace{m[1], line}, true
}

// safe returns a text that is safe on a terminal, on one line and of bounded length.
func safe(s string) string {
	s = table.Printable(s)
	if r := []rune(s); len(r) > 1200 {
		return string(r[:1200]) + "…"
	}
	return s
}

// verdictOf summarises the night in one sentence.
func verdictOf(n *audit.Night) string {
	learning := 0
	for _, j := range n.Runs {
		if j.Learning {
			learning++
		}
	}
	switch {
	case len(n.Runs) == 0:
		return "nothing to audit: the logs hold no application"
	case n.Failing > 0:
		return fmt.Sprintf("%s: %d new, %d ongoing", plural(n.Failing, "finding"), n.Summary[audit.New], n.Summary[audit.Ongoing])
	case learning == len(n.Runs):
		return fmt.Sprintf("learning: there are fewer than %d runs to compare with", n.MinRuns)
	case learning > 0:
		return fmt.Sprintf("clean; still learning %d of %s", learning, plural(len(n.Runs), "application"))
	}
	return "clean"
}

// judgedBy describes how a run was judged.
func judgedBy(j *audit.Judgement) string {
	switch {
	case j.Session:
		return "an interactive session, which is not compared with other runs; --group-by overrides this"
	case j.History == 0:
		return "no run to compare with yet"
	}
	s := fmt.Sprintf("%s of history, %s", plural(j.History, "run"), plural(j.Comparisons, "comparison"))
	if j.Learning {
		s += ", learning"
	}
	s += alike(j.Alike)
	if j.Detectable != nil {
		s += fmt.Sprintf("; in half of the stages, lost time that grows by %.0f %% would show", 100**j.Detectable)
	}
	return s
}

// against compares the tasks with the history, a sentence per line: how much longer they took and why, and what the slow ones
// have in common.
func against(x *audit.Slowness) []string {
	if s := slower(x); s != "" {
		return append([]string{s}, x.Words()...)
	}
	return x.Words()
}

// spentOn describes what tasks that were slower than usual spent the time on.
func spentOn(kind string) string {
	switch kind {
	case "disk":
		return "the disk, or waiting for input"
	case "network":
		return "the network: waiting for input, over the link of a rack"
	case "shared":
		return "something that nearly all machines share"
	}
	return "the " + kind
}

// slower describes how much longer than usual the tasks took, and what slowed them.
func slower(x *audit.Slowness) string {
	if x == nil || x.Factor == nil || *x.Factor < audit.Worth {
		return ""
	}
	s := fmt.Sprintf("Tasks take %.2f× what is usual for their stages", *x.Factor)
	switch {
	case x.Kind == "":
	case x.Kind == "shared" && x.Waited != nil && *x.Waited > 0.5:
		s += ", waiting for input on nearly all machines: by the network, or a data source that they share"
	case x.Kind != "shared" && x.Shared:
		s += ", by " + spentOn(x.Kind) + ", on nearly all machines"
	default:
		s += ", by " + spentOn(x.Kind)
	}
	for i, m := range x.Machines[:min(len(x.Machines), 3)] {
		if m.Factor == nil || *m.Factor < audit.Worth {
			break
		}
		s += fmt.Sprintf("%s %s %.2f×", map[bool]string{true: "; slowest:", false: ","}[i == 0], m.Machine, *m.Factor)
	}
	return s
}

// alike describes how much the nights of the history differ, and which are left out.
func alike(a *audit.Alike) string {
	s := ""
	if a == nil {
		return s
	}
	if a.RunTime != nil {
		s += fmt.Sprintf("; the time of a run varies by %.1f %% from night to night", 100**a.RunTime)
		if a.Level != nil && *a.Level > 0.5**a.RunTime {
			s += fmt.Sprintf(", and drifts: by %.1f %% over several nights, for which the intervals are widened", 100**a.Level)
		}
	}
	if a.Seen != nil {
		s += fmt.Sprintf("; a run that takes %.0f %% longer would show", 100**a.Seen)
	}
	if a.Hours != nil {
		hours := a.Hours.Words()
		s += "; " + strings.TrimSuffix(strings.ToLower(hours[:1])+hours[1:], ".")
	}
	if n := len(a.Unusual); n > 0 {
		s += fmt.Sprintf("; left out as unlike all others: %s", strings.Join(a.Unusual[:min(n, 3)], ", "))
		if n > 3 {
			s += fmt.Sprintf(" and %d more", n-3)
		}
	}
	if n := len(a.Changes); n > 0 {
		c := a.Changes[0]
		what := c.Rule
		if c.Stage != "" {
			what += " of " + c.Stage
		}
		s += fmt.Sprintf("; %s changed level for good on %s, and nights before do not count for it", what, c.From)
		if n > 1 {
			s += fmt.Sprintf(" (and %s more)", plural(n-1, "level"))
		}
	}
	return s
}

// figure formats a value with its unit as reports do, but with ordinary spaces: the output of audits is searched with grep.
func figure(x *float64, unit string) string {
	if x == nil {
		return "unknown"
	}
	return strings.ReplaceAll(prose.Measured(*x, unit), prose.NBSP, " ")
}

// more formats a difference in seconds, with its sign.
func more(s float64) string {
	text := figure(&s, "s")
	if s > 0 {
		return "+" + text
	}
	return text
}

// signed formats a difference, with a minus sign rather than a hyphen.
func signed(format string, x float64) string {
	return strings.Replace(fmt.Sprintf(format, x), "-", "−", 1)
}

// plural formats a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
