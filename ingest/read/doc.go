// Package read is the toolkit for writing formats: it takes the files of an input and returns their whole lines, records and
// objects, within the limits, and values that fit the columns of the tables.
//
//  1. application.go builds the rows of an input that is one application; dag.go keeps its dependencies acyclic.
//  2. pipeline.go reads files in blocks of whole records and decodes several at once, in order; peek.go shows the first
//     bytes of a file before that; processlog.go recognises the text logs of processes.
//  3. lines.go reads files line by line, and rejects lines; blocks.go cuts a stream into lines and blocks.
//  4. objects.go reads files of JSON objects; json.go accepts NaN and Infinity, and reports where JSON is wrong.
//  5. fields.go splits lines into fields; times.go reads times; text.go cleans, bounds and interns values.
//
// Package pull returns the members of an object in memory one by one, parquet reads Parquet in batches of rows, and extsort
// sorts more records than fit into memory.
//
// Start with pipeline.go.
package read
