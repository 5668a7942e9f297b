// Package bucket takes URLs of object stores (S3, Google Cloud Storage, Azure Blob Storage, and directories that stand
// in for one) and gives opened buckets, with errors that people can act on and that hold no secret.
//
//  1. url.go takes a URL apart: scheme, bucket, path, parameters. It refuses URLs with a user or a password in them.
//  2. open.go opens the bucket, with what servers other than the vendors' own need.
//  3. fault.go turns the libraries' errors into what people can act on, without secrets.
//  4. list.go lists a bucket page by page.
//  5. resume.go reads a file as a stream that goes on at the byte where a connection broke; retry.go is the policy: how
//     often and how long to try, with pauses by gax, the library of Google's own clients.
//
// Credentials come from where the libraries look for them, the environment and the files of the vendors' own tools, and
// from nowhere else. S3 was tried against servers of that protocol; Google's and Azure's were not available, and of those
// only URLs, parameters and errors are tested.
//
// Start with url.go.
package bucket
