// Package model takes the observations of phases, each fitted alone, and builds the Model common to all phases (MODEL.md,
// section 6).
//
//  1. model.go: the Learner adds up observations and builds the Model.
//  2. observation.go: the observation of one phase about its stage, its machines and its outliers.
//  3. stages.go pools the executions of a stage into priors for the next one.
//  4. phase.go fits a phase given the model of all others; attribution and replays use it to predict times.
//  5. statistics.go: the statistics of the phases of one application, which a Learner merges.
//  6. message.go encodes models and observations for copies of the program on other machines.
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
