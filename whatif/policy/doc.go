// Package policy holds the straggler policies that a replay can try, one file each with its rules, defaults and source.
//
//  1. table.go lists them: name, doc, source, options with defaults, constructor. A new policy is one line there. select.go
//     chooses those that a user names, and refuse.go says what a pool lacks for one.
//  2. late.go, hadoop.go, mrv2.go, spark.go, mantri.go with mantri_sleep.go and protect.go, dolly.go with cloning.go,
//     blacklist.go, and tail.go for MapReduce's and Dryad's.
//  3. A policy's options are the fields of a small struct; package option reads and prints them.
//  4. sample.go, ages.go and shared.go are what most of them share: an ordered sample of numbers that grows, and the tasks that
//     run uncopied in order of their age, both kept from one look to the next. Package heap has the heap.
//  5. late_phases.go and late_early.go are LATE's rates of the parts of a reduce, and the bounds by which it finds, while tasks
//     wait, the attempts that end last without estimating all of them.
//
// A policy implements replay.Policy. It sees a replay.View and nothing else.
//
// Start with late.go, which is short and typical.
package policy
