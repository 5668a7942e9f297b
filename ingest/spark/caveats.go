package spark

import (
	"fmt"

	"straggler/schema"
)

// writeCaveats writes the caveats of the application.
func (a *app) writeCaveats(complete bool, truncated string) {
	var rows []schema.Caveat
	add := func(code string, count int64, detail string) {
		row := schema.Caveat{ApplicationID: a.key, Code: code, Detail: detail}
		if count > 0 {
			row.Count = schema.Some(count)
		}
		rows = append(rows, row)
	}
	addCount := func(code string, count int64, detail string) {
		if count > 0 {
			add(code, count, detail)
		}
	}
	c := &a.count
	if !complete {
		add("log_incomplete", 0, a.incomplete(truncated))
	}
	for _, n := range a.notes {
		add(n.code, n.count, n.detail)
	}
	addCount("ends_without_start", c.endsWithoutStart, "attempts have an end but no start in the log; their rows are made from their ends")
	if complete {
		addCount("starts_without_end", int64(len(a.running)),
			"attempts have a start but no end in the log, although it has the application's end; they are kept as running")
	}
	if c.shortStages > 0 {
		add("stage_ends_missing", c.shortStages,
			fmt.Sprintf("%d stages that succeeded lack the ends of %d tasks: Spark drops events when its listeners fall behind", c.shortStages, c.missingEnds))
	}
	addCount("jobs_without_start", c.jobsWithoutStart, "the starts of jobs are not in the log; the stages without a known job are assigned to them")
	addCount("events_repeated", c.repeated, "events that repeated a start or an end were skipped")
	addCount("attempts_renumbered", c.renumbered, "attempts have the number of another attempt of their task; they got the next free one")
	addCount("partition_unknown", c.unknownTasks, "attempts of stages that ran in part have no partition in the log; their task is a position")
	addCount("metrics_missing", c.unmetered, "attempts ended without metrics, as happens when they fail early or their executor goes away")
	addCount("edges_unknown", c.edgesUnknown, "the log does not name the parents of some stages")
	addCount("stages_not_kept", c.dropped, "events of stages beyond the first 300 000 of jobs that did not end were skipped")
	addCount("running_not_kept", c.untracked, "attempts that started while a million others were running are known by their ends only")
	addCount("plan_cut", c.plansCut, "plans of queries have more than 20 000 operators; the first 20 000 of each are kept")
	addCount("plan_text_cut", c.planTextsCut, "plans of queries have texts that were truncated: at most 4 KiB per operator and 4 MiB per plan are kept")
	addCount("plan_values_not_kept", c.valuesDropped, "values of operators' metrics beyond the two million that are kept at a time were skipped")
	addCount("executors_excluded", max(a.excluded, a.blacklisted), "Spark stopped using executors or hosts because tasks failed there")
	if c.attempts > 0 {
		add("no_rack", 0, "event logs name no racks: traffic between racks is unknown")
	}
	flush(a.fold, &rows)
}

// incomplete describes in which way the log is incomplete.
func (a *app) incomplete(truncated string) string {
	switch {
	case truncated != "":
		return truncated
	case len(a.notes) > 0:
		return a.notes[0].detail
	case !a.hasStart && !a.hasEnd:
		return "the log has neither the application's start nor its end: it is part of a log, or the application is still running"
	case !a.hasStart:
		return "the log does not have the application's start: its first part is missing"
	}
	return "the log stops before the application's end: it is still running, or its driver died"
}
