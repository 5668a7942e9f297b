// Package sqltext takes the text of SQL and gives its tokens, as the engine that is to read it sees them, and its
// statements. It knows no grammar beyond that: keywords, functions and queries are up to its callers.
//
//  1. statement.go cuts a text into statements, and a statement before its semicolon.
//  2. quote.go writes names and texts in quotes.
//  3. lexer.go is what both dialects have in common: tokens, and which rule of a dialect a token falls under.
//  4. duckdb.go is what DuckDB reads in its own way, spark.go what Spark SQL does.
//  5. scan.go finds the ends of what is in quotes.
//
// Start with lexer.go.
package sqltext
