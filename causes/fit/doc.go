// Package fit takes the attempts of one phase, and gives a regression of their times on their work, and the residuals
// (MODEL.md, sections 1 to 4).
//
//  1. task.go: what is looked at in an attempt.
//  2. parts.go splits a duration into what the log measures (fetch wait, gc, scheduler delay, conversion) and the rest, the
//     body; they sum to it.
//  3. fitter.go lays the phase out in columns, bymachine.go numbers and groups its machines.
//  4. predictors.go says what the bodies may depend on: bytes, records, spilled bytes, distance from the data, being among
//     the first.
//  5. regression.go fits that, robustly and with priors; leverage.go weighs a task that alone shows a coefficient; equations.go
//     solves the normal equations. alone.go fits a phase of which nothing is known.
//     startwork.go tells what the work of a task took from what the start of its executor did, where the data can.
//     executors.go says until when an executor is cold.
//  6. residuals.go gives the residuals by machine and by time, outlier.go the mixture that they come from; starts.go counts the
//     starts of executors that are slow; cpu.go has what the processor time says beside them.
//
// Start with regression.go.
package fit
