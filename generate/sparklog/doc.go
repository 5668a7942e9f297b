// Package sparklog takes events of a generated trace, or a real log, and gives Spark event logs.
//
//  1. writer.go writes the events of package synth as Spark 3.5 does: its events, its keys, its order of keys.
//     stage.go and task.go are the parts about stages and about tasks.
//  2. like.go repeats a real log under new ids, as one longer application, until it has a size. walk.go finds the ids.
//
// Start with writer.go.
package sparklog
