// Package yarn reads the state of an application from a resource manager of Hadoop YARN, as a source of package live.
//
//  1. source.go asks the manager for the application and its framework. For Spark, package sparkrest reads the driver through
//     the manager's proxy.
//  2. mapreduce.go asks the application master of a MapReduce job for its tasks, with the progress that they report.
//  3. answers.go has its answers, and rows.go turns them into the rows that ingest makes of the job's history.
//
// Start with source.go.
package yarn
