// Package schema takes nothing and gives the canonical tables: what a row is, in Go, in Arrow and Parquet, and in SQL.
//
//  1. rows.go declares the log tables and results.go the result tables; a struct is a row and its tags say the rest.
//  2. table.go reads the tags once: names, types, units, nullability, enums, docs.
//  3. arrow.go gives each table's Arrow schema, from which store writes Parquet.
//  4. trace.go holds a whole trace in memory; validate.go holds it against the laws that any trace must obey.
//  5. keys.go deals the integer keys; describe.go gives the tables as rows and as text.
//
// Instants are UTC microseconds, durations _s are seconds, sizes _bytes are bytes. NULL means the log does not say;
// it is never 0. Package synth makes whole traces of these rows, with the truth about them.
//
// Start with rows.go.
package schema
