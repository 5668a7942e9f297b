// Package causes takes phases and the outliers among their attempts, and attributes every second of their excess to a cause.
// MODEL.md states the statistical model mathematically. The packages below implement it, in the order in which data flows:
//
//	fit       one phase by itself: predictors, robust regression, residuals                       (sections 1 to 4)
//	machines  one machine over all phases: its factor by window of time, its health, its rack     (section 5)
//	model     the parameters common to all phases; how whatif predicts the time of a task         (section 6)
//	causes    the excess of each outlier, split by what the model says                            (sections 7 to 9, 11)
//	jobcost   how much shorter a phase, and a job, would have been without a cause                (section 10)
//	wire      the encoding of messages between copies of the program on a cluster
//
// The files of this package:
//
//  1. run.go reads the phases of a store, builds one model of all of them, attributes the outliers of each phase, and commits
//     the results. phases.go lists the phases; part.go selects the inputs that earlier runs have not processed; statistics.go
//     holds the sufficient statistics of each application, and keptstatistics.go merges those stored by earlier runs; chunks.go
//     and range.go read attempts in chunks; savings.go spools the savings from which job costs are computed; write.go,
//     repeats.go (with executions.go) and totals.go write result tables, and summary.go counts them. Each .sql file is embedded
//     by the .go file that runs it.
//  2. cluster.go does the same on an engine of many machines, which runs copies of the program: copyrows.go selects the rows
//     that a copy reads, copy.go processes them, and messages.go encodes its results. trace.go works on a trace in memory,
//     without SQL.
//  3. attribute.go produces the attributions of one phase. split.go splits an excess into terms; rules.go applies the rules
//     that are not part of the likelihood; pauses.go finds tasks that waited for a garbage collection on another machine, and
//     collections.go the collections of other phases at that time; driver.go distinguishes a pause of the driver from a slow
//     link; recompute.go finds the attempts that recomputed lost outputs, and exchanges.go reads what tasks exchanged;
//     discrepancy.go has the error of the model itself, confidence.go that of the verdict.
//  4. location.go decides whether a task, a machine, a rack or a link is slow; sentences.go explains each cause in an Evidence,
//     which evidence.go writes as JSON.
//  5. runmachines.go judges the machines of each run against the history of its stages; history.go splits the time by which
//     attempts exceed their usual duration.
//  6. figures.go draws the papers' figures from the results.
//
// The model is global, because a machine's factor, a stage's elasticity and the store's share of slow attempts come from all
// phases: so there are two passes, one by a model.Learner and one by an Attributor. Both must number machines in the same way.
//
// # Only what is new
//
// A run processes the inputs that no earlier run has processed with the same rows, outliers of the same version of detect,
// history of their stages, and options. Phases contribute to the model through sums (model.Statistics); those of each
// application are stored as rows of machine_statistics and stage_statistics. A run adds up the sums of all applications in the
// order of their keys, so the model, and machine_health with it, is the same to the last bit however the logs were divided
// among ingests and in whatever order; phases of earlier runs are not read again.
//
// An attribution depends on the model too, and every new phase changes the model a little. The statistics of an application
// include the estimates for its machines and stages with which it was attributed. If these have changed by more than a
// tolerance (statistics.go) for over a twentieth of its tasks, its input is attributed again; otherwise its attributions are
// kept. Most estimates for a machine belong to a window of time that later nights do not touch. TestMovedModel compares the
// kept attributions with those of one run over all logs, for random orders and partitions: 99 of 100 outliers have the same
// causes to 5 % of their excess, 9 of 10 to 1 %, and 998 of 1 000 the same verdict. Counts within a sentence, such as the
// number of phases behind a machine's factor, are those of the time of writing. Options.Again processes everything, and gives
// the same rows to the last bit as a store into which the same logs were ingested at once.
//
// Run health, history_attributions, job_costs and application_causes (the sums of attributions) depend only on one input and
// its history, and are kept with that input. skew_repeats are counted afresh from skewed_tasks and the phases.
//
// # Which cause gets what
//
// The excess of an outlier is its duration minus the median of its phase. The excess of an attempt that recomputed a lost
// output is its whole duration, all of it attributed to recompute. Any other excess is the sum of:
//
//	data_skew     the regression on bytes and records; the wait for blocks that a larger input usually has
//	network       fetch wait beyond that; scheduler delay, and the code of first tasks, on a machine with a saturated link;
//	              remote bytes where the log records no wait
//	bad_machine   the factor of its machine relative to that of the median task
//	gc, scheduler, deserialize   what the log measured, minus the phase's median; gc also includes waits for another
//	              process's collection
//	spill, locality              the regression on spilled bytes, and on reading remote data
//	transient     the remainder beyond the scatter of the phase; waits, delays and conversions explained by one late message
//	startup       being among the first of the phase on its machine, with the conversion of these tasks; what the start of an
//	              executor adds to its first tasks
//	unexplained   the remainder where too little is known to call it transient; work and start where the data cannot
//	              distinguish them
//
// The ordinary scatter of a task is divided among the named causes in proportion to their seconds, because it multiplies
// whatever made the task slow. A part below half a percent of the excess, or below five percent and not significant, is added
// to the verdict, which is the largest part.
//
// The table transfers is not read: no log format that ingest knows records how much a task read from which machine, so the
// table is empty. Logs record remote bytes and the time spent waiting for them, which are columns of attempts; which link is
// slow follows from what the machines of a phase have in common (location.go).
//
// Start with attribute.go.
package causes
