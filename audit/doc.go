// Package audit takes the measured runs of a night and the baseline of the nights before, and gives findings: what got
// worse, by more than the rules allow and by more than runs differ anyway.
//
// Its input comes from measure, which reads the runs of a store, and from baseline, which keeps earlier runs in a file.
// render writes what it gives.
//
//  1. night.go joins findings with what was known: new, ongoing, fixed, accepted, suppressed; nights.go does so for every day
//     of a store.
//  2. judge.go compares one run with its history; pair.go compares any two runs.
//  3. comparison.go pairs their values; work.go removes from them what the work of each night explains.
//  4. prediction.go tests tonight's value against the runs before, with the variance that prior.go learns from all series;
//     alike.go leaves each night out of the history, to see how large a surprise is normal; tasks.go has the second test, that
//     a few tasks which were slow by chance make no finding.
//  5. slowness.go compares the tasks of each machine with the history of their stages: which machine is slow, and by processor
//     or disk. common.go says what the slow tasks have in common, and which racks are slow; machines.go makes findings of both.
//     plans.go compares how queries were run, exactly.
//  6. evidence.go says what is behind a finding; finding.go says what a finding is.
//  7. config.go reads straggler.yaml, which changes thresholds; rules.go is the table of what is compared.
//  8. numbers.go has means and figures of the outputs.
//
// Start with night.go.
package audit
