// Package causes takes phases and the outliers among their attempts, and gives the causes of every second of excess. MODEL.md
// has the statistical model as mathematics; the packages below are its parts, in the order of the data:
//
//	fit       one phase by itself: predictors, robust regression, residuals                       (sections 1 to 4)
//	machines  one machine over all phases: its factor by window of time, its health, its rack     (section 5)
//	model     what all phases say together; how whatif predicts a task's time        (section 6)
//	causes    the excess of each outlier, split by what the model says                            (sections 7 to 9, 11)
//	jobcost   what a phase, and a job, would have saved without a cause                           (section 10)
//	stats     the order statistics and distributions that these are made of
//	wire      the bytes that copies of the program on a cluster exchange
//
// The files of this package:
//
//  1. run.go reads phases from a store, makes the model of all of them, attributes the outliers of each, and commits the
//     results. phases.go reads which phases there are; part.go chooses the inputs to work on, those that earlier runs have not
//     seen; statistics.go keeps what each application says to the model, and keptstatistics.go merges what is kept; chunks.go
//     and range.go read chunk by chunk; savings.go keeps what job costs are made of; write.go, repeats.go (of the
//     executions.go of stages) and totals.go write, and summary.go counts. Each .sql file is the query of the .go file that
//     embeds it.
//  2. cluster.go does the same on an engine of many machines: copyrows.go says what copies of the program are given there,
//     copy.go is what they do, and messages.go what they say. trace.go does it on a trace in memory, without SQL.
//  3. attribute.go gives the rows of one phase. split.go splits an excess by terms; rules.go has what is no part of the
//     likelihood; pauses.go finds what waited for a collection elsewhere, and collections.go what tasks of other phases
//     collected meanwhile; driver.go tells a stop of the driver from a link; recompute.go finds what made lost outputs again,
//     and exchanges.go reads what tasks exchanged; discrepancy.go estimates what the model itself gets wrong, confidence.go how
//     sure the verdict is.
//  4. location.go distinguishes tasks, machines, racks and links; sentences.go puts each cause into an Evidence, which
//     evidence.go writes as JSON.
//  5. runmachines.go judges the machines of each run against the history of its stages; history.go splits what attempts took
//     more than usual.
//  6. figures.go draws the papers' figures from the results.
//
// The model is global, because a machine's factor, a stage's elasticity and the store's share of slow attempts come from all
// phases: hence two passes, a model.Learner's and an Attributor's. Both must number machines alike.
//
// # Only what is new
//
// A run works on the inputs that earlier runs have not seen as they are now: with the same rows, outliers by the same version
// of detect, history of their stages, and options. What phases say to the model are sums (model.Statistics), and those of each
// application are rows of machine_statistics and stage_statistics. A run adds up those of all applications in the order of
// their keys, so the model, and machine_health with it, is the same to the last bit whatever the order and partition of the
// ingests; phases that are not new are not read for it.
//
// An attribution follows from the model too, and every new phase moves that a little. With its statistics each application has
// what the model said of its machines and stages when it was attributed. Where that has moved by more than a tolerance
// (statistics.go) for over a twentieth of its tasks, its input is attributed again; elsewhere its attributions stay. Most of
// what is known of a machine is of a window of time, in which later nights have no part. TestMovedModel compares what is kept
// with a run over all logs at once, for random orders and partitions: 99 of 100 outliers have the same causes to 5 % of their
// excess, 9 of 10 to 1 %, and 998 of 1 000 the same verdict. What is counted in a sentence, such as the phases on which a
// machine's factor rests, stays as it was when the sentence was written. Options.Again works on everything, and gives the same
// rows to the last bit as a store to which the same logs came at once.
//
// Run health, history_attributions, job_costs and application_causes, the sums of attributions, follow from one input and what
// its history was, and are kept with it. skew_repeats are counted anew from skewed_tasks and the phases.
//
// # Which cause gets what
//
// The excess of an outlier is its duration less its phase's median; of an attempt that made a lost output again it is
// the whole duration, and all of it is recompute. The rest sums up thus:
//
//	data_skew     the regression on bytes and records; the wait for blocks that a larger input usually has
//	network       fetch wait beyond that; scheduler delay, and code of first tasks, on a machine whose link is full; remote bytes where no wait is logged
//	bad_machine   the factor of its machine, over the median task's machine
//	gc, scheduler, deserialize   what the log measured, over the phase's median; gc also what waited for another's collection
//	spill, locality              the regression on spilled bytes, and on reading from afar
//	transient     what is left, beyond the scatter of the phase; waits, delays and conversions that one late message explains
//	startup       being among the first of the phase on its machine, and the conversion of these; what the start of an executor adds
//	              to its first tasks
//	unexplained   what is left where too little is known to call it transient; work and start where they cannot be distinguished
//
// The ordinary scatter of a task is shared out among the named causes in proportion: it multiplies whatever made the task slow.
// Parts of under half a percent of an excess, and of under five percent that may as well be nothing, are counted with
// the verdict. The verdict is the largest.
//
// The table transfers is not read: no log that ingest knows says from which machine a task read how much, so nothing fills
// it. What logs do say, remote bytes and the wait for them, stands in attempts; which link is slow follows from what the
// machines of a phase have in common (location.go).
//
// Start with attribute.go.
package causes
