// Package detect takes the log tables of a store and gives two result tables: how the tasks of each phase compare, and
// which attempts a rule calls slow.
//
//  1. phase_stats.sql picks the attempt that won each task and compares the winners: median, rates, slowdown ratio, how
//     many are slow, what that cost the phase, how much of it the input explains. Where it cannot, it says why.
//  2. outliers.sql compares every attempt with the figures of its phase, one rule at a time.
//  3. detect.go runs both and writes their rows as one commit.
//
// Both are in SQL that DuckDB and Spark SQL understand alike, with their parameters as literal numbers, and can be pasted
// into any session that has the tables.
//
// Start with phase_stats.sql.
package detect
