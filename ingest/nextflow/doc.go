// Package nextflow takes the execution trace that Nextflow writes (trace.txt) and returns rows.
//
//  1. nextflow.go reads the header and a line per task.
//  2. units.go parses the forms in which a trace writes durations, sizes and times.
//
// Start with nextflow.go.
package nextflow
