// Package audit compares the measured runs of a night with the baseline of earlier nights and returns findings: what got worse
// by more than the rules allow and by more than runs usually differ.
//
// Its input comes from measure, which reads the runs of a store, and from baseline, which keeps earlier runs in a file.
// render writes the results.
//
//  1. night.go determines the status of findings: new, ongoing, fixed, accepted, suppressed; nights.go does so for every day of
//     a store.
//  2. judge.go compares one run with its history; pair.go compares any two runs.
//  3. comparison.go pairs their values; work.go normalises them by the work of each night.
//  4. prediction.go tests tonight's value against earlier runs, with the variance that prior.go learns from all series;
//     alike.go leaves each night out of the history in turn, to find how large a surprise is normal; tasks.go has a second
//     test, so that a few tasks which were slow by chance are not a finding.
//  5. slowness.go compares the tasks of each machine with the history of their stages, which usual.go sums up, to find which
//     machine is slow; resource.go decides whether by processor, disk or network. common.go finds what the slow tasks have in
//     common, and which racks are slow; machines.go makes findings of both. recurring.go finds machines that were slow in several
//     of the last runs. plans.go compares the plans of queries exactly.
//  6. evidence.go has the evidence for a finding; finding.go defines findings.
//  7. config.go reads straggler.yaml, which changes thresholds; rules.go is the table of what is compared.
//  8. numbers.go has means and figures of the outputs.
//
// Start with night.go.
package audit
