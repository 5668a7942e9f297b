// Package canonical takes the tables of straggler itself, as CSV, JSON lines or Parquet by column name, so that any
// log can be brought with a query.
//
//  1. format.go recognises files by their columns and reads them table by table.
//  2. read.go has several blocks of a file decoded at once, and csv.go cuts CSV into records and fields; parquet.go reads
//     Parquet files.
//  3. values.go sets the fields of a row from text, JSON or Parquet values, instant.go reads times.
//  4. complete.go gives the rows keys of this store and adds what the files leave out: a phase that attempts name and
//     no file describes; seen.go finds attempts that are there twice.
//
// Start with format.go.
package canonical
