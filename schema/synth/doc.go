// Package synth takes options and a seed and returns traces of clusters, with the truth about every attempt.
//
//  1. scenarios.go names useful mixtures of options.go: shape, cluster, work, faults, speculation.
//  2. rows.go returns a trace as batches of rows with their truth, which is in truth.go. It makes them from the events of
//     events.go, in order of time.
//  3. sim.go schedules attempts on slots, event by event; launch.go, finish.go, recover.go and speculate.go are its parts, and
//     queue.go orders the events that it waits for.
//  4. plan.go draws jobs as graphs of stages, cluster.go the machines and their speed over time.
//  5. cost.go computes an attempt's time: base seconds, and seconds by cause.
//  6. random.go draws: every draw is a hash of the seed, its subject and its purpose, so a new consumer of draws does not
//     change those of others.
//
// All times are whole milliseconds, as most logs write them. Slots are work-conserving: an attempt starts as soon as a slot and
// an input are available, unless the options say otherwise. For every attempt
//
//	duration_s = base + Σ seconds by cause − cut
//
// where cut is the time that a failed, killed or lost attempt did not run.
//
// Start with options.go.
package synth
