// Package hadoop takes the histories that Hadoop's MapReduce and its tools have written since 0.18 and gives rows.
//
//  1. jhist.go reads the application master's history, Avro-JSON or Avro-Binary (avro.go makes the one into the other);
//     events.go folds its events into a job.
//  2. jobtracker.go reads the JobTracker's text history record by record; history.go knows its lines and counters.
//  3. rumen.go reads Rumen's traces and topologies, sls.go the Scheduler Load Simulator's.
//  4. model.go is a job with its tasks and attempts as all of them tell it; rows.go turns it into rows.
//
// Start with model.go and rows.go.
package hadoop
