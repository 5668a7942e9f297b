// Package simulate takes a workload, a cluster with the jobs that come to it, and gives how it goes under cluster
// schedulers and straggler policies.
//
//  1. workload.go is what a workload file may say; examples.go has those of the papers, built in.
//  2. plan.go draws the jobs of a seed: arrivals, sizes, where their data lies. The same seed gives all schedulers and
//     policies the same jobs.
//  3. run.go replays every scheduler × policy × seed, and result.go sums up, with samples of who has what and how
//     full the links are.
//  4. rows.go writes simulate_runs, simulate_jobs and simulate_samples in one commit.
//
// Start with workload.go.
package simulate
