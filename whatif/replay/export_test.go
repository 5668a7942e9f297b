package replay

// WithSlots is the pool with more slots, on a machine of their own.
func (p *Pool) WithSlots(n int) *Pool {
	q := *p
	q.machines = append(append([]machine(nil), p.machines...), machineOf("another"))
	q.slots = append([]slot(nil), p.slots...)
	for range n {
		q.slots = append(q.slots, slot{machine: int32(len(p.machines)), executor: int32(len(p.slots)), from: -forever, till: forever})
	}
	q.limit += n
	return &q
}
