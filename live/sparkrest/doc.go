// Package sparkrest reads the state of an application from a Spark driver or History Server, as a source of package live, and
// downloads the logs of ended applications.
//
//  1. source.go finds the application and polls for changes: stages.go for new, changed and finished stages, tasks.go for their
//     tasks that were not known to have ended. The requests of a poll are bounded.
//  2. answers.go has the types of answers; rows.go converts them to the rows that ingest makes of the application's log.
//  3. download.go fetches logs of a History Server.
//
// Start with source.go.
package sparkrest
