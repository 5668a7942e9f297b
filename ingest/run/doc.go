// Package run takes arguments and gives a commit of a store with the rows of the logs in them, and a summary.
//
//  1. follow.go runs again and again on logs that grow; cluster.go runs on the machines of a cluster. Both end in Run.
//  2. run.go is one run: it plans, reads the inputs in parallel, each with Format.Read, and commits.
//  3. plan.go decides what to read of what package discover finds: of logs that are there twice one, and of the rest this
//     shard's. known.go says what the store has already.
//  4. order.go lets the rows through to the store in the order of the inputs, so that the same bytes give the same tables.
//  5. summary.go says what became of each input.
//
// Start with run.go.
package run
