// Package parquetfile takes bytes of Parquet files and gives footers and the values of columns; and takes pages and metadata
// and gives those bytes. Packages store/parquet and ingest/read/parquet turn the values into rows.
//
//  1. metadata.go is what a file, its row groups and its pages say of themselves, in Thrift's compact protocol.
//  2. compact.go walks through such bytes before they are decoded, so that what they claim is what is there.
//  3. field.go is the schema as a tree, with the levels and the logical type of each field.
//  4. column.go reads a column of a row group page by page; codec.go decompresses and compresses its pages.
//  5. values.go decodes a page's values, with delta.go and hybrid.go for encodings of differences, runs and packed bits.
//  6. write.go writes the pages of a column, and the footer.
//
// A library of Go for Parquet decodes whole pages, however many values their headers claim, or brings an engine for columns in
// memory with it, which takes a third of a first build's time. Here a page costs what its bytes can hold: sizes that are
// claimed are checked against the bytes that are there, and values are decoded a batch at a time.
//
// The names and numbers are those of parquet-format 2.11 (parquet.thrift, Encodings.md).
//
// Start with column.go.
package parquetfile
