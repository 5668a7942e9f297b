// Package spark takes the event logs of Apache Spark, of every version, and gives rows of the canonical tables.
//
//  1. format.go recognises a log by its first event; claim.go groups the files of a directory that are one log.
//  2. read.go cuts the log into blocks of whole events, has several of them decoded at once, and folds them in order.
//  3. decode.go decodes a block event by event: line by line as Spark writes them, and as objects.go finds them in other
//     layouts. scan.go reads the task events, which are nine tenths of a log, and scan_stage.go what is said of stages, by
//     expecting the keys as Spark writes them; decode_task.go reads the task events that differ, decode_other.go the events of
//     other kinds, both with package pull, which takes any JSON.
//  4. fold.go and app.go are the state machine: applications, jobs, stages and their attempts. attempts.go writes the row of an
//     attempt when it ends, numbers.go numbers it among those of its task, metrics.go has its measurements; losses.go follows
//     outputs that are lost and made again; machines.go follows the executors, settings.go says which settings are kept.
//  5. plan.go decodes the plans of queries, accumulables.go the values of their operators' metrics; queries.go is what the fold
//     keeps of a query. When it has ended, package sqlplan says what each operator does, placement.go in which stages it ran,
//     and queryrows.go writes the rows.
//  6. finish.go writes jobs, phases, edges and the application at the end, caveats.go what to know about them.
//
// What is kept in memory grows with the stages of a log and not with its attempts, of which two bits and sixteen bytes
// stay (state.go).
//
// Start with events.go.
package spark
