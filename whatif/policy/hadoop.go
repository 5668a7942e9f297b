package policy

import (
	"cmp"
	"slices"

	"straggler/whatif/replay"
)

// Hadoop is the native speculation of Hadoop 0.20.
//
// Rules (LATE §2.1; JobInProgress.findSpeculativeTask and TaskInProgress.hasSpeculativeTask of Hadoop 0.20): when a machine asks
// for work and no task of the phase waits, tasks whose progress score is more than 0.2 below the average of their category are
// stragglers; all stragglers are equal. The score of a task is the best of its attempts'. A task has at most one copy at a time,
// and a machine gets at most one copy per heartbeat. Because the average never exceeds 1, a task past 0.8 is never copied.
//
// According to LATE a straggler 'has run for at least one minute'. In the code of all versions from 0.14 to 0.20 the minute
// counts from TaskInProgress.init, that is, from the start of the job, so that after the first minute a task may be copied as
// soon as it has been launched. In version 0.21 it counts from the launch.
//
// A machine with s slots of S in the cluster runs at most ⌈s · n/S⌉ tasks at once if n of their kind are unfinished, so that the
// last tasks are spread over the machines. A machine that runs as many gets no copy although it has a free slot
// (JobTracker.getNewTaskForTaskTracker in 0.17 and 0.18, JobQueueTaskScheduler.assignTasks since 0.19). Reduces that the job does
// not yet schedule are not counted since 0.20 (JobInProgress.scheduleReduces).
//
// Hadoop breaks ties by locality. Logs do not have the location of a running task's data, so here ties are broken by the order of
// tasks. Machines ask for work every Heartbeat, which is at least 3 s in 0.20 (MRConstants.HEARTBEAT_INTERVAL_MIN). Only since
// 0.21 do they also ask as soon as an attempt has ended.
type Hadoop struct {
	Gap       float64 `option:"gap" most:"1" doc:"how far below the average progress a straggler is"`
	Lag       float64 `option:"lag" unit:"s" doc:"how long a job runs before it has copies"`
	Heartbeat float64 `option:"heartbeat" least:"1e-6" unit:"s" doc:"how often machines ask for work"`
	Spread    bool    `option:"spread" doc:"a machine runs at most its share of the unfinished tasks"`
}

var hadoopDefaults = Hadoop{Gap: 0.2, Lag: 60, Heartbeat: 3, Spread: true}

type hadoop struct {
	Hadoop
	found    []straggling
	machines []int32
}

func (h *hadoop) Look(v *replay.View, do *replay.Actions) replay.Again {
	running := v.Running()
	ready := v.JobReleased() + replay.Seconds(h.Lag)
	switch {
	case v.Waiting() > 0 || len(running) == 0:
		return replay.Again{End: true, Launched: true}
	case ready > v.Now():
		return replay.Again{At: ready}
	case v.Free() == 0:
		return v.In(replay.Seconds(h.Heartbeat))
	}
	threshold := HadoopThreshold(averageProgress(v), h.Gap)
	h.found = h.found[:0]
	for i := range running {
		if a := &running[i]; v.CopiesOf(a) == 1 && v.Progress(a) < threshold {
			h.found = append(h.found, straggling{a.Task, a.Machine})
		}
	}
	if len(h.found) > 0 {
		h.assign(v, do)
	}
	return v.In(replay.Seconds(h.Heartbeat))
}

// straggling is a task that may be copied and the machine that it runs on.
type straggling struct{ task, machine int32 }

// assign gives each machine that takes another task the first straggler that does not run there.
func (h *hadoop) assign(v *replay.View, do *replay.Actions) {
	slices.SortFunc(h.found, func(a, b straggling) int { return cmp.Compare(a.task, b.task) })
	h.machines = h.taking(v, v.FreeMachines(h.machines[:0]))
	left := h.found
	for _, m := range h.machines {
		if n := slices.IndexFunc(left, func(x straggling) bool { return x.machine != m || v.Machines() == 1 }); n >= 0 {
			do.CopyOn(left[n].task, m)
			copy(left[1:n+1], left[:n])
			left = left[1:]
		}
	}
}

// taking returns those of some machines with a free slot that run fewer tasks than their share.
func (h *hadoop) taking(v *replay.View, machines []int32) []int32 {
	if !h.Spread {
		return machines
	}
	capacity := 0
	for m := range int32(v.Machines()) {
		slots, _ := v.Load(m)
		capacity += slots
	}
	unfinished := v.Unfinished()
	if unfinished >= capacity {
		return machines
	}
	return slices.DeleteFunc(machines, func(m int32) bool {
		slots, used := v.Load(m)
		return used >= (slots*unfinished+capacity-1)/capacity
	})
}

// averageProgress returns the average progress of the tasks of a phase, each with the best score of its attempts.
func averageProgress(v *replay.View) float64 {
	running := v.Running()
	sum := float64(v.Succeeded())
	for i := range running {
		a := &running[i]
		best := v.Progress(a)
		if v.CopiesOf(a) > 1 {
			first := true
			for b := range v.Attempts(a.Task) {
				if first && b != a { // the task is counted with its last attempt
					best = 0
					break
				}
				first, best = false, max(best, v.Progress(b))
			}
		}
		sum += best
	}
	return sum / float64(v.Tasks())
}

// Abstains: no score is under an average of itself alone.
func (h *hadoop) Abstains(float64) bool { return true }

// HadoopThreshold returns the score below which a task is a straggler, given the average score of its category.
func HadoopThreshold(average, gap float64) float64 { return average - gap }
