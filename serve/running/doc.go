// Package running takes places where applications run, such as a Spark driver's address or logs that are still written, and
// gives of each application that runs there what package live says of it now.
//
//  1. place.go says what a place is; servers.go has those of REST APIs, logs.go those of logs.
//  2. board.go looks for what runs at the places, and follows each application until it ends.
//  3. application.go is what is kept of one, bounded, for as many readers as there are.
//
// Start with board.go.
package running
