// Package copies takes work for copies of this program on an engine of many machines, and gives what they wrote into the store,
// and their messages.
//
//  1. run.go is the side of the process that commits: it has an engine run the copies, takes their pieces into a
//     transaction, and reads their messages in the order of their keys.
//  2. writer.go is the side of a copy: rows and messages of a piece, of which one line is printed.
//  3. rows.go has copies write the rows of a query as they are.
//
// A cluster runs a copy again when it failed or seems slow, and both may write, into a directory or a bucket. Each run, which
// is one attempt of a task of the cluster, writes under a name of its own, and the name that counts is that in the line that
// the engine gives back, of which there is one for each share of the rows: so every row is in the commit once. The other piece
// is never committed, and goes with the transaction.
//
// Start with run.go.
package copies
