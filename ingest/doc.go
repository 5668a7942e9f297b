// Package ingest defines what a format of logs is. A format reads an input, which is one log, and emits rows of the canonical
// tables to a sink.
//
//  1. format.go: a format recognises its logs by their names (Dir, Group) and first bytes (Head, Match), and reads an Input.
//  2. sink.go takes the rows, counts them, and keeps the records that could not be used as rejects, with a printable
//     sample of each (sample.go).
//  3. limits.go bounds what reading an untrusted log may cost; errors.go has the errors that callers distinguish.
//
// A format is a value of type Format in a package below this one, and one line in package formats; README.md shows how to
// add one. Related packages:
//
//   - read: building blocks of formats: lines, blocks, JSON, times, texts, pipelines.
//   - codec: compression formats.
//   - discover: finds the inputs that paths and URLs name, and their formats. Package remote reads URLs.
//   - run: reads inputs into one commit of a store.
//   - ingesttest: conformance tests for formats.
//
// Start with format.go.
package ingest
