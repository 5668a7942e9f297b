// Package generate makes logs to try straggler on: large ones, and ones whose truth is known.
//
//  1. like.go repeats a real Spark event log under new ids until it has the size that is asked for.
//  2. wide.go makes one stage of as many tasks as are asked for out of a real log's largest stage.
//  3. template.go finds the numbers in a log's lines that must change from one repetition to the next.
//
// Start with like.go.
package generate
