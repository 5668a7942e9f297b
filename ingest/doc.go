// Package ingest takes files, directories, archives and streams of cluster logs and gives rows of the canonical tables
// to a store, in one commit.
//
//  1. inputs.go walks the arguments and groups what it finds into inputs; archive.go walks archives as if they were
//     directories.
//  2. codec.go opens a file, finds its compression by its first bytes and bounds what comes out; one file per codec.
//  3. sniff.go asks every format about an input's name and first bytes; the surest answer wins.
//  4. run.go reads the inputs in parallel, each with Format.Read; blocks.go and lines.go cut text into whole lines.
//  5. sink.go takes the rows, counts them, and keeps the records that could not be used as rejects; order.go lets them
//     through to the store in the order of the inputs, so that the same bytes give the same tables.
//
// A format is a value of type Format in a sub-package, and one line in package ingest/formats; README.md shows how to
// add one. Package ingesttest reads an input through a format into memory for tests.
//
// Start with format.go.
package ingest
