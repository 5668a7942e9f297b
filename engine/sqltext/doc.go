// Package sqltext splits SQL into tokens, like the lexer of the engine that will read it, and into statements. It knows no
// grammar beyond that: keywords, functions and queries are up to its callers.
//
//  1. statement.go splits a text into statements, and removes semicolons.
//  2. quote.go writes names and texts in quotes.
//  3. lexer.go is common to both dialects: tokens, and the rule of a dialect for each.
//  4. duckdb.go and spark.go have the rules specific to DuckDB and Spark SQL.
//  5. scan.go finds the ends of quoted texts.
//
// Start with lexer.go.
package sqltext
