// Package simulate takes a workload, a cluster with the jobs that come to it, and gives how it goes under cluster
// schedulers and straggler policies.
//
//  1. choices.go reads a workload file, whose language is package workload's, and checks that its schedulers and policies
//     exist; examples.go has the workloads of the papers, built in; stored.go takes jobs of stores.
//  2. run.go replays every scheduler × policy × seed, and result.go sums up, with samples of who has what and how
//     full the links are.
//  3. rows.go writes simulate_runs, simulate_jobs and simulate_samples in one commit.
//
// Start with run.go.
package simulate
