// Package running takes endpoints, such as a Spark driver's address or a directory of logs that are still being written, and
// keeps the current state, as computed by package live, of every application that runs there.
//
//  1. endpoint.go defines an endpoint; servers.go implements it for REST APIs, logs.go for logs.
//  2. board.go finds the applications that run at the endpoints, and follows each until it ends.
//  3. application.go is the state of one, of bounded size and shared by all readers.
//
// Start with board.go.
package running
