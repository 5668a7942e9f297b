package replay

import (
	"unsafe"

	"straggler/whatif/workload"
)

// WithSlots returns the pool with more slots, on a machine of their own.
func WithSlots(p *workload.Pool, n int) *workload.Pool {
	q := *p
	q.Machines = append(append([]workload.Machine(nil), p.Machines...), workload.MachineOf("another"))
	q.Slots = append([]workload.Slot(nil), p.Slots...)
	for range n {
		q.Slots = append(q.Slots, workload.Slot{Machine: int32(len(p.Machines)), Executor: int32(len(p.Slots)), From: -workload.Forever, Till: workload.Forever})
	}
	q.Limit += n
	return &q
}

// RunningSize is the bytes of an attempt that runs.
const RunningSize = unsafe.Sizeof(Running{})
