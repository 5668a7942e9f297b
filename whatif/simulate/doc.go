// Package simulate takes a workload, which is a cluster and the jobs that arrive at it, and returns the completion times of the
// jobs under schedulers and straggler policies.
//
//  1. choices.go reads a workload file, whose language is package workload's, and checks that its schedulers and policies
//     exist; examples.go has the workloads of the papers, built in; stored.go takes jobs of stores, with swim.sql.
//  2. run.go replays every scheduler × policy × seed, and result.go sums up, with samples of the slots in use and
//     the load of the links.
//  3. rows.go writes simulate_runs, simulate_jobs and simulate_samples in one commit.
//
// Start with run.go.
package simulate
