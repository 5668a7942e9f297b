// Package discover takes what a user names, paths, patterns, URLs and streams, and gives the logs in it: inputs whose format
// is known, and what was skipped and why.
//
//  1. find.go walks, looks at the first bytes of what the walk found, and expands archives; it repeats that until no archive
//     is left.
//  2. walk.go groups files into candidates (candidate.go), by names alone. It walks folders: local.go has those on disk,
//     archive.go those in archives, remote.go those that URLs name (url.go), which package ingest/remote reads; folder.go
//     is what they have in common.
//  3. sniff.go asks every format about the first bytes. The most confident answer wins; skipped.go says why there is none.
//  4. reading.go gives a recognised input to a format, and counts what was read of it.
//  5. file.go opens one file through package codec, which finds its compression; ahead.go decompresses on another core;
//     spool.go copies to disk what must be read in any order and cannot; stream.go reads what can be read only once.
//  6. fingerprint.go hashes what is read; budget.go bounds what it may decompress to.
//
// Start with find.go.
package discover
