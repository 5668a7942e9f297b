// Package schema defines the canonical tables: their rows, in Go and in SQL.
//
//  1. rows.go declares the rows of the log tables and results.go those of the result tables. A row is a struct; the tags of its
//     fields give the rest. enums.go and plan_enums.go list the values of enum columns; glossary.go explains these and the
//     project's other terms.
//  2. trace.go declares the log tables and holds their rows in memory; batch.go holds rows of one table, for code that treats
//     all tables alike.
//  3. table.go lists all tables and reads the tags once: names, types, units, nullability, enums, docs.
//  4. keys.go allocates integer keys; hashkey.go derives the keys of rows that are identified by a name.
//  5. describe.go prints the tables as text.
//  6. null.go defines values that may be unknown, and instants; window.go extends the time window of a phase.
//  7. node.go derives the physical machine of a container or slot from its name; lasting.go removes from a program's name what
//     differs in each run, such as a date, and sessions.go lists names that are no program's; durations.go says which durations
//     are valid, which measured parts can belong to an attempt, and how long an outlier takes.
//
// Instants are UTC microseconds; columns ending in _s are seconds, in _bytes bytes. NULL means that the log does not say;
// unknown is never 0. Package laws checks what holds of all rows; package synth makes whole traces with known ground truth.
//
// To add a log table: its row in rows.go and its field in trace.go.
//
// Start with rows.go.
package schema
