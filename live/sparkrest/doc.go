// Package sparkrest takes the address of a Spark driver or History Server, and gives an application's state as a source of
// package live, poll by poll, or the logs of those that have ended.
//
//  1. source.go finds the application and asks for what is new: stages.go for stages that came, changed or went, tasks.go for
//     their tasks that were not known to have ended. What a poll asks for is bounded.
//  2. answers.go is what the server answers, rows.go turns it into the rows that ingest makes of the application's log.
//  3. download.go fetches logs of a History Server.
//
// Start with source.go.
package sparkrest
