// Package engine is the interface of SQL engines over the tables of a store: SQL in, rows out. It links no database;
// engine/duckdb and engine/spark are the engines, and engine/engines opens the one that an address names.
//
//  1. engine.go has the interface, its options, and its errors.
//  2. parts.go splits a query into its WITH parts, so that no engine computes a part twice.
//  3. read.go scans the rows of a query into structs.
//  4. load.go does the reverse: it loads structs into a session table of an engine that supports it.
//  5. rows.go streams the rows of a result, batch by batch, from a Source that an engine implements.
//  6. remote.go is for an engine of many machines, which can run copies of the program beside the data.
//  7. memory.go determines how much memory this process may use.
//
// Start with engine.go.
package engine
