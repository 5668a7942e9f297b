// Package plans explains the slow phases of a store, on which detect and causes have run, in terms of their queries: which
// operator, by which keys, on which side of a join, of which table. It writes the table query_findings.
//
//  1. run.go reads what skewed.sql, operators.sql, placed.sql, counted.sql, queries.sql and settings.sql select, query by
//     query, and commits the rows.
//  2. find.go makes the findings of one query: for each phase with tasks slowed by their data, the exchange that brought most
//     of the excess rows, or the scan of a bucketed table, and the operator that needs it; and what adaptive execution has
//     already split.
//  3. coalesced.go distinguishes skewed partitions from those that adaptive execution coalesced.
//  4. tree.go finds paths in a plan: up to the operator that needs an exchange, down to the scans that feed it, and what of it
//     adaptive execution can split.
//  5. joins.go finds joins that returned many times their input, shuffled a small side or broadcast a large one.
//  6. replay.go, with durations.sql, estimates how much earlier a phase would have ended with its skewed partitions split.
//  7. remedy.go proposes settings or hints that would spread the rows, and explains why the usual advice would not.
//  8. settings.go reads the session's settings and the version of Spark, which the others use.
//
// Start with run.go.
package plans
