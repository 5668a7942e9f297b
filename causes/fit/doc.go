// Package fit takes the attempts of one phase and fits a regression of their times on their work, with residuals (MODEL.md,
// sections 1 to 4).
//
//  1. task.go: the fields of an attempt that matter here.
//  2. parts.go splits a duration into what the log measures (fetch wait, gc, scheduler delay, conversion) and the rest, the
//     body; they sum to it.
//  3. fitter.go stores the phase in columns; bymachine.go numbers its machines and groups tasks by them.
//  4. predictors.go defines what the bodies may depend on: bytes, records, spilled bytes, distance from the data, being among
//     the first tasks.
//  5. regression.go fits them, robustly and with priors; leverage.go weighs a task that alone determines a coefficient;
//     equations.go solves the normal equations. alone.go fits a phase without knowledge of others. startwork.go separates the
//     effect of a task's work from that of the start of its executor, where the data permit. executors.go determines until when
//     an executor is cold.
//  6. residuals.go returns the residuals by machine and by time, outlier.go models their mixture distribution; starts.go counts
//     slow starts of executors; cpu.go relates processor times to the residuals.
//
// Start with regression.go.
package fit
