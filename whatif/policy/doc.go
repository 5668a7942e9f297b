// Package policy holds the straggler policies that a replay can try, one file each with its rules, defaults and source.
//
//  1. table.go lists them: name, doc, source, options with defaults, constructor. A new policy is one line there. select.go
//     selects policies by name, and refuse.go checks that a pool has what a policy needs.
//  2. late.go, hadoop.go, mrv2.go, spark.go, mantri.go and protect.go, dolly.go with cloning.go, blacklist.go, and tail.go for
//     MapReduce's and Dryad's. Mantri's estimates are in mantri_estimates.go, its order of cases in mantri_cases.go, and the
//     attempts that it need not visit in mantri_sleep.go.
//  3. A policy's options are the fields of a small struct; package option reads and prints them.
//  4. sample.go, ages.go and shared.go are used by most policies: a sorted sample that grows, and the running tasks without
//     copies by age, both maintained from one look to the next.
//  5. late_phases.go has LATE's rates for the parts of a reduce; late_early.go and bounds.go find, while tasks wait,
//     the attempts that end last without estimating all of them.
//
// A policy implements replay.Policy. Its only input is a replay.View.
//
// Start with late.go, which is short and typical.
package policy
