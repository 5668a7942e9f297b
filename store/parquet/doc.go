// Package parquet takes rows of the canonical tables and gives Parquet files of zstd pages.
//
//  1. writer.go is a file: its schema, its row groups, its footer.
//  2. buffer.go collects rows in columns until they make a row group; dictionary.go is the strings of a column.
//     cluster.go is the order in which a table's rows are written.
//  3. chunk.go writes a column of a row group as pages, in the encodings of encoding.go; statistics.go is what readers
//     are told of its values, so that they can leave out row groups.
//
// The file format's metadata and page headers are written by arrow-go. Its column writer is not used: it takes a level
// for each NULL and a call for each value, and of the forty-odd columns of a log table most are NULL.
//
// Start with writer.go.
package parquet
