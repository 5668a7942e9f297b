// Package alibaba takes Alibaba's cluster traces of 2017, 2018 and of GPUs in 2020 and gives rows.
//
//  1. format.go puts the files of a trace together; tables.go knows its tables and recognises each by its name or its shape.
//  2. decode.go turns blocks of lines into rows, several at once: instances.go instances, which are attempts, machines.go
//     machines and their use; numbers.go reads their numbers and times.
//  3. reader.go takes the blocks in the order of the files, and adds up what instances say of their tasks.
//  4. jobs.go joins tasks with what their instances said, sorted by job on disk, and gives jobs, phases and edges; tries.go
//     numbers the rows of 2018 that may be tries of one instance.
//  5. dag.go reads the dependencies that a 2018 task's name holds.
//
// Start with tables.go. Of real files only a table of tasks of 2017 was tried; the other layouts are the
// documented ones, with the defects that the trace's users have reported.
package alibaba
