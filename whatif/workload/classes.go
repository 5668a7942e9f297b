package workload

// Class is a class of slots. Hadoop's machines have slots for maps and slots for reduces; elsewhere all are of class 0.
type Class uint8

const (
	MapSlots    Class = iota // and every slot, where there is one class
	ReduceSlots              // for reduces only
	Classes     = 2
)

// Level is the locality of a task.
type Level uint8

const (
	NodeLocal Level = iota // on a machine that has its data, or it has no data
	RackLocal              // on another machine of a rack that has its data
	OffRack
	Levels = 3
)

// Queue is a group of jobs for sharing the slots of a pool: a queue, a user or, in the terms of FAIR §3, a pool.
type Queue struct {
	Name string
	Min  [Classes]int32 // guaranteed slots of each class
}
