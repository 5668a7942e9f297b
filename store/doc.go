// Package store takes rows of the canonical tables and gives Parquet files of them: a dataset on disk or in a bucket of an
// object store that only ever changes by whole commits. It is
//
//	tables/<table>/<ingest id>-<n>.parquet   zstd, delta-coded integers, rows of a phase together
//	commits/<sequence>.json                  what is in the store: files, checksums, inputs, retirements
//	staging/<writer>/                        work in progress, invisible
//	lock                                     held while a writer begins or commits; not in a bucket
//
// and is read and written so:
//
//  1. store.go opens a store and answers what is in it.
//  2. tx.go is one transaction: Begin, Append, Commit. writer.go writes the rows of a table to files in staging, by
//     store/parquet; publish in tx.go makes them visible, by one exclusive link or conditional put of one small file: killed
//     before, nothing is there, killed after, everything is. stage.go makes a file for programs on other machines.
//  3. snapshot.go is what engines read: the visible files of each table, which stay as long as they are read.
//     results.go lets results of inputs that have not changed count with those of new ones.
//  4. list.go, verify.go and compact.go look after a store. scan.go reads the rows of a compaction; clean.go removes what
//     dead writers left.
//  5. catalog.go reads the commits and works out what of them is visible; commit.go is what a commit holds.
//  6. backend.go is what all that needs of where a store lies. bucket.go is a bucket, bucket_put.go how files get there,
//     bucket_read.go how they are read: through the copies on this machine that cache.go keeps. dir.go is a directory.
//     Writers work in directories of staging.go, on the disk of fs.go.
//
// Readers take no lock that a writer waits for and never list a directory of data: the commits name every file.
//
// Start with commit.go.
package store
