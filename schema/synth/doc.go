// Package synth takes options and a seed and gives traces of clusters, with the truth about every attempt.
//
//  1. scenarios.go names useful mixtures of options.go: shape, cluster, work, faults, speculation.
//  2. rows.go gives a trace as batches of rows beside their truth, which is in truth.go. events.go is what happens, in order of
//     time, of which rows.go makes the batches.
//  3. sim.go schedules attempts on slots, event by event; launch.go, finish.go, recover.go and speculate.go are its parts, and
//     queue.go orders what it waits for.
//  4. plan.go draws jobs as graphs of stages, cluster.go the machines and how fast they are at a time.
//  5. cost.go adds up what an attempt takes: base seconds, and seconds by cause.
//  6. random.go draws: every draw is a hash of the seed, its subject and its purpose, so a new consumer of draws does not
//     change those of others.
//
// All times are whole milliseconds, as most logs write them. Slots are work-conserving: an attempt starts the moment a
// slot and an input are there, unless the options say otherwise. For every attempt
//
//	duration_s = base + Σ seconds by cause − cut
//
// where cut is what a failed, killed or lost attempt did not live to run.
//
// Start with options.go.
package synth
