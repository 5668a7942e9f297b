package schedule

import (
	"errors"

	"straggler/whatif/workload"
)

// ErrLacks is wrapped by the error about a scheduler for which a pool does not hold what it needs: under it the replay
// would silently be of another scheduler.
var ErrLacks = errors.New("the log does not hold what this scheduler needs")

// Lacks is what a pool lacks for the scheduler to do what its name says; nil where it can.
func (s Scheduler) Lacks(p *workload.Pool) error {
	if o, ok := s.options.(needy); ok {
		return o.lacks(p)
	}
	return nil
}

// needy is implemented by options of schedulers that not every pool can honour.
type needy interface {
	lacks(*workload.Pool) error
}

// lacks asks for what is split: machines with reduce slots, and tasks of which it is known how long they copy and how long they
// compute.
func (o CopyCompute) lacks(p *workload.Pool) error {
	if p.Stages != nil {
		return nil
	}
	return errors.New("the log does not say which slots are for reduces, or how long a reduce copies before it computes; simulate the log's jobs on a cluster that has both (straggler simulate, with a workload file whose jobs are 'store: DIR'), or choose fifo or fair")
}

// lacks asks for inputs that lie on some machine. Waits of 0 need none.
func (o Delay) lacks(p *workload.Pool) error {
	if p.Inputs != nil || o.T1+o.T2 == 0 {
		return nil
	}
	return errors.New("the log says of no task that it ran where its data was, so no job would wait for a slot near its data; choose fifo or fair, or simulate the log's jobs with blocks placed anew (straggler simulate, with a workload file whose jobs are 'store: DIR' with a block size)")
}

func (o fairAll) lacks(p *workload.Pool) error {
	return errors.Join(o.CopyCompute.lacks(p), o.Delay.lacks(p))
}

// lacks asks for the links between racks.
func (o spread) lacks(p *workload.Pool) error {
	if p.Stages != nil && p.Stages.Network != nil {
		return nil
	}
	return errors.New("the log does not say how fast the links between racks are, or in which rack outputs lie; simulate the log's jobs on a cluster with a network (straggler simulate, with a workload file whose jobs are 'store: DIR'), or choose fifo")
}
