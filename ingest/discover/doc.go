// Package discover takes what a user names, paths, patterns, URLs and streams, and gives the logs in it: inputs whose format
// is known, and what was skipped and why.
//
//  1. find.go goes round by round, until no archive is left: it walks, looks at the first bytes of what the walk found, and
//     expands archives.
//  2. walk.go groups files into candidates (candidate.go), by names alone. It walks folders: local.go has those on disk,
//     archive.go those in archives, remote.go those that URLs name, which package ingest/remote reads.
//  3. sniff.go asks every format about the first bytes. The most confident answer wins.
//  4. reading.go gives a recognised input to a format, and knows afterwards what was read of it and its fingerprint
//     (fingerprint.go).
//  5. file.go opens one file through package codec, which finds its compression and bounds what comes out; ahead.go
//     decompresses on another core; spool.go keeps copies of what must be read in any order and can not; stream.go reads
//     what can be read only once.
//
// Start with find.go.
package discover
