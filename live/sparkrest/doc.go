// Package sparkrest takes the address of a Spark driver or History Server, and gives an application's state as a source of
// package live, poll by poll, or the logs of those that have ended.
//
//  1. source.go asks for what is new, a bounded number of requests a poll; answers.go is what the server answers.
//  2. rows.go turns answers into the rows that ingest makes of the application's log.
//  3. download.go fetches logs of a History Server.
//
// Start with source.go.
package sparkrest
