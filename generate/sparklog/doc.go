// Package sparklog takes the events of a generated trace and writes an event log like Spark 3.5: the same events, with the same
// keys in the same order.
//
//  1. writer.go writes what occurs once in a log: the application, its environment, its executors.
//  2. stage.go writes jobs and stages, task.go attempts and their metrics.
//
// Start with writer.go.
package sparklog
