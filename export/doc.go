// Package export takes the tables of a store and writes a directory with one file per table, which straggler itself and other
// tools read.
//
//  1. export.go picks the tables and writes them next to the directory under another name, then renames: the directory
//     is complete or absent.
//
// The files are CSV, JSON lines or Parquet as package table writes them. `straggler ingest DIR --from canonical` reads
// them back: the same rows, under keys of the other store.
//
// Start with export.go.
package export
