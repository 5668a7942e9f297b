// Package copies runs copies of this program on an engine of many machines, adds what they write into the store to a
// transaction, and returns their messages.
//
//  1. run.go is the side of the committing process: it has an engine run the copies, adds their pieces to a transaction, and
//     reads their messages in the order of their keys.
//  2. writer.go is the side of a copy: it writes the rows and messages of a piece, and prints one line about it.
//  3. rows.go has copies write the rows of a query unchanged.
//
// A cluster runs a copy again if it failed or seems slow, and both runs may write, into a directory or a bucket. Each run, an
// attempt of a task of the cluster, writes under a unique name. The engine returns one line, with one name, per share of the
// rows, so that every row is committed once. Other pieces are never committed, and are removed with the transaction.
//
// Start with run.go.
package copies
