// Package discover takes the paths, patterns, URLs and streams that a user names, and returns the logs in them: inputs whose
// format is known, and what was skipped and why.
//
//  1. find.go walks, looks at the first bytes of what the walk found, and expands archives, until no archive is left.
//  2. walk.go groups files into candidates (candidate.go), by names alone. It walks folders, whose common interface is in
//     folder.go: local.go has those on disk, archive.go those in archives, remote.go those named by URLs (url.go), which
//     package ingest/remote reads.
//  3. sniff.go asks every format about the first bytes. The most confident answer wins; skipped.go explains why there is none.
//  4. reading.go passes a recognised input to a format, and counts what was read of it.
//  5. file.go opens one file through package codec, which finds its compression; ahead.go decompresses on another core;
//     spool.go copies files to disk that need random access and do not support it; stream.go reads what can be read only once.
//  6. fingerprint.go hashes what is read; budget.go bounds what it may decompress to.
//
// Start with find.go.
package discover
