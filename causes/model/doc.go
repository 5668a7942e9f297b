// Package model takes what each phase says, fitted by itself, and gives the Model of all phases together (MODEL.md, section 6).
//
//  1. model.go: the Learner adds up observations and makes the Model.
//  2. observation.go: what one phase says about its stage, its machines and its outliers.
//  3. stages.go pools the executions of a stage into the priors of the next one.
//  4. phase.go fits a phase with all that the others say: what attribution and replays predict times by.
//  5. statistics.go: the sums of what the phases of one application say, which a Learner merges.
//  6. message.go lists the fields for copies of the program on other machines.
//
// To predict the time of a task, as replays do, take the Model of a Learner that has observed all phases:
//
//	f := m.NewPhaseFit()
//	f.Fit(&phase)              // attempts by fit.TaskOf, with machines numbered as in m.Machines.Names
//	seconds := f.Predicted(i)  // of the body of task i, on a machine of factor 1
//	k := f.Machines.Of[i]      // local number of the machine of task i, negative if unknown
//	mean, variance := f.LogFactor[k], f.LogFactorVariance[k]  // of ln(factor) of that machine, without this phase
//	sd := f.Regression.Sigma   // of ln(body / (predicted × factor)) among ordinary attempts
//	mean, variance = m.Machines.Prior(m.WindowAt(number, time), machines.SufficientStats{})  // of any other machine
//
// Body is the task's duration without the parts that the log measures (fit.Task.Split).
//
// Start with model.go.
package model
