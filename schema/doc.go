// Package schema takes nothing and gives the canonical tables: what a row is, in Go and in SQL.
//
//  1. rows.go declares the rows of the log tables and results.go those of the result tables; a struct is a row and the tags of
//     its fields say the rest. enums.go, and plan_enums.go for plans, list the values of columns that have few, glossary.go
//     says what they and the project's other terms mean.
//  2. trace.go declares the log tables and holds their rows in memory; batch.go is rows of one table, for code that treats
//     all tables alike.
//  3. table.go lists all tables, and reads the tags once: names, types, units, nullability, enums, docs.
//  4. keys.go allocates the integer keys, hashkey.go derives those of rows that are known by a name.
//  5. describe.go prints the tables for a reader.
//  6. null.go is a value that may be unknown, and instants; window.go extends the window of a phase.
//  7. node.go finds the physical machine of a container or slot by its name; lasting.go takes from a program's name what
//     differs in each run, such as a date; durations.go says which durations count, and how long an outlier takes.
//
// Instants are UTC microseconds, durations _s are seconds, sizes _bytes are bytes. NULL means the log does not say;
// it is never 0. Package laws says what holds of all rows; package synth makes whole traces, with the truth about them.
//
// To add a log table: its row in rows.go and its field in trace.go.
//
// Start with rows.go.
package schema
