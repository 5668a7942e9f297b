// Package alibaba reads Alibaba's cluster traces of 2017, 2018 and of GPUs in 2020.
//
//  1. format.go groups the files of a trace; tables.go lists its tables and recognises each by its name or its shape.
//  2. decode.go turns blocks of lines into rows, several at once: instances.go instances, which are attempts, machines.go
//     machines and their use; numbers.go parses their numbers and times.
//  3. reader.go takes the blocks in the order of the files, and aggregates the instances of each task.
//  4. jobs.go joins tasks with the aggregates of their instances, sorted by job on disk, and emits jobs, phases and edges;
//     tries.go numbers the rows of 2018 that may be tries of one instance.
//  5. dag.go parses the dependencies in a 2018 task's name.
//
// Start with tables.go. The only real file tested was a table of tasks of 2017; the other layouts are the documented ones, with
// the defects that users of the trace have reported.
package alibaba
