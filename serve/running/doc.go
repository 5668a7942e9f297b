// Package running takes endpoints, where applications run, such as a Spark driver's address or logs that are still written, and
// gives, for each application that runs there, what package live says of it now.
//
//  1. endpoint.go says what an endpoint is; servers.go has those of REST APIs, logs.go those of logs.
//  2. board.go looks for what runs at the endpoints, and follows each application until it ends.
//  3. application.go is what is kept of one, bounded, for as many readers as there are.
//
// Start with board.go.
package running
