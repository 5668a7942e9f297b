// Package remote takes URLs and gives what they name to package ingest: objects and prefixes of S3, Google Cloud
// Storage and Azure Blob Storage, files and directories of HDFS.
//
//  1. url.go takes a URL apart: place, path, parameters. It refuses URLs with a user or a password in them.
//  2. places.go opens a place once, whatever number of URLs lies in it: bucket.go an object store, hdfs.go a name node.
//  3. resume.go reads a file as a stream that goes on at the byte where a connection broke; blocks.go reads it in any
//     order.
//  4. fault.go turns the libraries' errors into what people can act on, without secrets.
//
// Credentials come from where the libraries look for them, the environment and the files of the vendors' own tools, and
// from nowhere else. S3 was tried against a server of that protocol; Google's, Azure's and HDFS were not available, and
// of those only URLs, parameters and errors are tested.
//
// Start with places.go.
package remote
