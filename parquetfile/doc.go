// Package parquetfile decodes bytes of Parquet files into footers and the values of columns, and encodes pages and metadata
// into such bytes. Packages store/parquet and ingest/read/parquet convert the values to rows.
//
//  1. metadata.go is the metadata of a file, its row groups and its pages, in Thrift's compact protocol.
//  2. compact.go traverses such bytes before they are decoded, to check their claims against the bytes present.
//  3. field.go is the schema as a tree, with the levels and the logical type of each field.
//  4. column.go reads a column of a row group page by page, and fill.go without its levels; codec.go decompresses and
//     compresses its pages.
//  5. values.go decodes a page's values, with delta.go and hybrid.go for encodings of differences, runs and packed bits.
//  6. write.go writes the pages of a column, and the footer.
//
// The Go libraries for Parquet decode whole pages, however many values their headers claim, or depend on an engine for columns
// in memory, which takes a third of a first build's time. Here the cost of a page is bounded by its bytes: claimed sizes are
// checked against the bytes present, and values are decoded in batches.
//
// The names and numbers are those of parquet-format 2.11 (parquet.thrift, Encodings.md).
//
// Start with column.go.
package parquetfile
