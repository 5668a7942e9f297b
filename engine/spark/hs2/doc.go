// Package hs2 is a client of HiveServer2 (Spark Thrift Server, Apache Kyuubi): sessions that run SQL and stream the results,
// column by column. It knows nothing about stores.
//
//  1. session.go opens a session: it connects, authenticates (sasl.go), and requests a session.
//  2. operation.go runs a statement, waits for it, and fetches its rows.
//  3. watch.go supervises every request: it cancels the cluster's work when the context ends, and finds out whether a silent
//     server is working or frozen.
//  4. errors.go explains errors to people.
//
// The wire format is gohive's generated code. Its client is not used: it waits for a fetch even when the context has
// ended, so a query could not be stopped while the cluster computes its rows; it takes a refused session for an open
// one; and it gives rows one boxed value at a time.
//
// Start with operation.go.
package hs2
