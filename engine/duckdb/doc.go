// Package duckdb takes SQL over the tables of a store and gives rows, by DuckDB in this process.
//
//  1. duckdb.go opens a database in memory, keeps its tables as the store shows them, and runs statements.
//  2. result.go runs one statement and streams its rows; values that have no portable type are cast to text. stream.go streams
//     rows on one thread.
//  3. guard.go is what users may ask of a locked engine.
//  4. views.go is what the tables are: queries over the files of a snapshot.
//  5. vectors.go turns DuckDB's vectors into those of package engine.
//  6. load.go makes a session table of rows.
//  7. link.go is how the library is linked.
//
// Start with duckdb.go.
package duckdb
