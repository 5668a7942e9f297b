// Package workload takes the rows of a log, or the description of a cluster and its jobs, and builds pools, the input of
// package replay.
//
//  1. pool.go defines a pool: slots on machines, and the jobs, phases, tasks and attempts that share them; inputs.go has the
//     locations of their input, classes.go the classes of slots and levels of locality, time.go the unit of time.
//
// From a log:
//
//  2. rows.go holds the rows needed, in compact form; attemptrow.go fills them from rows of attempts, reports.go from progress
//     reports.
//  3. batches.go divides them into pools, sets of applications that share slots, of which a few are in memory at once; build.go
//     builds a pool with its jobs, phases and attempts.
//  4. place.go finds the slot of each attempt; releases.go finds what each phase and job waited for.
//  5. calibrate.go records how the observed scheduler behaved (the order of launches, its waits and its lags), outputs.go which
//     outputs were lost; bysize.go sorts the launches of each phase by their data.
//  6. learn.go passes the phases to the model of package causes/model; work.go uses it to predict how long a task takes given
//     its data and machine; scatter.go estimates the deviation from that which is common to all attempts within some seconds.
//  7. resample.go draws quantities that the log leaves uncertain, and the differences of another run.
//  8. ideal.go changes durations in ways that no policy could.
//
// From a description:
//
//  9. file.go defines workload files, number.go the distributions of their numbers, mix.go the papers' job sizes.
//  10. draw.go draws the cluster and the jobs of a seed: arrivals, sizes, where their data lies, SWIM's and stores' jobs among
//     them. The same seed gives all schedulers and policies the same jobs.
//  11. plan.go builds a pool from machines, a network and jobs; replan.go converts the jobs of a log for another cluster.
//
// A pool is never changed by a replay, so any number of them may run at once.
//
// Start with pool.go.
package workload
