// Package sharing finds what the slow tasks of a run have in common, from counts of tasks by feature: a machine, a node, a
// rack, a source of their input; a table, a file system, a time or a stage.
//
//  1. tasks.go counts.
//  2. sharing.go compares explanations with each other, and with chance.
//  3. words.go describes the result in sentences.
//
// hours.go does the same for the runs of a program: at which hours of the day they are slow.
//
// Start with sharing.go.
package sharing
