// Package ingest says what a format of logs is. A format takes an input, which is one log, and gives rows of the canonical
// tables to a sink.
//
//  1. format.go: a format recognises its logs by names (Dir, Group) and by first bytes (Head, Match), and reads an Input.
//  2. sink.go takes the rows, counts them, and keeps the records that could not be used as rejects, with a printable
//     sample of each (sample.go).
//  3. limits.go and errors.go: what an untrusted log may cost, and what can be wrong with one.
//
// A format is a value of type Format in a package below this one, and one line in package formats; README.md shows how to
// add one. The other rooms around it:
//
//   - read: the kit that formats are written with.
//   - codec: the compressions of files.
//   - discover: from paths and URLs to inputs whose format is known. Package remote reads what URLs name.
//   - run: from inputs to one commit of a store.
//   - ingesttest: what every format must obey, for tests.
//
// Start with format.go.
package ingest
