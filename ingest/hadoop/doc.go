// Package hadoop takes the histories that Hadoop's MapReduce and its tools have written since 0.18 and gives rows.
//
//  1. jhist.go reads the application master's history, and conf.go the job's configuration beside it. jhist_json.go
//     decodes events in Avro-JSON, avro.go puts those in Avro-Binary into the same JSON.
//  2. jobtracker.go reads the JobTracker's text history, jobtracker_record.go decodes its records.
//  3. rumen.go reads Rumen's traces, rumen_words.go its names of statuses and counters, rumen_topology.go its topologies.
//     sls.go reads those of the Scheduler Load Simulator and makes its rows itself. objects.go finds the JSON objects of files
//     of any size.
//  4. events.go folds the events of any history into model.go's job with its tasks and attempts, counters.go their
//     counters; rows.go turns a job into rows, locality.go says how far its data were.
//
// Start with model.go.
package hadoop
