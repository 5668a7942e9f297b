// Package baseline keeps the last runs of each group, the open findings and the decisions in one file of JSON lines that
// version control can show and merge.
//
//  1. baseline.go defines what is kept.
//  2. file.go reads and writes it.
//
// Start with baseline.go.
package baseline
