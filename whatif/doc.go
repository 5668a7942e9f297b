// Package whatif takes a store and estimates what each straggler policy would have saved on its jobs, at what cost in slot
// time, and with what uncertainty.
//
//  1. load.go reads what a replay needs, a few pools at a time; package workload builds the pools, and package replay simulates
//     them.
//  2. compare.go replays each policy of package policy under several seeds, and the policy `none` once; with the same seed all
//     policies see the same random numbers, so that their savings are paired differences.
//  3. savings.go sums up, per job and over all, with 95 % intervals, and separately over small jobs.
//  4. assumptions.go states the assumptions behind the figures, including the replay error of `none`, and when nothing can be
//     concluded from them.
//  5. run.go surveys all pools (survey.go), replays them batch by batch, and commits whatif_runs and whatif_savings, whose rows
//     write.go builds. On an engine of many machines, cluster.go has copies of the program (copy.go) read and replay the pools
//     there.
//  6. optimize.go searches Spark's own settings; gained.go finds the job that gains most, and timeline.go shows it before and
//     after.
//
// usual.go has the policies that are replayed by default, brief.go the smaller set for a report on a large store.
//
// # Packages
//
// One simulator, package replay, runs all simulations. A pool is the machines of a cluster and the jobs that share their slots.
// How data flows, here and in simulations of whole clusters:
//
//	rows of a log ───┐                      ┌──▶ network    flows over the links of racks
//	                 ├─▶ workload ──pools──▶ replay ◀──┬── policy     late, mantri, dolly, spark, …
//	a workload file ─┘      ▲                  │       │     └ policy/recompute
//	                        │                  │       └── schedule   fifo, fair, delay, quincy, …
//	causes/model ───────────┘                  ▼             └ schedule/quincy, mincost, placement
//	machines, work, errors              outcomes by job ──┬─▶ whatif      what policies save on a log
//	                                                      ├─▶ simulate    schedulers on a cluster
//	                                                      └─▶ published   what the papers measured, and what we get
//
// Packages to the left of replay build pools, those to the right make decisions, and those below compare outcomes:
//
//  1. workload builds pools from a log, or from a description of a cluster and its jobs. Task times depend on data and machines
//     as in the model of package causes; workload draws the errors of the model.
//  2. replay is the simulator: slots, copies, and the stages of tasks over network's links. Its queues use package heap.
//  3. policy has the straggler policies; policy/recompute decides which outputs to replicate, and which to recompute early.
//  4. schedule decides which job gets the next slot; schedule/quincy does so by a min-cost flow, which schedule/mincost solves,
//     and schedule/placement spreads reduces over racks to balance the links.
//  5. simulate runs workloads under schedulers and policies; published compares the results of the papers with those of the
//     simulator; scenario writes the logs of planned workloads, for tests.
//
// # Intervals
//
// The 95 % interval of a saving is a prediction interval for the saving in another run, relative to the log. It includes these
// uncertainties, drawn for each seed and shared by all policies:
//
//   - the model: factors of machines, coefficients of the regressions, how long killed attempts would have taken
//     (workload.Sample), the durations of copies and the error of progress (package replay);
//   - differences between two runs of the same jobs: the scatter of attempts, of machines from phase to phase, and of what all
//     machines share for some seconds, as estimated from the log (workload.SharedScatter, Pool.Again), replayed once for all
//     policies;
//   - the error of the simulator (discrepancy in compare.go).
//
// More seeds make its limits more precise but do not narrow it. With 20 seeds the intervals cover 28 of 30 measured makespans
// in real pairs of runs without and with speculation (go test -run TestMeasuredPairs -v), and 94 to 98 % on synthetic clusters
// with known scatter (-run TestIntervalsCover).
//
// The interval for this run has only the first of these uncertainties: what the policy would have saved on the attempts and
// machines of the log. On the synthetic clusters it covers 93 to 96 % of the savings in the same run. It says nothing about
// another run: of the measured makespans of the real pairs 18 of 30 are inside, and 3 of 22 on a machine whose load changed
// (TestLoadedPairs), where the other interval covers 16. Bounds that no scheduler can reach have no width: they refer to the
// log itself.
//
// # Rows
//
// whatif_runs has a row per policy, seed and job; if a policy used no random numbers in an application, all seeds are equal and
// only the first is stored. whatif_savings has a row per policy for all jobs together (job_id NULL: seconds summed over the
// jobs) and one for every job in which the policy changed something, or in which that is unknown because the log lacks the
// starts or the ends of most attempts.
//
// # Custom policies
//
// A custom policy implements replay.Policy and is passed to Compare or Run with policy.Own; see the example of Compare.
//
// Start with run.go.
package whatif
