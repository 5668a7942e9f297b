// Package run takes arguments and commits the rows of the logs in them to a store, and returns a summary.
//
//  1. run.go is one run: it plans, reads the inputs in parallel, each with Format.Read, and commits.
//  2. plan.go decides which of the inputs found by package discover are read: one of several copies of a log, and only those
//     of this shard. forms.go finds the inputs that are one log in several forms. known.go is what the store already has.
//  3. order.go passes the rows to the store in the order of the inputs, so that the same logs give the same tables.
//  4. summary.go is the result of each input.
//  5. follow.go calls Run again and again on logs that grow; cluster.go calls it on the machines of a cluster.
//
// Start with run.go.
package run
