package schedule

import (
	"straggler/whatif/workload"
)

// CopyCompute is copy-compute splitting (FAIR §5.2): a machine takes several times as many reduces as it has slots for them, but
// only as many as it has slots may compute at once, and a job may copy with no more than that on a machine. Package replay
// enforces these limits; here is the multiple.
type CopyCompute struct {
	Times int `option:"reducers" least:"1" most:"1000" doc:"reduces that a machine takes, in multiples of its reduce slots (maxReducers over maxComputing)"`
}

// copyComputeDefaults are the example of FAIR §5.2: six reducers on a machine of two slots.
var copyComputeDefaults = CopyCompute{Times: 3}

// pool returns the pool with the machines as the scheduler uses them.
func (o CopyCompute) pool(p *workload.Pool) *workload.Pool { return p.Split(max(o.Times, 1)) }
