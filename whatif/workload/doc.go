// Package workload takes the rows of a log, or a cluster with the jobs that come to it, and gives pools: what package replay
// plays.
//
//  1. pool.go is what a pool is: slots on machines, and the jobs, phases, tasks and attempts that share them; inputs.go says
//     where their input lies, classes.go what classes of slots and distances to data there are, time.go the unit of time.
//
// From a log:
//
//  2. rows.go holds the rows that are needed, compactly; attemptrow.go fills them from rows of attempts, reports.go with
//     progress.
//  3. batches.go divides them into pools, the applications that share slots, of which a few are in memory at once; build.go
//     makes a pool, with its jobs, phases and attempts.
//  4. place.go gives each attempt the slot it ran on; releases.go says what each phase and job waited for.
//  5. calibrate.go keeps how the observed scheduler behaved (the order of launches, its waits and its lags), outputs.go which
//     outputs were lost.
//  6. learn.go tells the model of package causes/model what the phases say; work.go says by it how long a task should take for
//     its data and its machine; scatter.go by how much the attempts of some seconds, on all machines, differ from that
//     together.
//  7. resample.go draws what the log does not say for certain, and what another run would differ by.
//  8. ideal.go changes durations as no policy could.
//
// From numbers:
//
//  9. file.go is what a workload file may say, number.go the distributions of its numbers, mix.go the papers' job sizes.
//  10. draw.go draws the cluster and the jobs of a seed: arrivals, sizes, where their data lies, SWIM's and stores' jobs among
//     them. The same seed gives all schedulers and policies the same jobs.
//  11. plan.go makes a pool of machines, a network and jobs; replan.go takes the jobs of a log for another cluster.
//
// A pool is never changed by a replay, so any number of them may run at once.
//
// Start with pool.go.
package workload
