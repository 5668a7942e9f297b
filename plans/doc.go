// Package plans takes a store on which detect and causes have run and gives what its slow phases mean in terms of their
// queries: which operator, by which keys, on which side of a join, of which table. It writes the table query_findings.
//
//  1. run.go reads what skewed.sql, operators.sql, placed.sql, counted.sql, queries.sql and settings.sql select, query by
//     query, and commits the rows.
//  2. find.go makes the findings of one query: of each phase with tasks that their data made slow, the exchange that brought
//     most of the excess rows, or the scan of a bucketed table, and the operator that needs it; and what adaptive execution
//     split already.
//  3. coalesced.go tells a partition that is skewed from partitions that adaptive execution put together.
//  4. tree.go finds paths in a plan: up to the operator that needs an exchange, down to the scans that feed it, and what of it
//     adaptive execution can split.
//  5. joins.go finds joins that gave many times their input, shuffled a small side or broadcast a large one.
//  6. replay.go, with what durations.sql selects, says how much earlier a phase would have ended with its skewed partitions
//     split.
//  7. remedy.go says what would spread the rows, in lines that can be applied, and why the usual advice would not.
//  8. settings.go reads the session's settings and the version of Spark, by which the others judge.
//
// Start with run.go.
package plans
