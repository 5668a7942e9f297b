// Package tempfile makes temporary files and directories that are gone when the process is, also when it is killed, and files
// that appear under their name when they are complete.
//
//  1. file.go makes files without a name, which the system frees with the process.
//  2. directory.go makes directories, for what needs names. Each is locked as long as its process runs; making one removes
//     those in the same place whose process ended without removing its own. A subdirectory for each user has them all, so that
//     other files there cost no time.
//  3. replace.go writes files that appear under their name when they are complete, and updates files that several processes
//     update.
//
// Start with directory.go.
package tempfile
