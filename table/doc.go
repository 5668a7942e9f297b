// Package table takes the rows of a query and writes them as text, CSV, JSON, Markdown or Parquet.
//
//  1. table.go defines rows and lists the encodings: name, doc, file extension, writer.
//  2. text.go writes aligned columns for people; csv.go, json.go, markdown.go and parquet.go write the other encodings.
//  3. values.go writes one value, clean.go makes texts of logs safe to show.
//
// Rows stream: no encoding holds more than a screenful, or a row group, of them.
//
// Start with table.go.
package table
