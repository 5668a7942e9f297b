package schedule

import (
	"straggler/whatif/workload"
)

// CopyCompute is copy-compute splitting (FAIR §5.2): a machine takes several times as many reduces as it has slots for
// them, and lets only as many compute at once as it has slots; a job may copy with no more than that on a machine. What
// is admitted is the machine's business and lies in replay; here is how many times.
type CopyCompute struct {
	Times int `option:"reducers" least:"1" most:"1000" doc:"reduces that a machine takes, in multiples of its reduce slots (maxReducers over maxComputing)"`
}

// copyComputeDefaults are the example of FAIR §5.2: six reducers on a machine of two slots.
var copyComputeDefaults = CopyCompute{Times: 3}

// pool returns what the scheduler makes of the machines.
func (o CopyCompute) pool(p *workload.Pool) *workload.Pool { return p.Split(max(o.Times, 1)) }
