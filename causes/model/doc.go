// Package model takes what each phase says, fitted by itself, and gives the Model of all phases together (MODEL.md, section 6).
//
//  1. model.go: the Learner adds up observations and makes the Model.
//  2. observation.go: what one phase says about its stage, its machines and its outliers.
//  3. stages.go pools the executions of a stage into the priors of the next one.
//  4. phase.go fits a phase with all that the others say: what attribution and replays predict times by.
//  5. statistics.go: the sums of what the phases of one application say, which a Learner merges.
//  6. message.go lists the fields for copies of the program on other machines.
//
// Who replays phases predicts the time of a task like this, with the Model of a Learner that observed all phases:
//
//	f := m.NewPhaseFit()
//	f.Fit(&phase)                        // fit.Phase: its attempts, by fit.TaskOf, with machines numbered as in m.Machines.Names
//	seconds := f.Predicted(i)            // of the body of task i, on a machine of factor 1
//	mean, variance := f.Machine(i)       // of ln(factor) of the machine that task i ran on, this phase left out
//	sd := f.Regression.Sigma             // of ln(body / (predicted × factor)) among ordinary attempts
//	elsewhere, v := m.Machines.Prior(m.WindowAt(number, time), machines.SufficientStats{})  // of any other machine
//
// Body is the task's duration without the parts that the log measures (fit.Task.Split).
//
// Start with model.go.
package model
