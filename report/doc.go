// Package report takes the tables of a store and returns one Document: what was read, what stragglers cost, why, and what to do
// about it. The packages below it render the Document.
//
//  1. document.go defines the Document: typed rows with their caveats, no markup.
//  2. build.go fills it step by step; every query is a .sql file in sql, in the portable dialect. restrict.go restricts queries
//     to the rows that the document is about, and scope.go narrows a document to one query, job, phase or attempt.
//  3. losses.go adds up what jobs lost: cost.go has the definitions, sums.go the totals by job, application and cause.
//  4. trust.go, history.go, jobs.go, plans.go, phases.go, outliers.go, machines.go and repeats.go fill the lists. About a run
//     that was slow as a whole, resource.go finds what the time was spent on, sharing.go, with the package of that name, what
//     its slow tasks have in common, load.go how many tasks it had for its slots, changed_plans.go which queries ran with other
//     plans, and hours.go at which hours of the day a program's runs are slow.
//  5. timeline.go and drawing.go reduce attempts to pictures of bounded size; replayed.go draws a replayed job.
//  6. whatif.go reads what policies would have saved.
//  7. facts.go and headline.go, then advice.go: the table of what to do when, by thresholds.go, and its rules in
//     advice_machines.go, advice_skew.go, advice_plans.go, advice_speculation.go and advice_causes.go.
//  8. evidence.go puts the evidence of an outlier into sentences; titles.go and causes.go name things.
//  9. simulation.go builds the other document: the runs of a simulated workload.
//  10. natural.go and sql.go are used by all of them.
//
// The renderings: view has the tables and sentences that all of them share, html, markdown, terminal and json write
// a Document, perfetto streams the timeline from the store.
//
// Whatever comes from a log is hostile: prose bounds it and makes it one safe line, the renderers escape it.
//
// Start with document.go.
package report
