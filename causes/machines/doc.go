// Package machines takes what phases say about their machines, and gives each machine's factor by window of time and a verdict
// on its health (MODEL.md, section 5).
//
//  1. factors.go pools the observations, with priors; sufficient.go has the sums that are kept of them.
//  2. hypotheses.go weighs what the other tasks of a phase on a task's machine say against that; start.go does so for the first
//     tasks of an executor, and spell.go for a while in which the machine was slow.
//  3. health.go judges every machine in every window against its generation (generations.go), with a false discovery rate.
//  4. racks.go says whether a slowness is common to a machine, a rack or a shared link.
//  5. runs.go judges what a machine did in one run against what is usual for the stages.
//  6. message.go lists the fields for a copy of the program on another machine.
//
// Start with factors.go.
package machines
