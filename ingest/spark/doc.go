// Package spark reads the event logs of Apache Spark, of every version, and emits rows of the canonical tables.
//
//  1. format.go recognises a log by its first event; claim.go groups the files of a directory that are one log.
//  2. read.go cuts the log into blocks of whole events, decodes several of them in parallel, and folds them in order.
//  3. decode.go decodes a block event by event: line by line as Spark writes them, and as objects.go finds them in other
//     layouts. scan.go reads task events, nine tenths of a log, and scan_stage.go stage descriptions, expecting the keys in the
//     order in which Spark writes them; decode_task.go reads task events that differ, decode_other.go events of other kinds,
//     both with package pull, which accepts any JSON.
//  4. fold.go and app.go are the state machine: applications, jobs, stages and their attempts. attempts.go writes the row of an
//     attempt when it ends, numbers.go numbers it among those of its task, metrics.go has its measurements; losses.go tracks
//     lost and recomputed outputs; machines.go tracks executors, settings.go selects the settings to keep.
//  5. plan.go decodes the plans of queries, accumulables.go the values of their operators' metrics; queries.go is the state of
//     a query. When it has ended, package sqlplan determines what each operator does, placement.go in which stages it ran, and
//     queryrows.go writes the rows.
//  6. finish.go writes jobs, phases, edges and the application at the end, caveats.go their caveats.
//
// Memory grows with the stages of a log, and with its attempts only by two bits and sixteen bytes each (state.go).
//
// Start with events.go.
package spark
