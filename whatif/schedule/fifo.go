package schedule

import (
	"straggler/whatif/replay"
	"straggler/whatif/workload"
)

// FIFO gives every slot to the job that was submitted first of those that have a task for it (FAIR §2.1).
type FIFO struct{}

type fifo struct{}

func (*fifo) see(*replay.Cluster, []replay.Change) {}

func (*fifo) first(c *replay.Cluster, class workload.Class) int32 {
	for _, j := range c.Jobs() {
		if c.Wants(j, class) > 0 {
			return j
		}
	}
	return -1
}

func (*fifo) jobs(c *replay.Cluster, class workload.Class, to []int32) []int32 {
	for _, j := range c.Jobs() {
		if c.Wants(j, class) > 0 {
			to = append(to, j)
		}
	}
	return to
}

func (*fifo) kill(*replay.Cluster) replay.Time { return 0 }
