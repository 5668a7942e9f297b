// Package remote takes URLs and gives package discover access to what they name: objects and prefixes of S3, Google Cloud
// Storage and Azure Blob Storage, and files and directories of HDFS.
//
//  1. client.go opens each bucket or name node once, however many URLs point into it: bucket.go opens object stores, hdfs.go
//     name nodes.
//  2. url.go parses a URL with package bucket, which also opens buckets and explains their errors.
//  3. blocks.go gives random access to a file. Sequential reads use bucket.Stream, which resumes at the byte where a connection
//     broke.
//  4. fault.go converts the libraries' errors to those of packages ingest and discover.
//
// Credentials come from where the libraries look for them, the environment and the files of the vendors' own tools, and from
// nowhere else. Package bucket says how each service was tested. No HDFS was available: only its URLs, parameters and errors
// are tested.
//
// Start with client.go.
package remote
