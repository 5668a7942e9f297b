package main

import (
	"fmt"
	"strings"

	"straggler/audit"
)

// auditHelp returns the text of straggler help audit.
func auditHelp() string {
	var rules strings.Builder
	for _, r := range audit.Rules() {
		fmt.Fprintf(&rules, "  %-20s %s\n", r.Name, r.Doc)
	}
	return auditBefore + rules.String() + auditAfter
}

const auditBefore = `Audit reads a night's logs, or uses the applications of a store, and compares the latest run of each application with the
runs in the baseline: completion time, time lost to slow tasks, in total and by cause, failures, lost outputs, machines that
became slow, completeness of the log, and for each stage its time, lost time, slowdown ratio, share of outliers and skew.

A finding is a change that is larger than its rule allows, large enough to matter, and significant: the value, normalised by the
work of the night, lies above the prediction interval of earlier runs (Student's t, robust to a few bad nights, with variances
shrunk over the stages and widened for autocorrelation and drift between nights). Each night of the history is predicted from the
others, and a finding must exceed the largest deviation of 99 in 100 normal nights; the false discovery rate over all comparisons
of the night is controlled at 2 %. A permanent change of level replaces the earlier level, and a night unlike all others is left
out. With fewer than five runs the audit is learning: it reports, but does not fail. Every output explains how findings are
judged, how much the nights varied, and how small a change could have been detected.

The tasks of each machine are compared with earlier runs too: a machine whose tasks take longer than usual for their stages
is named, with what the additional time was spent on (processor, disk, network, or what nearly all machines share), even if
it ran only a few of them. A machine that causes found slow in at least three of the last seven runs (machine_runs), more
often than the others (Fisher's exact test), is named with what is known of it in each run, also when it is not slow. If the
slow tasks have a rack in common, the rack is named instead of its machines. Spark's logs name no racks: put a file
machines.csv with the columns machine and rack beside them.

The baseline is one file of JSON lines, sorted, with the last 30 runs as counts, sums and sketches. --update adds
tonight's run, all of it or nothing. Runs that were flagged for a finding do not count as normal for it, so the finding
stays (ongoing) until it is fixed or accepted: --accept ID --reason TEXT. Two baselines merge line by line; put
'*.jsonl merge=union' into .gitattributes.

Stages are the same stage when job name, stage name with its call site, kind, depth in the job and order are the same.
UUIDs, dates, batch numbers and ids in names differ in each run and are replaced by a star.

straggler.yaml changes thresholds and severities by application and stage, and suppresses findings until a day:

  version: 1
  history: 30        # runs kept
  min_runs: 5        # fewer: learning
  machine_runs: 7    # over which recurring_machine counts
  fdr: 0.02
  rules:
    - rule: stage_time
      application: "nightly-*"
      stage: "*collect at Main.scala:42*"
      min_change: 0.5
      min_share: 0.05      # of the run's time: less does not matter
      severity: warning    # error and warning fail the build, note does not, off disables the rule
  suppress:
    - rule: bad_machine
      reason: the new rack is being burned in
      until: 2027-01-31

--schema writes the JSON schema of the file for editors. --explain RULE says when a rule finds something, and why it
matters. The rules:
`

const auditAfter = `
Exit codes: 0 clean or learning, 1 findings of severity error or warning, 2 wrong use or configuration, 3 logs or
baseline could not be read.`
