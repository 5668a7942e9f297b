// Package read is the kit that formats are written with: it takes the files of an input and gives whole lines, records and
// objects of them, within the limits, and values fit for the columns of the tables.
//
//  1. application.go builds the rows of an input that is one application; dag.go keeps its dependencies free of cycles.
//  2. pipeline.go reads files in blocks of whole records and decodes several at once, in order; peek.go shows the first
//     bytes of a file before that.
//  3. lines.go reads files line by line, and rejects lines; blocks.go cuts lines and blocks from a stream.
//  4. objects.go reads files of JSON objects; json.go reads NaN and Infinity, and says where JSON is wrong.
//  5. fields.go cuts lines into fields; times.go reads times; text.go cleans, bounds and interns values.
//
// Package pull gives the members of an object that is in memory one by one, parquet reads Parquet by batches of rows, and
// extsort sorts more records than memory holds.
//
// Start with pipeline.go.
package read
