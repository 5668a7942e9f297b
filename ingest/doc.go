// Package ingest takes files, directories, archives and streams of cluster logs and gives rows of the canonical tables
// to a store, in one commit.
//
//  1. inputs.go walks the arguments and groups what it finds into candidates, by names alone; archive.go walks archives
//     as if they were directories, and remote.go what URLs name, which package ingest/remote reads.
//  2. find.go looks into them: file.go opens a file through package codec, which finds its compression and bounds what
//     comes out, and sniff.go asks every format about the first bytes. The surest answer wins.
//  3. plan.go decides what to read: of logs that are there twice one, and of the rest this shard's. known.go says what
//     the store has already.
//  4. run.go reads the inputs in parallel, each with Format.Read, in one commit.
//  5. sink.go takes the rows, counts them, and keeps the records that could not be used as rejects; order.go lets them
//     through to the store in the order of the inputs, so that the same bytes give the same tables.
//  6. summary.go says what became of each input; follow.go runs again and again on logs that grow.
//
// A format is a value of type Format in a sub-package, and one line in package ingest/formats; README.md shows how to
// add one. Package ingesttest reads an input through a format into memory for tests.
//
// Start with format.go.
package ingest
