// Package hadoop reads the job histories of Hadoop MapReduce and its tools since 0.18.
//
//  1. jhist.go reads the application master's history, and conf.go the job's configuration beside it. jhist_json.go decodes
//     events in Avro-JSON; avro.go converts Avro-Binary to the same JSON.
//  2. jobtracker.go reads the JobTracker's text history, jobtracker_record.go decodes its records.
//  3. rumen.go reads Rumen's traces, rumen_words.go its names of statuses and counters, rumen_topology.go its topologies.
//     sls.go reads traces of the Scheduler Load Simulator and emits their rows directly. objects.go finds the JSON objects of
//     files of any size.
//  4. events.go folds the events of any history into the job of model.go, with its tasks and attempts, counters.go their
//     counters; rows.go converts a job to rows, locality.go determines the locality of its data.
//
// Start with model.go.
package hadoop
