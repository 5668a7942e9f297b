// Package machines takes the observations of phases about their machines and estimates each machine's factor by window of time,
// with a verdict on its health (MODEL.md, section 5).
//
//  1. factors.go pools the observations, with priors; sufficient.go defines their sufficient statistics.
//  2. hypotheses.go compares that estimate with the other tasks of a phase on a task's machine; start.go considers the first
//     tasks of an executor, and spell.go a spell in which the machine was slow.
//  3. health.go judges every machine in every window against its generation (generations.go), with a false discovery rate.
//  4. racks.go decides whether a slowdown is common to a machine, a rack or a shared link.
//  5. runs.go judges the machines of one run against the usual times of its stages.
//  6. message.go encodes all this for copies of the program on other machines.
//
// Start with factors.go.
package machines
