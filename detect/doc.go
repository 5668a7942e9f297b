// Package detect takes the log tables of a store and gives three result tables: how the tasks of each phase compare, how each
// phase compares with the earlier executions of its stage, and which attempts a rule calls slow.
//
//  1. phase_stats.sql picks the attempt that won each task and compares the winners: median, rates, slowdown ratio, how
//     many are slow, what that cost the phase, how much of it the input explains. Where it cannot, it says why.
//  2. outliers.sql compares every attempt with the figures of its phase, one rule at a time.
//  3. executions.sql says which execution of which stage each phase is, by what it ran of its query's plan (operators.sql), else by its name,
//     and usage.sql what its tasks did. stages.sql puts these executions among those that earlier runs know, earlier.sql finds with which
//     of them each is compared, usual.sql what is usual for each, and stage_history.sql says so of every phase. candidates.sql and
//     slower_than_usual.sql are the rule that holds attempts against that.
//  4. detect.go runs all of them, those of the history by history.go and slower.go, and writes their rows as one commit, by write.go: on
//     a cluster its machines write them. pin.go keeps Spark from planning the history again and again.
//  5. part.go decides on which inputs: those that earlier runs have not seen, whose results are kept (inputs.sql tells where that
//     cannot be, summary.sql counts all of them).
//
// All are in SQL that DuckDB and Spark SQL understand alike, with their parameters as literal numbers, and can be pasted
// into any session that has the tables.
//
// Start with phase_stats.sql.
package detect
