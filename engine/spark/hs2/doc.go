// Package hs2 takes the address of a HiveServer2 (Spark Thrift Server, Apache Kyuubi) and gives sessions that run SQL
// there and stream the results, column by column. It knows nothing of stores.
//
//  1. session.go opens a session: it connects, says who we are (sasl.go), and asks the server for a session.
//  2. operation.go runs a statement, waits for it, and fetches its rows.
//  3. watch.go supervises every request: it stops the cluster's work when the context ends, and finds out whether a
//     server that says nothing is working or frozen.
//  4. errors.go says what went wrong in words for people.
//
// The wire format is gohive's generated code. Its client is not used: it waits for a fetch even when the context has
// ended, so a query could not be stopped while the cluster computes its rows; it takes a refused session for an open
// one; and it gives rows one boxed value at a time.
//
// Start with operation.go.
package hs2
