// Package engine takes SQL over the tables of a store and gives rows: what all engines have in common. It links no
// database; engine/duckdb and engine/spark are the engines, and engine/engines opens the one that an address names.
//
//  1. engine.go is the interface, its options, and its errors.
//  2. parts.go splits a query into its WITH parts, so that no engine computes one twice.
//  3. read.go scans the rows of a query into structs.
//  4. load.go is the reverse: structs become a session table, of an engine that takes them.
//  5. rows.go streams the rows of a result, batch by batch; an engine gives it a Source.
//  6. remote.go is for an engine of many machines: copies of this program that run beside the data.
//  7. memory.go says how much memory this process may use.
//
// Start with engine.go.
package engine
