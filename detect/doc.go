// Package detect takes the log tables of a store and gives four result tables: how the tasks of each phase compare, how each
// phase compares with the earlier executions of its stage, which attempts a rule calls slow, and the tasks that later
// executions are compared with.
//
//  1. phase_stats.sql picks the attempt that won each task and compares the winners: median, rates, slowdown ratio, how many
//     are slow, what that cost the phase, how much of it the input explains. Where it cannot, it says why.
//  2. outliers.sql compares every attempt with the figures of its phase, one rule at a time.
//  3. The history of stages. history.go runs these queries: executions.sql gives each phase its stage, by what it ran of its
//     query's plan (operators.sql), else by its name; usage.sql sums up what its tasks used; stages.sql adds the executions
//     that earlier runs know; earlier.sql chooses those that each is compared with, by the strides of strides.go; usual.sql
//     computes what is usual, as usual.go does on an engine in this process; stage_history.sql compares.
//  4. slower.go runs the rule that compares attempts with their own history: candidates.sql and slower_than_usual.sql. On an
//     engine in this process slowertasks.go does what they say, from times that phasefile.go keeps in a file, as packedtimes.go
//     packs them, and judge.go compares the tasks of a stage. Those of earlier nights earliertimes.go has written into a table
//     of their own, which task_times.sql defines.
//  5. detect.go runs all of them and commits their rows, which write.go writes: on a cluster its machines do. pin.go loads
//     small tables into Spark's session, so that Spark does not compute them for every statement.
//  6. On an engine in this process the attempts are read once: scan.go gathers those of each phase, which attempts.go keeps
//     column by column, phases.go works out what phase_stats.sql and usage.sql say of them, with quantiles.go, slowattempts.go
//     what outliers.sql says, phaselist.go holds that, and figures.go writes it. Before that phasecounts.go counts the attempts
//     of each phase, and finds what inputs.sql says of them.
//  7. On a cluster copies of this program do the same: those of figurescopies.go work out the figures of phases from
//     copies_figures.sql, and those of slowercopies.go compare tasks, from copies_attempts.sql, in the executions that
//     copies_compared.sql names.
//  8. part.go chooses the inputs to work on: those that earlier runs have not seen. The results of the others are kept, except
//     where inputs.sql finds that they cannot be; summary.sql counts all of them.
//
// All are in SQL that DuckDB and Spark SQL understand alike, with their parameters as literal numbers, and can be pasted into
// any session that has the tables.
//
// Start with phase_stats.sql.
package detect
