// Package jobcost takes the seconds that each cause added to the tasks of phases and computes how much longer it made the jobs
// (MODEL.md, section 10).
//
//  1. phase.go schedules a phase again without a cause: how much earlier it would have ended.
//  2. job.go replays the graph of a job's phases with these savings.
//  3. message.go encodes savings for copies of the program on other machines.
//
// Start with phase.go.
package jobcost
