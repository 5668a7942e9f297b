// Package bucket opens buckets by URL (S3, Google Cloud Storage, Azure Blob Storage, and directories in place of one). Its
// errors tell people what to do and contain no secrets.
//
//  1. location parses a URL: scheme, bucket, path, parameters. It rejects URLs with a user or a password.
//  2. bucket.go has the interface of buckets, opens them, and lists them page by page: dir.go a directory; s3.go the S3
//     protocol, where s3_settings.go determines the server of a bucket and s3_credentials.go signs; google.go Cloud Storage,
//     which speaks that protocol with tokens; azure.go Blob Storage by its REST API, with requests signed by azure_sign.go with
//     the account's key, or with a token that azure_identity.go finds. http.go has what both protocols share; parts.go sends
//     large objects in parts.
//  3. fault.go converts the libraries' errors to ones that tell people what to do, without secrets.
//  4. resume.go reads a file as a stream that resumes at the byte where a connection broke; retry.go is the policy: how often
//     and how long to try.
//
// Credentials are looked for only where the vendors' libraries look for them: in the environment and in the files of the vendors'
// own tools. The S3 protocol was tested with servers that require its signatures. Google's and Azure's services were not
// available: the tests simulate servers that require their tokens, signatures and conditions, and all operations of Blob Storage
// were tested with the emulator Azurite.
//
// Start with bucket.go.
package bucket
