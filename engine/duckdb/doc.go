// Package duckdb runs SQL over the tables of a store with DuckDB in this process.
//
//  1. duckdb.go opens a database in memory, keeps its views up to date with the store, and runs statements.
//  2. result.go runs one statement and streams its rows; values that have no portable type are cast to text. stream.go streams
//     rows on one thread. held.go writes those results to a table first for which DuckDB would wait forever.
//  3. guard.go restricts the SQL of a locked engine.
//  4. views.go defines the tables: queries over the files of a snapshot, which stored.go names to those that read them.
//  5. vectors.go converts DuckDB's vectors to those of package engine.
//  6. load.go creates session tables from rows.
//  7. link.go has the flags for linking the library.
//
// Start with duckdb.go.
package duckdb
