package workload

// Class is a class of slots. Hadoop's machines have slots for maps and slots for reduces; elsewhere all are of class 0.
type Class uint8

const (
	MapSlots    Class = iota // and every slot, where there is one class
	ReduceSlots              // for reduces only
	Classes     = 2
)

// Level is how near its data a task runs.
type Level uint8

const (
	NodeLocal Level = iota // on a machine that has it, or it has none
	RackLocal              // on another machine of a rack that has it
	OffRack
	Levels = 3
)

// Queue is one of the parts of a pool that share its slots: a queue, a user or, as FAIR §3 calls it, a pool.
type Queue struct {
	Name string
	Min  [Classes]int32 // slots of each class that it is guaranteed
}
