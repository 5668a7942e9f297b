// Package store takes rows of the canonical tables and gives Parquet files of them: a dataset on disk or in a bucket of an
// object store that only ever changes by whole commits. It is
//
//	tables/<table>/<ingest id>-<n>.parquet   zstd, delta-coded integers, rows of a phase together
//	commits/<sequence>.json                  what is in the store: files, checksums, inputs, retirements
//	staging/<writer>/                        work in progress, invisible
//	lock                                     held while a writer begins or commits; not in a bucket
//
// and its way is this:
//
//  1. store.go opens a place: place.go is what the store needs of one, dir.go a directory, bucket.go a bucket and
//     bucket_put.go how files get there. catalog.go reads its commits and works out what of them is visible.
//  2. tx.go is one transaction: Begin, Append, Commit. Under it writer.go buffers and writes the rows of a table,
//     columns.go turns rows into columns, parquet.go columns into a file, pages.go a column into pages in the encodings of
//     packing.go; staging.go is where they work.
//  3. commit.go is what makes a transaction visible, by one exclusive link or conditional put of one small file; killed
//     before, nothing is there, killed after, everything is. clean.go removes what the dead left.
//  4. snapshot.go is what engines read: the visible files of each table, which stay as long as they are read. cache.go
//     keeps copies of a bucket's files on this machine for that; held.go keeps them while they are read.
//  5. list.go, verify.go and compact.go look after a store; scan.go reads rows for a compaction.
//
// Readers take no lock that a writer waits for and never list a directory of data: the commits name every file.
//
// Start with commit.go.
package store
