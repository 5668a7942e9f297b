// Package jobcost takes the seconds that causes took from the tasks of phases, and gives what each cause cost the jobs
// (MODEL.md, section 10).
//
//  1. phase.go packs a phase again without a cause: how much earlier it would have ended.
//  2. job.go replays the graph of a job's phases with that.
//  3. message.go lists the fields for copies of the program on other machines.
//
// Start with phase.go.
package jobcost
