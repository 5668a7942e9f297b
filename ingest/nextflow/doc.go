// Package nextflow takes the execution trace that Nextflow writes (trace.txt) and gives rows.
//
//  1. nextflow.go reads the header and a line a task.
//  2. units.go reads the ways in which a trace writes durations, sizes and times.
//
// Start with nextflow.go.
package nextflow
