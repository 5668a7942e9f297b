package schedule

import "straggler/whatif/replay"

// FIFO gives every slot to the job that was submitted first of those that have a task for it (FAIR §2.1).
type FIFO struct{}

type fifo struct{}

func (*fifo) see(*replay.Cluster, []replay.Change) {}

func (*fifo) jobs(c *replay.Cluster, _ replay.Class, to []int32) []int32 {
	return append(to, c.Jobs()...)
}

func (*fifo) kill(*replay.Cluster) replay.Time { return 0 }
