// Package detect takes the log tables of a store and produces four result tables: how the tasks of each phase compare, how each
// phase compares with the earlier executions of its stage, which attempts a rule calls slow, and the tasks that later
// executions are compared with.
//
//  1. phase_stats.sql selects the attempt that won each task and compares the winners: median, rates, slowdown ratio, how many
//     are slow, what that cost the phase, how much of it the input explains. If it cannot, it says why.
//  2. outliers.sql compares every attempt with the figures of its phase, one rule at a time.
//  3. The history of stages. history.go runs these queries: runs.sql and executions.sql assign each phase to a stage, by the
//     part of its query's plan that it ran (operators.sql), or else by its name; usage.sql aggregates what its tasks used;
//     stages.sql adds the executions known from earlier runs; earlier.sql selects those that each is compared with, by the
//     strides of strides.go; usual.sql computes what is usual, as usual.go does on an engine in this process; stage_history.sql
//     compares. Without earlier results, runs.go implements all but runs.sql on an engine in this process;
//     executionset.go is what both have in common.
//  4. slower.go runs the rule that compares attempts with their own history: candidates.sql and slower_than_usual.sql. On an
//     engine in this process slowertasks.go implements them, from times that phasefile.go keeps in a file, as packedtimes.go
//     packs them, and judge.go compares the tasks of a stage. earliertimes.go writes the times for later nights into a
//     separate table, which task_times.sql defines.
//  5. detect.go runs all of them and commits their rows. write.go writes these; on a cluster its machines do. pin.go loads
//     small tables into Spark's session, so that Spark does not compute them for every statement.
//  6. On an engine in this process the attempts are read once, from the files of the store, whose row groups attemptfiles.go
//     opens and attemptreader.go reads: scan.go gathers those of each phase, which attempts.go keeps column by column;
//     phases.go computes the results of phase_stats.sql and usage.sql from them, with quantiles.go, and
//     slowattempts.go those of outliers.sql; phaselist.go holds the phases, and figures.go writes them. Before that
//     phasecounts.go counts the attempts of each phase, and checks them as inputs.sql does.
//  7. On a cluster copies of this program do the same: those of figurescopies.go compute the figures of phases from
//     copies_figures.sql, and those of slowercopies.go compare tasks, from copies_attempts.sql, in the executions named by
//     copies_compared.sql.
//  8. part.go selects the inputs to work on: those that earlier runs have not processed. The results of the others are kept,
//     unless inputs.sql finds that they cannot be; summary.sql counts all of them.
//
// All are in the SQL that DuckDB and Spark SQL share, with their parameters as literal numbers, and can be pasted into any
// session that has the tables.
//
// Start with phase_stats.sql.
package detect
