// Package read is the kit that formats are written with: it takes the files of an input and gives whole lines and records
// of them, within the limits, and values fit for the columns of the tables.
//
//  1. pipeline.go reads files in blocks of whole records and decodes several at once, in order; peek.go shows the first
//     bytes of a file before that.
//  2. lines.go reads them line by line, and rejects lines; blocks.go cuts both from a stream.
//  3. json.go reads numbers that JSON does not know, and words its errors; package pull gives the members of an object.
//  4. text.go cleans, bounds and interns values.
//
// Package extsort sorts more records than memory holds.
//
// Start with pipeline.go.
package read
