// Package whatif takes a store and gives what each straggler policy would have saved on its jobs, at what cost in slot
// time, and how sure that is.
//
//  1. load.go reads what a replay needs, a few pools at a time; package workload makes them, and package replay plays them.
//  2. compare.go replays each policy of package policy under several seeds, and the policy `none` once; with the same seed
//     all policies have the same luck, so that their savings are paired differences.
//  3. savings.go sums up: per job and over all, with 95 % intervals; small jobs apart.
//  4. assumptions.go says what the figures rest on, the replay error of `none` among it, and when nothing can be concluded from
//     them.
//  5. run.go surveys all pools (survey.go), replays them batch by batch, and commits whatif_runs and whatif_savings, whose rows
//     write.go makes; on an engine of many machines by cluster.go, whose copies of this program (copy.go) read and replay the
//     pools there.
//  6. optimize.go searches Spark's own settings; gained.go finds the job that gains most, timeline.go shows it before and
//     after.
//
// usual.go says which policies are replayed unless others are asked for, brief.go how many a report can wait for.
//
// # Packages
//
// One simulator, package replay, plays everything that is simulated. A pool is the machines of a cluster and the jobs that
// share their slots. How data flows, here and in simulations of whole clusters:
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
// Left of replay pools are made, right of it decisions, and below it comparisons:
//
//  1. workload makes pools of a log, or of a cluster and jobs given by numbers. How long a task takes for its data, and each
//     machine for a task, is the model of package causes; workload draws its errors.
//  2. replay is the simulator: slots, copies, and the stages of tasks over network's links. Its queues are of package heap.
//  3. policy has the straggler policies; policy/recompute says which outputs to copy, and which to make again early.
//  4. schedule decides who gets the next slot; schedule/quincy by a min-cost flow, which schedule/mincost solves, and
//     schedule/placement spreads reduces over racks so that no link is hot.
//  5. simulate runs workloads under schedulers and policies; published sets what the papers measured beside what all this
//     gives; scenario writes the logs that plans leave, for tests.
//
// # Intervals
//
// The 95 % interval of a saving is where the saving of another run would lie in 95 of 100 cases, against the log as it was. It
// holds what is uncertain, drawn anew under each seed and alike for all policies:
//
//   - the model: factors of machines, coefficients of the regressions, how long killed attempts would have taken
//     (workload.Sample), the luck of copies and the error of progress (package replay);
//   - what two runs of the same log differ by: the scatter of attempts, machines from phase to phase, and what all machines
//     share for some seconds, as far as the log shows it (workload.SharedScatter, Pool.Again), replayed once for all policies;
//   - what the replay itself gets wrong (discrepancy in compare.go).
//
// More seeds make its limits more exact, and do not bring them closer. Of the real pairs of runs without and with speculation,
// 28 of 30 measured makespans lie inside under 20 seeds (go test -run TestMeasuredPairs -v), of generated clusters whose
// scatter is known 94 to 98 % (-run TestIntervalsCover). Bounds that no scheduler reaches have no width: they are of the log as
// it was.
//
// # Rows
//
// whatif_runs has a row a policy, seed and job; where a policy drew no random numbers in an application all seeds give
// the same, and the first stands for them. whatif_savings has a row a policy for all jobs together (job_id NULL: seconds
// summed over the jobs) and one for every job in which the policy changed something.
//
// # A policy of one's own
//
// A policy implements replay.Policy and is given to Compare or Run with policy.Own; the example of Compare shows one.
//
// Start with run.go.
package whatif
