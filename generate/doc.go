// Package generate makes data to try straggler on: large logs, and traces whose truth is known.
//
//  1. synthetic.go makes a scenario of package synth: into a store, as a Spark event log, or as a directory of logs.
//     truth.go writes the truth beside it.
//  2. like.go repeats a real Spark event log under new ids until it has the size that is asked for.
//  3. wide.go makes one stage of as many tasks as are asked for out of a real log's largest stage.
//  4. template.go finds the numbers in a log's lines that must change from one repetition to the next. compress.go
//     compresses what is written, by the name of its file.
//
// Start with synthetic.go.
package generate
