// Package baseline takes the runs of each night and keeps the last of them, the open findings and the decisions, in one file
// of JSON lines that version control can show and merge.
//
//  1. baseline.go says what is kept.
//  2. file.go reads and writes it.
//
// Start with baseline.go.
package baseline
