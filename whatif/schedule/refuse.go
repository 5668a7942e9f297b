package schedule

import (
	"errors"
	"slices"

	"straggler/whatif/option"
	"straggler/whatif/workload"
)

// ErrLacks is wrapped by errors about a pool that lacks what a scheduler needs, in which case the replay would silently be that
// of another scheduler.
var ErrLacks = errors.New("the log does not hold what this scheduler needs")

// Lacks returns an error about what a pool lacks for the scheduler; nil if it lacks nothing.
func (s Scheduler) Lacks(p *workload.Pool) error { return option.Lacks(s.options, p) }

// Lacks requires machines with reduce slots, and tasks with separate times for copying and computing.
func (o CopyCompute) Lacks(p *workload.Pool) error {
	if p.Stages != nil {
		return nil
	}
	return errors.New("the log does not say which slots are for reduces, or how long a reduce copies before it computes; simulate the log's jobs on a cluster that has both (straggler simulate, with a workload file whose jobs are 'store: DIR'), or choose fifo or fair")
}

// Lacks requires locations of inputs, racks if a job waits for one, and sizes if slowly reading jobs do not wait. Waits of 0
// require nothing.
func (o Delay) Lacks(p *workload.Pool) error {
	switch {
	case o.T1+o.T2 == 0 || p.Stages != nil:
		return nil
	case p.Inputs == nil:
		return errors.New("the log says of no task that it ran where its data was, so no job would wait for a slot near its data; choose fifo or fair, or simulate the log's jobs with new locations of blocks (straggler simulate, with a workload file whose jobs are 'store: DIR' with a block size)")
	case o.T2 > 0 && !p.RacksKnown:
		return errors.New("the log does not say which machines share a rack, so no job can wait for a rack that has its data (t2); give t2=0, or simulate the log's jobs on a cluster with racks (straggler simulate, with a workload file whose jobs are 'store: DIR')")
	case o.Bias > 0 && !slices.ContainsFunc(p.Tasks, func(t workload.Task) bool { return t.Bytes > 0 }):
		return errors.New("the log does not say how much any task read, so which jobs read slowly (bias) is unknown; give bias=0")
	}
	return nil
}

// Lacks requires pools with minimum shares if others are killed for them.
func (o Fair) Lacks(p *workload.Pool) error {
	if o.Tmin > 0 && !slices.ContainsFunc(p.Queues, func(q workload.Queue) bool { return slices.Max(q.Min[:]) > 0 }) {
		return errors.New("the log does not say that any pool has a minimum share, so none can lack it (tmin); give tmin=0 and tfair, or simulate the log's jobs with pools that have one (straggler simulate, with a workload file whose jobs are 'store: DIR')")
	}
	return nil
}

func (o fairDelay) Lacks(p *workload.Pool) error {
	return errors.Join(o.Delay.Lacks(p), o.Fair.Lacks(p))
}
func (o fairSplit) Lacks(p *workload.Pool) error {
	return errors.Join(o.CopyCompute.Lacks(p), o.Fair.Lacks(p))
}
func (o fairAll) Lacks(p *workload.Pool) error {
	return errors.Join(o.CopyCompute.Lacks(p), o.Delay.Lacks(p), o.Fair.Lacks(p))
}

// Lacks requires data that can be moved, and racks if a price between racks was given.
func (o Quincy) Lacks(p *workload.Pool) error {
	switch {
	case p.Stages != nil:
		return nil
	case p.Inputs == nil:
		return errors.New("the log says of no task that it ran where its data was, so there is no data moved to weigh against waiting; choose fair, or simulate the log's jobs with new locations of blocks (straggler simulate, with a workload file whose jobs are 'store: DIR' with a block size)")
	case o.Core != quincyDefaults.Core && !p.RacksKnown:
		return errors.New("the log does not say which machines share a rack, so nothing has the price between racks (core); leave core out, or simulate the log's jobs on a cluster with racks (straggler simulate, with a workload file whose jobs are 'store: DIR')")
	}
	return nil
}

// Lacks requires links between racks.
func (o spread) Lacks(p *workload.Pool) error {
	if p.Stages != nil && p.Stages.Network != nil {
		return nil
	}
	return errors.New("the log does not say how fast the links between racks are, or in which rack outputs lie; simulate the log's jobs on a cluster with a network (straggler simulate, with a workload file whose jobs are 'store: DIR'), or choose fifo")
}
