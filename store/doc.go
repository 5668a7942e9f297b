// Package store takes rows of the canonical tables and keeps them as Parquet files: a dataset in a directory or in a bucket of
// an object store that changes only by atomic commits. Its layout:
//
//	tables/<table>/<ingest id>-<n>.parquet   delta-coded integers, zstd where it helps, rows of a phase together
//	commits/<sequence>.json                  what is in the store: files, checksums, inputs, retirements
//	staging/<writer>/                        work in progress, invisible; in a bucket objects staging/<writer>…
//	lock                                     held while a writer begins or commits; not in a bucket
//
// The files of the package:
//
//  1. commit.go is the content of a commit: the file that makes everything else visible.
//  2. store.go opens a store and answers what is in it. catalog.go reads the commits and determines what is visible.
//  3. tx.go is one transaction: Begin, Append, Commit. writer.go writes the rows of a table to files in staging, with
//     store/parquet. stage.go creates a file for programs on other machines to read, and pieces.go accepts the files that they
//     write: pieces_write.go is their side, and pieces_bucket.go both sides of a store in a bucket.
//  4. publish in tx.go makes the files of a transaction visible by one exclusive link or conditional put of one small file: a
//     process killed before that has added nothing, one killed after it everything.
//  5. snapshot.go is what engines read: the visible files of each table, which are not removed while they are read.
//     results.go keeps the results of unchanged inputs together with those of new ones.
//  6. list.go, verify.go and compact.go maintain a store. scan.go reads the rows of a compaction; clean.go removes what
//     dead writers left. scratch.go is a temporary store on top of a read-only one, for results.
//  7. backend.go is the interface to the storage of a store. dir.go is a directory; bucket.go is a bucket, with
//     bucket_put.go for writing and bucket_read.go for reading through the local copies that cache.go keeps. Writers work in
//     the directories of staging.go, on the file system of fs.go.
//
// Readers never block writers, and never list a directory of data: the commits name every file.
//
// Start with commit.go.
package store
