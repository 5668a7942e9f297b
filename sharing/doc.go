// Package sharing takes how many tasks of a run are slower than usual, by what they have in common, and gives what explains
// that: a machine, a node, a rack, a source of their input; a table, a file system, a time or a stage.
//
//  1. tasks.go counts.
//  2. sharing.go weighs one explanation against another, and against chance.
//  3. words.go says it in sentences.
//
// hours.go does the same for the runs of a program: at which hours of the day they are slow.
//
// Start with sharing.go.
package sharing
