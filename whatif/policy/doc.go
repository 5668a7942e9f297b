// Package policy holds the straggler policies that a replay can try, one file each with its rules, defaults and source.
//
//  1. table.go lists them: name, doc, source, options with defaults, constructor. A new policy is one line there.
//  2. A policy's options are the fields of a small struct; package option reads and prints them.
//  3. sample.go and ages.go are what most of them share: an ordered sample of numbers that grows, and the tasks that run
//     uncopied in order of their age, both kept from one look to the next. Package heap has the heap.
//  4. late_phases.go and late_early.go are LATE's rates of the parts of a reduce, and the bounds by which it finds, while tasks wait,
//     the attempts that end last without estimating all of them.
//
// A policy implements replay.Policy. It sees a replay.View and nothing else.
//
// Start with late.go, which is short and typical.
package policy
