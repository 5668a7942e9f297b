package schedule

import (
	"errors"
	"slices"

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

// lacks asks for inputs that lie on some machine, for racks where a job waits for one, and for sizes where some jobs do not wait
// because they read slowly. Waits of 0 need none.
func (o Delay) lacks(p *workload.Pool) error {
	switch {
	case o.T1+o.T2 == 0 || p.Stages != nil:
		return nil
	case p.Inputs == nil:
		return errors.New("the log says of no task that it ran where its data was, so no job would wait for a slot near its data; choose fifo or fair, or simulate the log's jobs with blocks placed anew (straggler simulate, with a workload file whose jobs are 'store: DIR' with a block size)")
	case o.T2 > 0 && !p.RacksKnown:
		return errors.New("the log does not say which machines share a rack, so no job can wait for a rack that has its data (t2); give t2=0, or simulate the log's jobs on a cluster with racks (straggler simulate, with a workload file whose jobs are 'store: DIR')")
	case o.Bias > 0 && !slices.ContainsFunc(p.Tasks, func(t workload.Task) bool { return t.Bytes > 0 }):
		return errors.New("the log does not say how much any task read, so no job can be told to read slowly (bias); give bias=0")
	}
	return nil
}

// lacks asks for pools with minimum shares where others are killed for them.
func (o Fair) lacks(p *workload.Pool) error {
	if o.Tmin > 0 && !slices.ContainsFunc(p.Queues, func(q workload.Queue) bool { return slices.Max(q.Min[:]) > 0 }) {
		return errors.New("the log does not say that any pool has a minimum share, so none can lack it (tmin); give tmin=0 and tfair, or simulate the log's jobs with pools that have one (straggler simulate, with a workload file whose jobs are 'store: DIR')")
	}
	return nil
}

func (o fairDelay) lacks(p *workload.Pool) error {
	return errors.Join(o.Delay.lacks(p), o.Fair.lacks(p))
}
func (o fairSplit) lacks(p *workload.Pool) error {
	return errors.Join(o.CopyCompute.lacks(p), o.Fair.lacks(p))
}
func (o fairAll) lacks(p *workload.Pool) error {
	return errors.Join(o.CopyCompute.lacks(p), o.Delay.lacks(p), o.Fair.lacks(p))
}

// lacks asks for data that can be moved, and, where a price between racks was given, for racks.
func (o Quincy) lacks(p *workload.Pool) error {
	switch {
	case p.Stages != nil:
		return nil
	case p.Inputs == nil:
		return errors.New("the log says of no task that it ran where its data was, so there is no data moved to weigh against waiting; choose fair, or simulate the log's jobs with blocks placed anew (straggler simulate, with a workload file whose jobs are 'store: DIR' with a block size)")
	case o.Core != quincyDefaults.Core && !p.RacksKnown:
		return errors.New("the log does not say which machines share a rack, so nothing has the price between racks (core); leave core out, or simulate the log's jobs on a cluster with racks (straggler simulate, with a workload file whose jobs are 'store: DIR')")
	}
	return nil
}

// lacks asks for the links between racks.
func (o spread) lacks(p *workload.Pool) error {
	if p.Stages != nil && p.Stages.Network != nil {
		return nil
	}
	return errors.New("the log does not say how fast the links between racks are, or in which rack outputs lie; simulate the log's jobs on a cluster with a network (straggler simulate, with a workload file whose jobs are 'store: DIR'), or choose fifo")
}
