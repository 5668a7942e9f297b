// Package tempfile takes a purpose and gives temporary files and directories that are gone when the process is, also when it is
// killed.
//
//  1. file.go makes files without a name, which the system frees with the process.
//  2. directory.go makes directories, for what needs names. Each is locked as long as its process runs; making one removes those
//     in the same place whose process ended without removing its own.
//
// Start with directory.go.
package tempfile
