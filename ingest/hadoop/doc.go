// Package hadoop takes the histories that Hadoop's MapReduce and its tools have written since 0.18 and gives rows.
//
//  1. jhist.go reads the application master's history, and conf.go the job's configuration beside it. jhist_json.go
//     decodes events in Avro-JSON, avro.go puts those in Avro-Binary into the same JSON.
//  2. jobtracker.go reads the JobTracker's text history, jobtracker_record.go decodes its records.
//  3. rumen.go reads Rumen's traces and topologies, sls.go those of the Scheduler Load Simulator, which it turns into rows
//     itself; objects.go finds the JSON objects of files of any size.
//  4. events.go folds the events of any history into model.go's job with its tasks and attempts, counters.go their
//     counters; rows.go turns a job into rows.
//
// Start with model.go.
package hadoop
