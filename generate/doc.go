// Package generate makes data to try straggler on: large logs, and traces with known ground truth.
//
//  1. synthetic.go writes a scenario of package synth into a store, and logs.go as a Spark event log, or as a directory of
//     logs. truth.go writes the truth next to it.
//  2. like.go repeats a real Spark event log under new ids until it has the requested size.
//  3. wide.go makes one stage with the requested number of tasks from a real log's largest stage.
//  4. template.go finds the numbers in a log's lines that must change from one repetition to the next. compress.go
//     compresses the output, depending on the name of its file.
//
// Start with synthetic.go.
package generate
