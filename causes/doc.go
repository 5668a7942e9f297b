// Package causes takes phases and the outliers among their attempts, and gives the causes of every second of excess.
//
//  1. parts.go splits a duration into what the log measures (fetch wait, gc, scheduler delay, conversion) and the rest,
//     the body; they sum to it.
//  2. bench.go lays a phase out in columns, predictors.go says what its tasks' bodies may depend on (bytes, records,
//     spilled bytes, distance from the data, being among the first), and work.go fits that, robustly and with priors.
//     robust.go and equations.go are its arithmetic.
//  3. model.go hears what all phases say together: how fast each machine is, by window of time, and how time depends on
//     work in stages that are executed again and again.
//  4. machine.go estimates a machine's factor for one task from everything but that task, shrunk towards what is usual;
//     hearsay.go weighs what its neighbours in the phase say against that; own.go knows how attempts are slow by themselves.
//  5. prepare.go fits a phase again with all that is known, and attribute.go splits the excess of its outliers: body =
//     prediction × machine × scatter × its own, by logarithmic means, so that the seconds sum; the measured parts are
//     added. recompute.go is for lost outputs. confidence.go says how sure the verdict is.
//  6. words.go puts each cause into an Evidence, which evidence.go writes as JSON.
//  7. place.go tells machines from racks and links; jobcost.go replays phases and jobs without a cause; health.go judges
//     machines against their generations.go; repeats.go counts skew that comes back; figures.go draws the papers' figures.
//  8. run.go and stream.go feed all of it from a store, in bounded memory, and commit the results; range.go says what they read.
//
// Attribute, on a Trace, does steps 1 to 6 in memory and knows no SQL; Run does them on a store.
//
// Whoever has rows from elsewhere calls the same core phase by phase: Learner.Hear takes each Phase once, in any order, and
// Attributor.Attribute gives the rows of one, needing nothing but the Model. The Model is global, because a machine's
// factor, a stage's elasticity and the store's share of slow attempts come from all phases: hence the two passes.
// Machines must bear the same dense numbers in both.
//
// # Which cause gets what
//
// The excess of an outlier is its duration less its phase's median; of an attempt that made a lost output again it is
// the whole duration, and all of it is recompute. The rest sums up thus:
//
//	data_skew     the regression on bytes and records; the wait for blocks that a larger input usually has
//	network       fetch wait beyond that; scheduler delay on a machine whose link is full; remote bytes where no wait is logged
//	bad_machine   the factor of its machine, over the median task's machine
//	gc, scheduler, deserialize   what the log measured, over the phase's median
//	spill, locality              the regression on spilled bytes, and on reading from afar
//	transient     what is left, beyond the scatter of the phase
//	unexplained   being among the first of the phase; what is left where too little is known to call it transient
//
// The ordinary scatter of a task goes with the named causes in proportion: it multiplies whatever made the task slow.
// Parts of under half a percent of an excess, and of under five percent that may as well be nothing, are counted with
// the verdict. The verdict is the largest.
//
// The table transfers is not read: no log that ingest knows says from which machine a task read how much, so nothing fills
// it. What logs do say, remote bytes and the wait for them, stands in attempts; which link is slow is told by what the
// machines of a phase have in common (place.go).
//
// Start with attribute.go.
package causes
