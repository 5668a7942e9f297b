// Package sparklog takes the events of a generated trace and gives a Spark event log, as Spark 3.5 writes it: its events,
// its keys, its order of keys.
//
//  1. writer.go writes what a log has once: the application, its environment, its executors.
//  2. stage.go writes jobs and stages, task.go attempts and their metrics.
//
// Start with writer.go.
package sparklog
