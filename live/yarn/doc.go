// Package yarn takes the address of a resource manager of Hadoop YARN, and gives the state of an application that runs
// there, as a source of package live.
//
//  1. source.go asks the manager which application it is and of which framework. What a Spark driver says through the
//     manager's proxy is package sparkrest's to read.
//  2. mapreduce.go asks the application master of a MapReduce job for its tasks, with the progress that they report.
//  3. answers.go has its answers, and rows.go turns them into the rows that ingest makes of the job's history.
//
// Start with source.go.
package yarn
