// Package canonical reads the tables of straggler itself, as CSV, JSON lines or Parquet by column name, so that any log can be
// imported with a query.
//
//  1. format.go recognises files by their columns and reads them table by table.
//  2. read.go decodes several blocks of a file at once, and csv.go splits CSV into records and fields; parquet.go reads
//     Parquet files.
//  3. values.go sets the fields of a row from text, JSON or Parquet values; instant.go reads times.
//  4. complete.go assigns keys of this store to the rows and adds what the files leave out: a phase that attempts name and
//     no file describes; seen.go finds duplicate attempts; numbers.go numbers those of a task.
//
// Start with format.go.
package canonical
