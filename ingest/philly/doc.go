// Package philly takes Microsoft's Philly traces of a shared cluster for deep learning and gives rows.
//
//  1. philly.go puts the files of a trace together.
//  2. joblog.go reads cluster_job_log: jobs with their attempts, each a gang of machines.
//  3. machines.go reads the side tables: the machine list, and the use of processors, memory and GPUs by the minute.
//
// Start with joblog.go. No real file was available to the tests; the layout is the one the trace documents.
package philly
