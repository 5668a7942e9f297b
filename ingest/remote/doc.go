// Package remote takes URLs and gives what they name to package discover: objects and prefixes of S3, Google Cloud
// Storage and Azure Blob Storage, files and directories of HDFS.
//
//  1. client.go opens a bucket or a name node once, whatever number of URLs lies in it: bucket.go an object store, hdfs.go
//     a name node.
//  2. url.go takes a URL apart, by way of package bucket, which also opens buckets and explains their errors.
//  3. blocks.go reads a file in any order; in one order bucket.Stream does, which goes on at the byte where a connection
//     broke.
//  4. fault.go turns the libraries' errors into those of packages ingest and discover.
//
// Credentials come from where the libraries look for them, the environment and the files of the vendors' own tools, and
// from nowhere else. Package bucket says how each was tried. No HDFS was available: only its URLs, parameters and errors are
// tested.
//
// Start with client.go.
package remote
