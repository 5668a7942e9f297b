// Package philly takes Microsoft's Philly traces of a shared cluster for deep learning and returns rows.
//
//  1. philly.go groups the files of a trace.
//  2. joblog.go reads cluster_job_log: jobs with their attempts, each a gang of machines.
//  3. machines.go reads the side tables: the list of machines, and the use of processors, memory and GPUs by minute.
//
// Start with joblog.go. No real file was available to the tests; the layout follows the trace's documentation.
package philly
