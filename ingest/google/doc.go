// Package google reads Google's cluster traces of 2011 (v2.1) and 2019 (v3).
//
//  1. format.go finds the tables of a trace among its shards.
//  2. decode.go turns blocks of records into events, several at once: csv2011.go and json2019.go for the two years,
//     columns2019.go for Parquet and flattened CSV.
//  3. events.go sorts the events of all shards by job, task and time on disk; attempts.go converts them to attempts, which
//     emit.go sends on concurrently.
//  4. usage.go sums what tasks used by machine and window of time.
//
// Start with format.go, then events.go. No real file was available to the tests; the layouts are the documented ones.
package google
